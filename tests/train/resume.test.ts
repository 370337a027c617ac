/**
 * Resume to the bit: runs that are killed again and again end where a run that is not killed ends.
 */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";

const folder = mkdtempSync(join(tmpdir(), "kiln-resume-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const script = join(folder, "child.mjs");
await build({
  entryPoints: ["tests/train/run-child.ts"],
  outfile: script,
  bundle: true,
  platform: "node",
  format: "esm",
  conditions: ["@kiln-ml/source"],
  external: ["webgpu"],
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
  logLevel: "error",
});

type Ended = SpawnSyncReturns<string>;

function child(name: string, target: string, dieAt = 0, delayMs = 0): Ended {
  const args = [script, join(folder, name), target, String(dieAt), String(delayMs)];
  return spawnSync(process.execPath, args, { encoding: "utf8" });
}

/** Where the kills fall: ten steps of the 24, each after the one before. */
function killsOf(random: () => number): number[] {
  const places = Array.from({ length: 22 }, (_, i) => ({ step: i + 1, order: random() }));
  const drawn = places.sort((a, b) => a.order - b.order).slice(0, 10);
  return drawn.map(({ step }) => step).sort((a, b) => a - b);
}

/** Park and Miller's generator: the same places at every run of the test. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

for (const [target, seed] of [
  ["js", 11],
  ["wasm", 23],
] as const)
  test(`${target}: a run that is killed at random steps ends with the bits of one that is not`, () => {
    const whole = child(`${target}-whole`, target);
    assert.is(whole.status, 0, whole.stderr);
    const random = generator(seed);
    let killed = 0;
    for (const step of killsOf(random)) {
      const { signal, stderr } = child(`${target}-cut`, target, step, random() < 0.5 ? 0 : 1);
      assert.is(stderr, "");
      if (signal === "SIGKILL") killed++;
    }
    const last = child(`${target}-cut`, target);
    assert.is(last.status, 0, last.stderr);
    assert.is(last.stdout, whole.stdout);
    assert.is(killed, 10);
  });

test.run();
