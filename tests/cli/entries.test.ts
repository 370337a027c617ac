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
  assert.equal([...model.entries], ["prefill", "decode", "greedy", "sample"]);
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
  ];
  assert.equal(lines, [
    "kiln compile: --target says js twice: js,js\n",
    "kiln compile: auto is no target beside others: js,auto\n",
    "kiln compile: --capacity is for language models, and counter.ts is none\n",
    "kiln compile: --cache must be one of f32, f16, int8, got f8\n",
  ]);
});

test("an entry is run by its name, and one that is alone without", () => {
  const ran = project.kiln("run", "counter", "--entry", "add", "--target", "js");
  assert.is(ran.err, "");
  assert.match(
    ran.out,
    /^counter\.add on js, made-up inputs:\n {2}result: f32\[\], from \S+ to \S+\n$/,
  );
  assert.match(project.kiln("run", "scale.kiln", "--dims", "N=4").out, /^scale\.scale on wasm, /);
  const named = project.kiln("run", "scale.kiln", "--entry", "scale", "--json");
  assert.is(JSON.parse(named.out).name, "scale.scale");
  assert.equal(
    [
      project.kiln("run", "counter").err,
      project.kiln("run", "counter", "--entry", "sub").err,
      project.kiln("run", "counter.ts", "--entry", "add").err,
      project.kiln("bench", "counter", "--entry", "sub").err,
    ],
    [
      "GraphError: openModel: counter has several entries: add, total\n  name one as entry, or run all with loadEntries of kiln-ml/entries\n",
      'GraphError: openModel: counter has no entry "sub"\n  its entries are add, total\n',
      "kiln run: --entry is for artifacts, and counter.ts is a script\n",
      'GraphError: openModel: counter has no entry "sub"\n  its entries are add, total\n',
    ],
  );
});

test("entries are listed, or shown one by one", () => {
  const all = project.kiln("inspect", "counter");
  assert.is(all.err, "");
  assert.match(
    all.out,
    /^== counter for js, wasm: 2 entries over 2 states, 8 B of weights, 8 B of zeros\nentry +steps +kernels +inputs\nadd +\d +\d +arg0: f32\[2\]\ntotal +\d +\d\n/,
  );
  const one = project.kiln("inspect", "counter", "--entry", "add", "--target", "wasm");
  assert.match(one.out, /^== add for wasm, 1 weights of 8 B\n/);
  assert.is(JSON.parse(project.kiln("inspect", "scale.kiln", "--json").out).target, "wasm");
  assert.equal(
    [
      project.kiln("inspect", "counter", "--json").err,
      project.kiln("inspect", "counter", "--entry", "sub").err,
      project.kiln("inspect", "counter", "--entry", "add", "--target", "webgpu").err,
      project.kiln("inspect", "counter.ts", "--entry", "add").err,
    ],
    [
      "kiln inspect: counter has several entries, --json is of one\n  name it: --entry add\n",
      "kiln inspect: counter has no entry sub\n  its entries are add, total\n",
      "kiln inspect: counter is compiled for js, wasm, not for webgpu\n",
      "kiln inspect: --entry is for artifacts, and counter.ts is none\n",
    ],
  );
});

test("a compiled language model goes on with a text as the model does", () => {
  const told = (...args: string[]) => project.kiln("generate", ...args, "--max-tokens", "6");
  const plain = told("small", "--target", "js", "--prompt", "ab");
  const compiled = told("told", "--prompt", "ab");
  assert.is(compiled.err, "");
  assert.is(compiled.out, plain.out);
  // The likeliest token is among the K likeliest.
  assert.is(told("told", "--prompt", "ab", "--top-k", "2").out, plain.out);
  project.kiln("compile", "small", "--target", "js", "-o", "packed.kiln");
  const drawn = ["--prompt", "ab", "--temperature", "1.5", "--repetition-penalty", "1.1"];
  assert.is(told("told", ...drawn, "--seed", "7").out, told("told", ...drawn, "--seed", "7").out);
  assert.equal(
    [
      told("told", "--prompt", "ab", "--top-k", "2", "--temperature", "1").err.split("\n")[0],
      told("told", "--prompt", "ab", "--repetition-penalty", "2").err.split("\n")[0],
      told("told", "--prompt", "ab", "--quantize", "int8").err.split("\n")[0],
      told("counter", "--prompt", "ab").err.split("\n")[0],
      told("packed.kiln", "--prompt", "ab").err.split("\n")[0],
      project.kiln("chat", "told").err.split("\n")[0],
    ],
    [
      "LanguageModelError: generate: topK is a constant of a program, and a compiled model has none for it",
      "LanguageModelError: generate: a compiled model weighs repetitions where it draws alone",
      "kiln generate: --quantize cannot be had for told, which is compiled already",
      "kiln generate: counter is an artifact without a tokenizer",
      "kiln generate: packed.kiln is an artifact without a tokenizer",
      "kiln chat: told has no chat template: it was not made to converse",
    ],
  );
});

test.run();
