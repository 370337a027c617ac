// Makes the pictures of the documents, with the browser that the tests unpack.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpackChromium } from "./chromium.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const relaxed =
  Number(process.versions.node.split(".")[0]) < 22 ? ["--experimental-wasm-relaxed-simd"] : [];
const scripts = ["packages/tools/src/inspector-picture.ts", "tests/site/pictures.ts"];
const env = { ...process.env, ...unpackChromium(root) };
const wanted = process.argv.slice(2);
for (const script of wanted.length ? wanted : scripts) {
  const node = ["--conditions=@kiln-ml/source", ...relaxed, "--import", "tsx", script];
  const { status } = spawnSync(process.execPath, node, { cwd: root, stdio: "inherit", env });
  if (status !== 0) process.exit(status ?? 1);
}
