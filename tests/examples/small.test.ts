/**
 * The examples of one file, and the model that is compiled ahead of time.
 */
import { readdirSync, readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { inFolder, runScript } from "./script.ts";

test("linear regression finds the line", async () => {
  const { code, out } = await runScript("examples/linear-regression.ts");
  assert.is(out, "y = 2.000·x + 1.000\n");
  assert.is(code, 0);
});

test("XOR is learnt by layers in the habit of Keras", async () => {
  const { code, out } = await runScript("examples/xor-keras.ts");
  const rounded = out.replace(/= ([\d.]+)/g, (_, p) => `= ${Math.round(Number(p))}`);
  assert.is(rounded, "0 xor 0 = 0\n0 xor 1 = 1\n1 xor 0 = 1\n1 xor 1 = 0\n");
  assert.is(code, 0);
});

test("characters are learnt, and drawn one at a time from a cache", async () => {
  const { code, out } = await runScript("examples/characters.ts");
  assert.is(code, 0);
  const lines = out.trimEnd().split("\n");
  const losses = lines.slice(0, -1).map((line) => Number(/loss ([\d.]+)$/.exec(line)?.[1]));
  assert.is(losses.length, 3);
  assert.ok(losses[2]! < losses[0]!, out);
  const said = lines.at(-1)!;
  assert.match(said, /^how much [a-z? ]{61}$/);
});

test("a model compiled ahead of time runs in a process without the compiler", () =>
  inFolder(async (folder) => {
    const path = `${folder}/sentence.kiln`;
    const model = "examples/precompile/model.ts";
    const args = ["compile", model, "-o", path, "--no-check"];
    const compiled = await runScript("packages/kiln/src/cli.ts", args);
    assert.is(compiled.code, 0, compiled.err);
    const { code, out } = await runScript("examples/precompile/run.ts", [path]);
    assert.is(code, 0);
    const lines = [...out.matchAll(/^(\d) words: ([\d.]+) ([\d.]+) ([\d.]+)$/gm)];
    assert.equal(
      lines.map(([, words]) => words),
      ["3", "6"],
    );
    for (const [, , ...chances] of lines)
      assert.ok(Math.abs(chances.reduce((sum, p) => sum + Number(p), 0) - 1) < 0.002);
  }));

test("README.md lists every example", () => {
  const text = readFileSync("examples/README.md", "utf8");
  const missing = readdirSync("examples").filter((name) => !text.includes(`(${name}`));
  assert.equal(missing, ["README.md"]);
});

test.run();
