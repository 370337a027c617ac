/**
 * Every example in a quick form, and what it says on one target held against what it says on js, its numbers within a
 * tolerance. The files of tests beside this one divide the examples and targets between them.
 */
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ExampleTarget, inFolder, type Outcome, runScript } from "./script.ts";

interface Quick {
  /** Runs it with `folder` to write into, and returns what is compared. */
  readonly run: (target: ExampleTarget, folder: string) => Promise<string>;
  /** How far a number may be from that on js, as a part of it where it is greater than 1. */
  readonly tolerance: number;
}

function said({ code, out, err }: Outcome): string {
  assert.is(code, 0, err + out);
  return out;
}

const on = async (target: ExampleTarget, script: string, ...args: string[]): Promise<string> =>
  said(await runScript(`examples/${script}`, args, undefined, target));

/** Lines of mnist's training that are of learning, not of time. */
const learnt = (out: string): string =>
  out.replace(/^(target |wrote |epoch .* left$).*\n/gm, "").replace(/ {2}\d+ images\/s/g, "");

const once = ["--epochs", "1", "--samples"];

export const examples = {
  // Its layer is drawn from no seed: what it ends at is the line.
  "linear-regression.ts": {
    run: (target) => on(target, "linear-regression.ts"),
    tolerance: 0,
  },
  "xor-keras.ts": { run: (target) => on(target, "xor-keras.ts"), tolerance: 2e-3 },
  // Losses are printed with two digits; draws from near chances are the same letters.
  "characters.ts": { run: (target) => on(target, "characters.ts", "3", "16"), tolerance: 1e-2 },
  digits: {
    run: async (target, folder) => {
      const out = await on(target, "digits/fit.ts", ...once, "100", "--out", folder);
      const events = readFileSync(`${folder}/log.jsonl`, "utf8").trim().split("\n");
      const epoch = events.map((line) => JSON.parse(line)).find((e) => e.event === "epoch");
      return `${out}loss ${epoch.logs.loss}`;
    },
    tolerance: 1e-3,
  },
  mnist: {
    run: async (target, folder) => {
      const quick = [...once, "300", "--runs", "1", "--least", "0"];
      const args = [...quick, "--target", target, "--out", folder];
      const trained = await on(target, "mnist/train.ts", ...args);
      const deployed = await on(target, "mnist/deploy.ts", ...args);
      const differ = target === "webgpu" ? "differ by more than 1e-4" : "differ in any bit";
      assert.ok(deployed.includes(` 0 of 30×10 scores ${differ}\n`), deployed);
      const further = /more steps, loss ([\d. ]+), 0 (.*)\n/.exec(deployed);
      assert.is(further?.[2], differ, deployed);
      // The comparison has its own programs; on the software adapter its time would be the test's.
      if (target === "wasm") await on(target, "mnist/fusion.ts", ...args);
      return learnt(trained) + further![1];
    },
    tolerance: 1e-3,
  },
  precompile: {
    run: async (target, folder) => {
      const out = `${folder}/sentence.kiln`;
      const args = ["compile", "examples/precompile/model.ts", "-o", out, "--no-check"];
      said(await runScript("packages/kiln/src/cli.ts", [...args, "--target", target]));
      return said(await runScript("examples/precompile/run.ts", [out]));
    },
    tolerance: 1e-3,
  },
} as const satisfies Record<string, Quick>;

const number = /-?\d+(\.\d+)?(e[-+]\d+)?/g;

/** Fails unless both say the same with numbers left out, and the numbers are near. */
export function assertNear(actual: string, expected: string, tolerance: number): void {
  assert.is(actual.replace(number, "#"), expected.replace(number, "#"));
  const [a, b] = [actual, expected].map((text) => (text.match(number) ?? []).map(Number));
  for (const [i, x] of a!.entries())
    if (Math.abs(x - b![i]!) > tolerance * Math.max(1, Math.abs(b![i]!)))
      assert.is(actual, expected);
}

/** Tests that an example says on each target what it says on js. */
export function sameOn(
  name: keyof typeof examples,
  targets: readonly Exclude<ExampleTarget, "js">[],
): void {
  const { run, tolerance } = examples[name];
  let onJs: Promise<string>;
  test(`${name} runs on js`, async () => {
    onJs = inFolder((folder) => run("js", folder));
    await onJs;
  });
  for (const target of targets)
    test(`${name} says on ${target} what it says on js`, async () =>
      assertNear(await inFolder((folder) => run(target, folder)), await onJs, tolerance));
}
