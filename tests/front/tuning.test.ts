/** Tuning: a function's choices timed on a device, tables and their files, and what is compiled with them. Asserts no time. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Dtype, input, iota } from "@kiln-ml/ir";
import { createCpuDevice, createWasmDevice, openWebGpu } from "@kiln-ml/runtime";
import {
  compile,
  exportArtifact,
  type Tensor,
  type TensorLike,
  type TuningTable,
  useDevice,
} from "kiln-ml";
import { addTuning, readTuning } from "kiln-ml/node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Decision } from "../../compiler/src/choices.ts";
import { tuneChoice } from "../../packages/kiln/src/tune/choice.ts";
import { joinTunings, tuningAt } from "../../packages/kiln/src/tune/table.ts";
import { Device, type Driver, type Program } from "../../runtime/src/device.ts";
import { parseProgram } from "../support/reference.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { rejection } from "./net.ts";

const folder = resolve("node_modules/.cache/kiln-tuning", String(process.pid));
mkdirSync(folder, { recursive: true });
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const timing = { rounds: 1, warmUp: 0, lead: 0 };

/** What `work` warns of. */
async function warnings(work: () => Promise<unknown>): Promise<string[]> {
  const { warn } = console;
  const lines: string[] = [];
  console.warn = (line: string) => lines.push(line);
  try {
    await work();
  } finally {
    console.warn = warn;
  }
  return lines;
}

const entry = (adapter: string, choice = "b", compiler = "1"): TuningTable["entries"][number] => ({
  target: "webgpu",
  adapter,
  limits: "any",
  compiler,
  kernels: { k: { choice, ms: 1, standard: "a", standardMs: 2 } },
});

const tableOf = (...entries: TuningTable["entries"]): TuningTable => ({
  format: "kiln-tuning",
  entries,
});

gpuTest("a function is tuned, and compiled with what was found", async () => {
  useDevice(await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true }));
  const fn = (x: Tensor, y: Tensor) => x.matmul(y);
  const options = {
    target: "webgpu",
    inputs: [
      [3, 40],
      [40, 33],
    ],
  } as const;
  const filled = (...shape: [number, number]) => ({
    data: new Float32Array(shape[0] * shape[1]).fill(0.5),
    shape,
  });
  const args: [x: TensorLike, y: TensorLike] = [filled(3, 40), filled(40, 33)];
  const seen: string[] = [];
  const { kernels, table } = await compile(fn, options).tune(args, {
    rounds: 1,
    most: 2,
    warmUp: 0,
    observe: (kernel) => seen.push(kernel.key),
  });
  const [kernel] = kernels;
  assert.equal(seen, [kernel!.key]);
  assert.is(kernel!.standard, "few lines");
  assert.ok(kernel!.tried.every((t) => t.refused === undefined && t.ms! >= 0));
  assert.match(table.entries[0]!.adapter, /SwiftShader/);
  const choices = table.entries[0]!.kernels;
  assert.is(choices[kernel!.key]!.choice, kernel!.best);
  assert.equal((await compile(fn, options).tune(args, { known: table })).kernels, []);

  const sizes = async (tuning: TuningTable): Promise<number[]> => {
    const found: number[] = [];
    const observe = (
      _stage: string,
      state: { kernels?: readonly { kernel: { workgroupSize: number } }[] },
    ) => found.splice(0, 1, ...(state.kernels ?? []).map((k) => k.kernel.workgroupSize));
    const [y] = [await compile(fn, { ...options, tuning, observe })(...args)];
    assert.is((await y.data())[0], 10);
    return found;
  };
  const tile = kernel!.tried[1]!.option;
  const [, rows, columns, tall, broad] = /^(\d+)x(\d+) (\d+)x(\d+)/.exec(tile)!.map(Number);
  const [own] = table.entries;
  const forced = { [kernel!.key]: { ...choices[kernel!.key]!, choice: tile } };
  assert.equal(await sizes(tableOf({ ...own!, kernels: forced })), [
    (rows! / tall!) * (columns! / broad!),
  ]);

  const other = tableOf({ ...own!, adapter: "another card", kernels: forced });
  const [plain, lines] = [[0], [] as string[]];
  lines.push(...(await warnings(async () => plain.splice(0, 1, ...(await sizes(other))))));
  assert.equal(plain, await sizes(tableOf()));
  assert.is(lines.length, 1);
  assert.match(
    lines[0]!,
    /^compile: the tuning is left alone: it is for another card, and this is .*SwiftShader/,
  );
});

test("a function without choices has an empty table", async () => {
  const scale = compile((x: Tensor) => x.mul(2), { target: "js" });
  const { kernels, table } = await scale.tune([[1, 2]]);
  assert.equal(kernels, []);
  assert.equal(
    table.entries.map((e) => [e.target, e.adapter, e.kernels]),
    [["js", "cpu", {}]],
  );
});

test("an option whose results differ is left out, and so is one that cannot be loaded", async () => {
  const adds = (n: number) =>
    compileProgram(
      parseProgram(`graph f(%x: f32[5]) {
        %1: f32[] = constant {value=${n}}
        %2: f32[5] = broadcastInDim %1 {dims=[]}
        %3: f32[5] = add %x %2
        return %3
      }`),
      { target: "js" },
    ).artifact;
  const decision: Decision = {
    key: "k",
    of: "kernel",
    name: "add",
    options: ["one", "same", "two", "none"],
    chosen: "one",
    artifact: (option) => {
      if (option === "none") throw new Error("no such kernel\n  really");
      return adds(option === "two" ? 2 : 1);
    },
  };
  const tuned = await tuneChoice(createCpuDevice(), decision, {}, timing);
  const refused = tuned!.tried.map((t) => t.refused ?? "timed");
  assert.match(refused[2]!, /^its y0\[0\] is 2\.\d+, not 1\.\d+$/);
  assert.equal(refused.toSpliced(2, 1), ["timed", "timed", "no such kernel"]);
  assert.ok(["one", "same"].includes(tuned!.best));
  const failing = { ...decision, options: ["none", "one"] };
  assert.is(await tuneChoice(createCpuDevice(), failing, {}, timing), undefined);
});

/** A CPU device on which artifacts by the names in `works` seem to take so many milliseconds, at a clock that changes with work. */
function fakeDevice(works: Readonly<Record<string, number>>, clock: (busy: number) => number) {
  const { driver } = createCpuDevice();
  let busy = 0;
  const take = (name: string): number => {
    const ms = (works[name] ?? 0) / clock(busy);
    busy += ms;
    return ms;
  };
  const load: Driver["load"] = async (artifact, kernels): Promise<Program> => {
    const program = await driver.load(artifact, kernels);
    return {
      run: (frame) => {
        take(artifact.name);
        return program.run(frame);
      },
      profile: async (frame) =>
        (await program.profile(frame)).map((timing) => ({ ...timing, ms: take(artifact.name) })),
      destroy: () => program.destroy(),
    };
  };
  const get = (of: Driver, key: string | symbol): unknown => {
    const value: unknown = key === "load" ? load : Reflect.get(of, key, of);
    return typeof value === "function" ? value.bind(of) : value;
  };
  return new Device(new Proxy(driver, { get }));
}

test("the fastest is found on a device at rest, and on one whose clock falls meanwhile", async () => {
  const works = { a: 2.8, b: 2.9, c: 2.5, d: 14, e: 3.1 };
  const x = input("x", "f32", [4]);
  const program = { inputs: [x], outputs: [{ name: "y", value: x.add(1) }], updates: [] };
  const { artifact } = compileProgram(program, { target: "js" });
  const decision: Decision = {
    key: "k",
    of: "kernel",
    name: "add",
    options: Object.keys(works),
    chosen: "a",
    artifact: (name) => ({ ...artifact, name }),
  };
  const clocks: ((busy: number) => number)[] = [
    (busy) => (busy < 130 ? 0.2 : 1),
    (busy) => (busy < 250 ? 0.2 : 1),
    (busy) => (busy < 400 ? 1 : 0.6),
  ];
  for (const clock of clocks) {
    const device = fakeDevice(works, clock);
    const how = { rounds: 7, warmUp: 100, lead: 3 };
    const { best, settled, tried } = (await tuneChoice(device, decision, {}, how))!;
    assert.equal([best, settled], ["c", true]);
    const ratios = tried.map((t) => (t.ms! / tried[0]!.ms!) * works.a);
    for (const [i, work] of Object.values(works).entries())
      assert.ok(Math.abs(ratios[i]! - work) < 0.01, `${ratios}`);
  }
});

/** x + 1 of 300 elements. Of other options one element is wrong, or the last are left as they were. */
function faulty(target: "js" | "webgpu", dtype: Dtype): Decision {
  const at: Readonly<Record<string, number>> = { first: 0, middle: 157, last: 299 };
  const x = input("x", dtype, [300]);
  const artifactOf = (y: Tensor) =>
    compileProgram({ inputs: [x], outputs: [{ name: "y", value: y }], updates: [] }, { target })
      .artifact;
  const right = artifactOf(x.add(1));
  const shorter = { "i0 < 300": "i0 < 299", "lid <= 74": "lid <= 73" };
  const kernels = right.kernels.map((kernel) => {
    const [from, to] = Object.entries(shorter).find(([text]) => kernel.text.includes(text))!;
    return { ...kernel, text: kernel.text.replace(from, to) };
  });
  return {
    key: "k",
    of: "kernel",
    name: "add",
    options: ["right", ...Object.keys(at), "short", "same"],
    chosen: "right",
    artifact: (option) => {
      if (option === "right" || option === "same") return right;
      if (option === "short") return { ...right, kernels };
      return artifactOf(x.add(1).add(iota([300]).equal(at[option]!).convert(dtype)));
    },
  };
}

async function findsFaults(device: Device, dtype: Dtype): Promise<void> {
  const target = device.target as "js" | "webgpu";
  const tuned = await tuneChoice(device, faulty(target, dtype), {}, timing);
  const refused = tuned!.tried.map((t) => t.refused?.replace(/ is .*/, "") ?? "timed");
  const left = target === "js" ? 299 : 296;
  const wrong = [0, 157, 299, left].map((i) => `its y[${i}]`);
  assert.equal(refused, ["timed", ...wrong, "timed"], dtype);
  assert.is(device.memory().live, 0);
}

test("an option that is wrong in one element, or leaves some unwritten, is left out", async () => {
  for (const dtype of ["f32", "f64", "f16", "bf16", "i32", "u32"] as const)
    await findsFaults(createCpuDevice(), dtype);
});

test("a sum without its last product is found wrong", async () => {
  const [a, b] = [input("a", "f32", [64, 4096]), input("b", "f32", [4096, 64])];
  const [shorter, other] = [a.sliceAxis(1, 0, 4095), b.sliceAxis(0, 0, 4095)];
  const artifactOf = (y: Tensor) => {
    const program = { inputs: [a, b], outputs: [{ name: "y", value: y }], updates: [] };
    return compileProgram(program, { target: "wasm" }).artifact;
  };
  const decision: Decision = {
    key: "k",
    of: "node",
    name: "matmul",
    options: ["all", "without"],
    chosen: "all",
    artifact: (option) => artifactOf(option === "all" ? a.matmul(b) : shorter.matmul(other)),
  };
  const tuned = await tuneChoice(await createWasmDevice(), decision, {}, timing);
  assert.match(tuned!.tried[1]!.refused!, /^its y\[\d+\] is /);
});

gpuTest("so it is on a GPU", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  for (const dtype of ["f32", "f16", "i32"] as const) await findsFaults(device, dtype);
  device.destroy();
});

test("a table holds for its adapter, limits and compiler, and says why it does not", () => {
  const table = tableOf(entry("x"), entry("y", "c"));
  const place = { target: "webgpu", adapter: "y", limits: "any", compiler: "1" } as const;
  assert.equal(tuningAt(table, place), { tuning: { k: "c" } });
  const why = (wrong: object) => tuningAt(table, { ...place, ...wrong });
  assert.equal(why({ adapter: "z" }), { why: "it is for x; y, and this is z" });
  assert.equal(why({ limits: "few" }), { why: "it is for any, and this is few" });
  assert.equal(why({ compiler: "2" }), { why: "it is for 1, and this is 2" });
  assert.equal(tuningAt(tableOf(), place), {
    why: "it is for no adapter of this target, and this is webgpu",
  });
});

test("of two tables the second wins, and old compilers' entries go", () => {
  const all = joinTunings(tableOf(entry("x"), entry("y")), tableOf(entry("y", "c"), entry("z")));
  assert.equal(all, tableOf(entry("x"), entry("y", "c"), entry("z")));
  const newer = joinTunings(tableOf(entry("x")), tableOf(entry("x", "c", "2")));
  assert.equal(newer, tableOf(entry("x", "c", "2")));
});

test("tuners that write one file at a time keep each other's results", async () => {
  const path = join(folder, "deep", "tuning.json");
  const names = Array.from({ length: 6 }, (_, i) => `card ${i}`);
  await Promise.all(names.map((name) => addTuning(tableOf(entry(name)), path)));
  const { entries } = await readTuning(path);
  assert.equal(entries.map((e) => e.adapter).sort(), names);
  assert.equal(readdirSync(join(folder, "deep")), ["tuning.json"]);
});

test("a damaged file is refused in a line, and left alone", async () => {
  const path = join(folder, "damaged.json");
  const wrong: readonly [string, RegExp][] = [
    ["{", /damaged\.json: is no table of a tuner: format is not kiln-tuning\n {2}delete it/],
    [`{"format":"kiln-tuning"}`, /entries is no list/],
    [`{"format":"kiln-tuning","entries":[{}]}`, /entries\[0\] has no kernels/],
    [`{"format":"kiln-tuning","entries":[{"kernels":{}}]}`, /entries\[0\]\.target is no text/],
    ...["1e999", "-1", "null", '"1"'].map((ms): [string, RegExp] => [
      JSON.stringify(tableOf(entry("x"))).replace('"ms":1', `"ms":${ms}`),
      /kernel k: ms is (Infinity|-1|null|1), no time/,
    ]),
  ];
  for (const [text, message] of wrong) {
    writeFileSync(path, text);
    assert.match((await rejection(readTuning(path))).message, message);
    assert.match((await rejection(addTuning(tableOf(entry("x")), path))).message, message);
    assert.is(readFileSync(path, "utf8"), text);
  }
  assert.match((await rejection(readTuning(join(folder, "none")))).message, /none does not exist/);
});

test("a time that JSON cannot hold does not come into a file", async () => {
  const path = join(folder, "infinite.json");
  const kernels = { k: { choice: "a", ms: Infinity, standard: "a", standardMs: 1 } };
  const table = tableOf({ ...entry("x"), kernels });
  assert.match(
    (await rejection(addTuning(table, path))).message,
    /addTuning: the table: .*ms is Infinity, no time/,
  );
  assert.not.ok(existsSync(path));
});

test("an artifact takes choices that were found with the guaranteed limits", async () => {
  const fn = (x: Tensor, y: Tensor) => x.matmul(y);
  const how = {
    inputs: [
      [40, 24],
      [24, 40],
    ],
    target: "webgpu",
    weights: false,
  } as const;
  const key = "matmul f32 m=40 n=40 k=24 batch=1 a=k4 b=lines4 rows=a";
  const limits = "16384 bytes and 256 invocations of a workgroup";
  const { version } = JSON.parse(readFileSync("packages/kiln/package.json", "utf8"));
  const kernels = { [key]: { choice: "16x16 4x4 16", ms: 1, standard: "a", standardMs: 2 } };
  const one = { ...entry("card one", "", version), limits, kernels };
  const { kernels: texts } = await exportArtifact(fn, { ...how, tuning: tableOf(one) });
  assert.match(texts[0]!.text, "@workgroup_size(16)");
  const two = tableOf(one, { ...one, adapter: "card two" });
  const several = await rejection(exportArtifact(fn, { ...how, tuning: two }));
  assert.match(several.message, /^tuning: 2 adapters have entries for webgpu with .*card two\n/);
  await exportArtifact(fn, { ...how, tuning: two, adapter: "TWO" });
  const none = await rejection(exportArtifact(fn, { ...how, tuning: tableOf() }));
  assert.match(none.message, /^tuning: the table has nothing for webgpu with .*\n {2}kiln tune/);
});

test.run();
