/**
 * The runner of the examples: what it counts as a failure, that it knows every example, and that it
 * runs one.
 */
import { readdirSync, readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Example, examples } from "../../packages/tools/src/examples/list.ts";
import { missed, runExample } from "../../packages/tools/src/examples/run.ts";
import { runScript } from "./script.ts";

const script = "packages/tools/src/examples.ts";
const made = (path: string): Example => ({
  name: "made",
  script: path,
  shows: "",
  number: /accuracy ([\d.]+)/,
  reaches: { quick: [">=", 0.8], full: ["<=", 0.9] },
});

test("a result is held against its bound", () => {
  const example = made("");
  assert.is(missed(example, "accuracy 0.8", "quick"), undefined);
  assert.is(missed(example, "accuracy 0.79", "quick"), "0.79 is not >= 0.8: accuracy 0.79");
  assert.is(missed(example, "accuracy 0.91", "full"), "0.91 is not <= 0.9: accuracy 0.91");
  assert.is(
    missed(example, "done", "quick"),
    "no line has /accuracy ([\\d.]+)/, the last is: done",
  );
  assert.is(
    missed(example, "accuracy NaN", "quick"),
    "no line has /accuracy ([\\d.]+)/, the last is: accuracy NaN",
  );
});

test("an example that throws fails with its last line", async () => {
  const { failure } = await runExample(made("examples/none.ts"), { mode: "quick" });
  assert.match(failure ?? "", /^exit code 1: /);
});

test("a quick run says a line an example, and how many passed", async () => {
  const { code, out } = await runScript(script, ["--quick", "--only", "^(gcn|xor-keras)$"]);
  assert.is(code, 0, out);
  const lines = out.trimEnd().split("\n");
  assert.match(lines.slice(0, 2).sort()[0]!, /^ok {6}gcn +[\d.]+ s {2}test accuracy [\d.]+$/);
  assert.match(lines[2]!, /^2 passed, 0 failed, \d+ s$/);
});

test("of several targets each example runs on all, and the end is a table", async () => {
  const args = ["--slice", "--target", "js,wasm", "--only", "^(xor-keras|notebook)$"];
  const { code, out } = await runScript(script, args);
  assert.is(code, 0, out);
  const [head, xor, notebook, end] = out.trimEnd().split("\n").slice(-4);
  assert.is(head, `${" ".repeat(20)}       js     wasm`);
  assert.match(xor!, /^xor-keras +[\d.]+ s +[\d.]+ s$/);
  assert.match(notebook!, /^notebook +[\d.]+ s +[\d.]+ s$/);
  assert.match(end!, /^4 passed, 0 failed, \d+ s$/);
});

test("a target that there is not is an error that names those that there are", async () => {
  const { code, err } = await runScript(script, ["--quick", "--target", "cuda"]);
  assert.is(code, 1);
  const known = "auto, js, wasm, webgpu";
  assert.is(err, `examples: there is no target cuda\n  it is one of ${known}\n`);
});

test("no example holds to a target: all of them run where the runner says", () => {
  for (const path of new Set(examples.map((e) => e.script))) {
    const named = /\btarget: "(js|wasm|webgpu)"/.exec(readFileSync(path, "utf8"));
    assert.is(named, null, path);
  }
});

for (const target of ["js", "webgpu"])
  test(`an example that chooses a target itself runs on ${target} if it is told to`, async () => {
    const args = ["--slice", "--target", target, "--only", "^server$"];
    const { code, out } = await runScript(script, args);
    assert.is(code, 0, out);
    assert.match(out, /^ok {6}server +[\d.]+ s {2}\d+ of 100 answers are right/);
  });

test("a name that no example has is an error that says so", async () => {
  const { code, err } = await runScript(script, ["--only", "resnet500"]);
  assert.is(code, 1);
  assert.is(err, "examples: none is called like resnet500\n  --list names them\n");
});

/** Files of examples that are parts of others, or are run by tests of their own. */
const parts = /^(data|pictures|molecules\/smiles|page\/main|mnist\/.*|precompile\/.*)\.ts$/;

test("the runner knows every example, and its script is there", () => {
  const scripts = readdirSync("examples", { recursive: true })
    .map((path) => String(path).replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !parts.test(path))
    .map((path) => `examples/${path}`);
  const known = new Set(examples.map((e) => e.script));
  assert.equal(
    scripts.filter((path) => !known.has(path)),
    [],
  );
  for (const path of known) assert.ok(readFileSync(path, "utf8").startsWith("/**"), path);
  const names = examples.map((e) => e.name);
  assert.equal(names, [...new Set(names)]);
});

test.run();
