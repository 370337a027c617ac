/**
 * Test files share a process: what one leaves changed is put back before the next begins.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as nn from "@kiln-ml/nn";
import type { Device } from "@kiln-ml/runtime";
import { defaultTarget, sessionFor, setDefaultTarget, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { settings } from "../../packages/kiln/src/devices/settings.ts";
import { asFound } from "./as-found.ts";

/** Not bundled: it looks for the worker beside itself. */
const pool = (): Promise<typeof import("../../packages/tools/test-pool.mjs")> =>
  import(pathToFileURL(join(process.cwd(), "packages/tools/test-pool.mjs")).href);

const never = new Promise<never>(() => {});
const byHand = (target: Device["target"]) => ({ target, lost: never }) as unknown as Device;

test("settings, devices, variables, draws and functions of the platform are put back", async () => {
  const draw = () => new nn.Linear(1, 1).weight.data();
  nn.seed(0);
  const first = await draw();
  const { device } = await sessionFor("wasm");
  const [before, log, directory] = [defaultTarget(), console.log, process.cwd()];
  const restore = asFound();

  setDefaultTarget("js");
  settings.fusion = false;
  for (const target of ["wasm", "webgpu"] as const) useDevice(byHand(target));
  process.env.KILN_LEFT_BEHIND = "1";
  console.log = () => {};
  process.chdir("..");
  await restore();

  assert.equal([defaultTarget(), settings.fusion, process.cwd()], [before, undefined, directory]);
  assert.ok((await sessionFor("wasm")).device === device && console.log === log);
  assert.not(settings.used?.has("webgpu"));
  assert.not("KILN_LEFT_BEHIND" in process.env);
  assert.equal(await draw(), first);
});

test("the worker does so after each file", async () => {
  const out = mkdtempSync(join(tmpdir(), "kiln-worker-"));
  const write = (name: string, text: string): string => {
    const path = join(out, name);
    writeFileSync(path, text);
    return pathToFileURL(path).href;
  };
  const uvu = JSON.stringify(import.meta.resolve("uvu"));
  // Each file fails if it finds what the other left.
  const file = `import { test } from ${uvu};
test("clean", () => { if (globalThis.left++) throw new Error("left behind"); });
test.run();`;
  const setup = write(
    "setup.mjs",
    "export const restore = () => { globalThis.left = 0; }; restore();",
  );
  const files = ["a", "b"].map((name) => ({ name, url: write(`${name}.mjs`, file) }));
  const { runPool } = await pool();
  try {
    const { passed, failed } = await runPool(files, {
      setup,
      out,
      count: 1,
      execArgv: [],
      env: process.env,
    });
    assert.equal([passed, failed], [2, 0]);
  } finally {
    rmSync(out, { recursive: true });
  }
});

test.run();
