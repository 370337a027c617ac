/**
 * Products with weights of few bits in blocks: one kernel that reads words, of any extents, within
 * the error of a sum of the de-quantized weights in double precision, on js and on all variants of
 * wasm; no kernel stores floats of them.
 */
import {
  concat,
  dim,
  gather,
  input,
  makeValue,
  quantized,
  quantizedOf,
  random,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { unpackedIn } from "../../compiler/src/fuse/unpacked.ts";
import { nodesOf } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { agreesOnWasm } from "../support/targets.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";

const waves = (count: number, f: number): number[] =>
  Array.from({ length: count }, (_, i) => 2 * Math.sin(f * (i + 1)));
const words = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 0);

interface Case {
  readonly bits: 4 | 8;
  readonly rows: number;
  readonly outputs: number;
  readonly inputs: number;
  readonly block?: number;
  readonly offsets?: boolean;
}

function weightsOf({ bits, outputs, inputs, block = 32, offsets = false }: Case) {
  const blocks = Math.ceil(inputs / block);
  const parts = {
    words: input("w", "u32", [outputs, (blocks * block * bits) / 32]),
    scales: input("s", "f32", [outputs, blocks]),
    offsets: offsets ? input("o", "f32", [outputs, blocks]) : undefined,
  };
  const feeds = new Map<Tensor, Value>();
  const feed = (t: Tensor, values: number[]) =>
    feeds.set(t, makeValue(t.dtype, t.shape.map(Number), values));
  feed(parts.words, words(outputs * Number(parts.words.shape[1])));
  feed(parts.scales, waves(outputs * blocks, 0.31));
  if (parts.offsets) feed(parts.offsets, waves(outputs * blocks, 1.7));
  return { w: quantizedOf(parts, { bits, block }, inputs), feeds };
}

/** Σ w·x and Σ |w·x| in doubles, of weights that the reference de-quantizes. */
function inDoubles(w: Float64Array | ArrayLike<number>, x: readonly number[], c: Case) {
  return Array.from({ length: c.rows * c.outputs }, (_, i) => {
    const [r, o] = [Math.floor(i / c.outputs), i % c.outputs];
    let [sum, most] = [0, 0];
    for (let k = 0; k < c.inputs; k++) {
      const term = w[o * c.inputs + k]! * x[r * c.inputs + k]!;
      sum += term;
      most += Math.abs(term);
    }
    return { sum, most };
  });
}

const targets = [
  ["js", guardedCpuDevice(), "js"] as const,
  ...variants.map((v) => [nameOfVariant(v), wasmDevice(v), "wasm"] as const),
];

async function agrees(c: Case): Promise<void> {
  const { w, feeds } = weightsOf(c);
  const x = input("x", "f32", [c.rows, c.inputs]);
  const values = waves(c.rows * c.inputs, 0.7);
  feeds.set(x, makeValue("f32", [c.rows, c.inputs], values));
  const inputs = [...feeds.keys()];
  const floats = { inputs, outputs: [{ name: "w", value: w.dequantize() }], updates: [] };
  const want = inDoubles(evaluateProgram(floats, feeds)[0]!.data as never, values, c);
  const program = { inputs, outputs: [{ name: "y", value: w.product(x) }], updates: [] };
  for (const [name, device, target] of targets) {
    const { values: got } = await runProgram(program, feeds, {}, device, { target });
    for (const [i, { sum, most }] of want.entries()) {
      const y = got[0]!.data[i] as number;
      assert.ok(Math.abs(y - sum) <= 4e-6 * most, `${name}: ${y} is not ${sum} at ${i}`);
    }
  }
}

for (const bits of [4, 8] as const) {
  for (const [rows, outputs, inputs] of [
    [1, 7, 64],
    [1, 33, 70],
    [2, 5, 256],
    [3, 6, 33],
    [4, 65, 96],
    [5, 9, 64],
  ] as const)
    test(`${bits} bits, [${rows},${inputs}] by [${outputs},${inputs}]`, () =>
      agrees({ bits, rows, outputs, inputs }));

  test(`${bits} bits with an offset a block of 64`, () =>
    agrees({ bits, rows: 1, outputs: 12, inputs: 192, block: 64, offsets: true }));

  test(`${bits} bits: a product is one kernel, and none stores floats of weights`, () => {
    const { w, feeds } = weightsOf({ bits, rows: 1, outputs: 128, inputs: 256 });
    const x = input("x", "f32", [1, 256]);
    const y = w.product(x).add(w.product(x.mul(2)));
    for (const target of ["js", "wasm", "webgpu"] as const) {
      const program = {
        inputs: [x, ...feeds.keys()],
        outputs: [{ name: "y", value: y }],
        updates: [],
      };
      const { plan, kernels } = compileProgram(program, { target }).artifact;
      const scratch = JSON.stringify(plan.steps).includes("32768");
      assert.not.ok(scratch, `${target}: a buffer of 32768 elements`);
      assert.ok(kernels.length <= 3, `${target}: ${kernels.length} kernels`);
    }
  });

  test(`${bits} bits beside 8-bit activations is what both stand for`, async () => {
    const c = { bits, rows: 2, outputs: 9, inputs: 100 };
    const { w, feeds } = weightsOf(c);
    const x = input("x", "f32", [c.rows, c.inputs]);
    const values = waves(c.rows * c.inputs, 0.7);
    feeds.set(x, makeValue("f32", [c.rows, c.inputs], values));
    const inputs = [...feeds.keys()];
    const near = quantized(x, { bits: 8 }).dequantize();
    const outputs = [w.dequantize(), near].map((value, i) => ({ name: String(i), value }));
    const [floats, rounded] = evaluateProgram({ inputs, outputs, updates: [] }, feeds);
    const want = inDoubles(floats!.data as never, rounded!.data as never, c);
    const y = w.product(x, { activations: "i8" });
    const program = { inputs, outputs: [{ name: "y", value: y }], updates: [] };
    for (const [name, device, target] of targets) {
      const { values: got } = await runProgram(program, feeds, {}, device, { target });
      for (const [i, { sum, most }] of want.entries()) {
        const y = got[0]!.data[i] as number;
        assert.ok(Math.abs(y - sum) <= 1e-5 * most, `${name}: ${y} is not ${sum} at ${i}`);
      }
    }
  });

  for (const zeroPoint of [false, true])
    test(`${bits} bits${zeroPoint ? " with zero points" : ""}: an element is off by its format's half a step`, () => {
      const w = input("w", "f32", [3, 70]);
      const feeds = new Map([[w, makeValue("f32", [3, 70], waves(210, 12.9898))]]);
      const q = quantized(w, { bits, zeroPoint });
      const outputs = [q.dequantize(), q.scales].map((value, i) => ({ name: String(i), value }));
      const [got, scales] = evaluateProgram({ inputs: [w], outputs, updates: [] }, feeds);
      const most = bits === 4 && !zeroPoint ? 1 : 0.501;
      for (const [i, v] of feeds.get(w)!.data.entries()) {
        const scale = Number(scales!.data[3 * Math.floor(i / 70) + Math.floor((i % 70) / 32)]);
        assert.ok(Math.abs(Number(got!.data[i]) - Number(v)) <= most * Math.abs(scale) + 1e-6);
      }
    });
}

/** x·f(w)ᵀ on all targets, where a factor or an offset of w is the same along depth. */
async function nearReference(
  made: (w: Tensor, by: Tensor) => Tensor,
  first: (i: number) => number,
  by: number,
): Promise<void> {
  const x = input("x", "f32", [4, 64]);
  const w = input("w", "f32", [9, 64]);
  const each = input("by", "f32", [9, 1]);
  const y = x.matmul(made(w, each).transpose([1, 0]));
  const program = { inputs: [x, w, each], outputs: [{ name: "y", value: y }], updates: [] };
  const feeds = new Map([
    [x, makeValue("f32", [4, 64], waves(256, 1.3))],
    [
      w,
      makeValue(
        "f32",
        [9, 64],
        Array.from({ length: 9 * 64 }, (_, i) => first(i)),
      ),
    ],
    [
      each,
      makeValue(
        "f32",
        [9, 1],
        Array.from({ length: 9 }, () => by),
      ),
    ],
  ]);
  const [want] = evaluateProgram(program, feeds);
  for (const [name, device, target] of targets) {
    const { values: got } = await runProgram(program, feeds, {}, device, { target });
    for (const [i, v] of want!.data.entries())
      assert.ok(Math.abs(Number(got[0]!.data[i]) - Number(v)) < 1e-3, `${name} at ${i}`);
  }
}

test("a mean that is taken from floats leaves none of their rounding errors", () =>
  nearReference(
    (w, mean) => w.sub(mean),
    (i) => 1e5 + Math.sin(1.7 * i),
    1e5,
  ));

test("a product of floats does not overflow where their scaled values do not", () =>
  nearReference(
    (w, scale) => w.mul(scale),
    (i) => 1e38 * Math.cos(i),
    1e-38,
  ));

/** The ops of what is never stored. */
function unpackedOf(value: Tensor, inputs: readonly Tensor[]): string[] {
  const program = { inputs, outputs: [{ name: "y", value }], updates: [] };
  const found = unpackedIn(nodesOf(program), new Set([value]));
  return [...found].map((t) => t.op).filter((op) => op !== "broadcastInDim");
}

test("what a mask of its own extents leaves is stored before products, not made in each", () => {
  const [x, m, w] = [
    input("x", "f32", [24, 72]),
    input("m", "bool", [24, 72]),
    input("w", "f32", [72, 8]),
  ];
  const y = x.exp().mul(m.convert("f32")).matmul(w);
  const seed = input("seed", "u32", [2]);
  const kept = random.bits(seed, [24, 72]).greater(9).convert("f32");
  for (const [value, inputs] of [
    [y, [x, m, w]],
    [x.exp().mul(kept).matmul(w), [x, seed, w]],
  ] as const)
    assert.equal(unpackedOf(value, inputs), []);
  const few = m.convert("f32").mul(2);
  assert.equal(unpackedOf(few.matmul(w), [m, w]), ["convert", "mul"]);
});

test("floats with more paths than nodes are looked through once", () => {
  const x = input("x", "f32", [4, 4]);
  let t = x;
  for (let i = 0; i < 60; i++) t = t.mul(t).add(t);
  assert.equal(unpackedOf(t.matmul(x), [x]), []);
});

test("a batch of any length is computed with the same weights", async () => {
  const { w, feeds } = weightsOf({ bits: 8, rows: 1, outputs: 5, inputs: 64 });
  const x = input("x", "f32", [dim("B"), 64]);
  const program = {
    inputs: [x, ...feeds.keys()],
    outputs: [{ name: "y", value: w.product(x) }],
    updates: [],
  };
  const values = waves(7 * 64, 0.7);
  const one = new Map([...feeds, [x, makeValue("f32", [7, 64], values)]]);
  const [want] = evaluateProgram(program, one, { B: 7 });
  for (const [name, device, target] of targets) {
    const { values: got } = await runProgram(program, one, { B: 7 }, device, { target });
    for (const [i, v] of want!.data.entries())
      assert.ok(Math.abs(Number(got[0]!.data[i]) - Number(v)) < 1e-3, `${name} at ${i}`);
  }
});

/** A row of steps in 8 bits, with an offset a block or without. */
function rowOfSteps(name: string, isOffset: boolean) {
  const parts = {
    words: input(`${name}w`, "u32", [1, 16]),
    scales: input(`${name}s`, "f32", [1, 2]),
    offsets: isOffset ? input(`${name}o`, "f32", [1, 2]) : undefined,
  };
  return {
    row: quantizedOf(parts, { bits: 8 }, 64).dequantize(),
    inputs: Object.values(parts).filter((t) => t !== undefined),
  };
}

const plainRow = input("a", "f32", [1, 64]);
const [table, place] = [input("table", "f32", [3, 64]), input("place", "i32", [1])];
const [even, offset] = [rowOfSteps("even", false), rowOfSteps("offset", true)];

// Each row is another tensor's: what holds for the first says nothing of the second.
for (const [name, rows, inputs] of [
  [
    "one as it lies and one that is looked up",
    [plainRow, gather(table, [place], [0])],
    [plainRow, table, place],
  ],
  ["one as it lies and one in steps", [plainRow, even.row], [plainRow, ...even.inputs]],
  ["steps without and with offsets", [even.row, offset.row], [...even.inputs, ...offset.inputs]],
] as const)
  for (const bits of [4, 8] as const)
    test(`${bits} bits by two rows, ${name}`, async () => {
      const { w, feeds } = weightsOf({ bits, rows: 2, outputs: 5, inputs: 64 });
      for (const t of inputs) {
        const size = t.shape.reduce<number>((n, d) => n * Number(d), 1);
        const values = t.dtype === "u32" ? words(size) : waves(size, 0.7).map(Math.fround);
        const at = t.dtype === "i32" ? [2] : values;
        feeds.set(t, makeValue(t.dtype, t.shape.map(Number), at));
      }
      const y = w.product(concat(rows, 0)).div(100);
      const outputs = [{ name: "y", value: y }];
      await agreesOnWasm({ inputs: [...feeds.keys()], outputs, updates: [] }, feeds);
    });

test.run();
