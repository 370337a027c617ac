/**
 * `kiln compile` of several programs over shared parameters: they are there once, and the runtime
 * alone runs them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEntries, readEntries } from "@kiln-ml/artifact/node";
import { createCpuDevice } from "@kiln-ml/runtime";
import { loadEntries } from "@kiln-ml/runtime/entries";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { greedyTokens } from "../llm/entries-page.ts";
import { modelFiles } from "../llm/small-model.ts";
import { Project } from "./kiln.ts";

const project = new Project("entries");
const compile = (...args: string[]) => project.kiln("compile", "--no-check", ...args);

project.write(
  "counter.ts",
  `import { assign, param, type Tensor } from "kiln-ml";
const total = param([0, 0], { name: "total", trainable: false });
const by = param([1, 10], { name: "by" });
export const entries = {
  add: { fn: (x: Tensor) => { assign(total, total.add(x.mul(by))); return x.sum(); }, inputs: [[2]] },
  total: { fn: () => total.mul(1), inputs: [] },
};
`,
);

test("entries of a script are one artifact for several targets", async () => {
  const { out, err, code } = compile("counter.ts", "--target", "js,wasm", "-o", "counter");
  assert.is(err, "");
  assert.is(code, 0);
  assert.match(
    out,
    /^wrote counter: counter for js, wasm, 2 states, 8 B of weights\n {2}add \d steps, \d kernels\n {2}total \d steps, \d kernels\n$/,
  );
  const device = createCpuDevice();
  const model = await loadEntries(await openEntries(join(project.folder, "counter")), device);
  for (const x of [1, 2]) await model.run("add", [Float32Array.of(x, x)]);
  const [total] = await model.run("total", []);
  assert.equal([...(await total!.data())], [3, 30]);
});

test("one model for several targets is an entry, packed too", async () => {
  project.write(
    "scale.ts",
    `import type { Tensor } from "kiln-ml";
export const model = { name: "scale", fn: (x: Tensor) => x.mul(2), inputs: [["N"]] };
`,
  );
  const { out, err } = compile("scale.ts", "--target", "wasm,js", "-o", "scale.kiln", "--json");
  assert.is(err, "");
  const { targets, entries, weightBytes } = JSON.parse(out);
  assert.equal(
    [targets, entries.length, entries[0].name, weightBytes],
    [["wasm", "js"], 1, "scale", 0],
  );
  const all = await readEntries(join(project.folder, "scale.kiln"));
  assert.equal(
    all.entries.scale!.map((p) => p.target),
    ["wasm", "js"],
  );
});

test("a language model's folder is compiled to prefill, decode and greedy", async () => {
  const folder = join(project.folder, "small");
  mkdirSync(folder);
  for (const [name, text] of Object.entries(modelFiles)) writeFileSync(join(folder, name), text);
  const args = ["small", "-o", "told", "--target", "js", "--capacity", "16", "--cache", "f16"];
  const { out, err } = compile(...args);
  assert.is(err, "");
  assert.match(out, /^wrote told: small for js, \d+ states, [\d.]+ kB of weights\n {2}prefill /);
  const device = createCpuDevice();
  const model = await loadEntries(await openEntries(join(project.folder, "told")), device);
  assert.equal([...model.entries], ["prefill", "decode", "greedy"]);
  const cache = [...model.states].filter(([name]) => name.startsWith("cache."));
  assert.equal(
    cache.map(([, a]) => `${a}`),
    Array(2).fill("f16[1,16,2,4]"),
  );
  const text = await greedyTokens(model, [1, 3, 4], { count: 5, chunk: 8 });
  assert.is(text.length, 8);
});

test("options that mean nothing here are refused by name", () => {
  const refused = (...args: string[]): string => compile(...args, "-o", "x").err;
  const lines = [
    refused("counter.ts", "--target", "js,js"),
    refused("counter.ts", "--target", "js,auto"),
    refused("counter.ts", "--capacity", "8"),
    refused("small", "--cache", "f8"),
    project.kiln("run", "counter").err.replaceAll(project.folder, "…"),
  ];
  assert.equal(lines, [
    "kiln compile: --target says js twice: js,js\n",
    "kiln compile: auto is no target beside others: js,auto\n",
    "kiln compile: --capacity is for language models, and counter.ts is none\n",
    "kiln compile: --cache must be one of f32, f16, int8, got f8\n",
    "ArtifactError: readArtifact: …/counter has several entries\n  read it with readEntries, or load it with loadEntries of @kiln-ml/runtime/entries\n",
  ]);
});

test.run();
