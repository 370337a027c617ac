// The packed tarballs under bundlers, in the browser that the tests unpack: npm run check:packages.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpackChromium } from "./chromium.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const script = "tests/package/matrix/run.ts";
const node = ["--conditions=@kiln-ml/source", "--import", "tsx", script, ...process.argv.slice(2)];
// What is built keeps programs: not in the user's own cache.
const env = { ...process.env, KILN_CACHE: "off", ...unpackChromium(root) };
const { status } = spawnSync(process.execPath, node, { cwd: root, stdio: "inherit", env });
process.exit(status ?? 1);
