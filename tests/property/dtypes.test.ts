/**
 * Every op on every dtype that its record takes, on every target, against the reference: on special values, on a scalar and on
 * nothing. A new op needs an operand here, unless its family says what it takes.
 */

import {
  type Attrs,
  allOps,
  type Dtype,
  dtypes,
  input,
  isFloat,
  makeNode,
  makeValue,
  maxOf,
  minOf,
  type OpRecord,
  type ResultType,
  roundTo,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { randomProgram } from "../support/graphs.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";
import { tolerances } from "../support/tolerance.ts";
import { variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest, nullDevice } from "../support/webgpu.ts";

const cpu = guardedCpuDevice();

/** Operands as dtype and shape; `T` stands for the dtype that is tried, and E for an extent of 3 and of 0. */
interface Sample {
  readonly operands: readonly (readonly [Dtype | "T", readonly (number | "E")[]])[];
  readonly attrs?: Attrs | ((e: number) => Attrs);
  /** The shape of the result where operands do not say it. */
  readonly shape?: readonly (number | "E")[];
  /** There must be elements. */
  readonly filled?: boolean;
}

const matrix = ["T", [2, "E"]] as const;
const index = ["i32", [4]] as const;

const samples: Readonly<Record<string, Sample>> = {
  iota: { operands: [], attrs: { axis: 1 }, shape: [2, "E"] },
  reshape: { operands: [matrix], shape: ["E", 2] },
  slice: {
    operands: [matrix],
    attrs: (e) => ({ start: [0, 0], limit: [2, e], stride: [2, 1] }),
  },
  pad: { operands: [matrix, ["T", []]], attrs: { low: [0, 1], high: [1, 0], interior: [1, 0] } },
  concat: { operands: [matrix, ["T", [2, 2]]], attrs: { axis: 1 } },
  windows: { operands: [["T", ["E", 3]]], attrs: { size: [2], stride: [1], dilation: [1] } },
  fold: {
    operands: [["T", ["E", 2, 2]]],
    attrs: { size: [2], stride: [1], dilation: [1], extent: [3] },
  },
  transpose: { operands: [matrix], attrs: { perm: [1, 0] } },
  broadcastInDim: { operands: [["T", ["E"]]], attrs: { dims: [1] }, shape: [2, "E"] },
  reverse: { operands: [matrix], attrs: { axes: [0] } },
  argSort: { operands: [matrix], attrs: { axis: 0, count: 1, descending: true } },
  dotGeneral: {
    operands: [matrix, matrix],
    attrs: { lhsBatch: [], rhsBatch: [], lhsContract: [1], rhsContract: [1] },
  },
  convolution: {
    operands: [
      ["T", [1, 2, 4]],
      ["T", [3, 2, 2]],
    ],
    attrs: { stride: [1], low: [1], high: [0], lhsDilation: [1], rhsDilation: [1], groups: 1 },
  },
  gather: { operands: [matrix, index], attrs: { axes: [0] } },
  argMax: { operands: [matrix], attrs: { axes: [0] } },
  argMin: { operands: [matrix], attrs: { axes: [0] } },
};

const modes = ["add", "max", "min", "set"];

function samplesOf(r: OpRecord): Sample[] {
  const own = samples[r.name];
  if (own) return [own];
  if (r.family === "reduce")
    return [0, 1].map((axis) => ({ operands: [matrix], attrs: { axes: [axis] } }));
  if (r.family === "scan")
    return [0, 1].map((axis) => ({ operands: [matrix], attrs: { axis, reverse: axis === 0 } }));
  if (r.name === "scatter")
    return modes.map((mode) => ({
      operands: [matrix, ["T", [4, "E"]], index],
      attrs: { axes: [0], mode },
    }));
  return assert.unreachable(`${r.name} has no operands to try it with`) as never;
}

/** What is special about a dtype, and a few common numbers; 8 of them. */
function specials(dtype: Dtype): number[] {
  if (dtype === "bool") return [0, 1, 1, 0, 0, 1, 0, 1];
  const [low, high] = [minOf(dtype), maxOf(dtype)];
  if (isFloat(dtype)) return [0, -0, 1.5, -2.25, Number.NaN, Infinity, -Infinity, 0.1];
  return [0, 1, 2, 7, roundTo(dtype, -3), low, high, high - 1];
}

/** Numbers in the domain of a record, and NaN. */
function inDomain([low, high]: readonly [number, number], n: number, seed: number): number[] {
  const at = (i: number) => low + ((high - low) * ((i * 7 + seed * 3) % 64)) / 63;
  return Array.from({ length: n }, (_, i) => (i === 5 ? Number.NaN : at(i)));
}

class Trial {
  readonly inputs: Tensor[] = [];
  readonly feeds = new Map<Tensor, Value>();
  readonly outputs: { name: string; value: Tensor }[] = [];

  leaf(dtype: Dtype, shape: readonly number[], numbers: (n: number) => number[]): Tensor {
    const t = input(`x${this.inputs.length}`, dtype, shape);
    const n = shape.reduce((a, b) => a * b, 1);
    this.inputs.push(t);
    this.feeds.set(t, makeValue(dtype, shape, numbers(n)));
    return t;
  }

  /** Adds the node if the record takes the operands; their leaves stay otherwise, which does no harm. */
  add(r: OpRecord, operands: readonly Tensor[], attrs: Attrs = {}, type?: ResultType): boolean {
    let inferred: ResultType;
    try {
      inferred = r.infer(operands, attrs, type);
    } catch {
      return false;
    }
    const { dtype, shape } = inferred;
    const name = `${r.name}${operands.map((t) => ` ${t.dtype}[${t.shape}]`).join("")} to ${dtype} ${this.outputs.length}`;
    this.outputs.push({ name, value: makeNode({ op: r.name, operands, attrs, dtype, shape }) });
    return true;
  }

  program(): Program {
    return { inputs: this.inputs, outputs: this.outputs, updates: [] };
  }
}

const repeated = (list: readonly number[], n: number, stride: number): number[] =>
  Array.from({ length: n }, (_, i) => list[Math.floor(i / stride) % list.length]!);

/** All for some dtypes, the first for the others: every kernel of theirs is a program to compile. */
const shapes = [[64], [], [0], [2, 0]] as const;
const everyShape: ReadonlySet<Dtype> = new Set(["u8", "bf16", "f64"]);
const shifts = new Set(["shiftLeft", "shiftRight"]);

/** Numbers that the op is defined on: all special ones where it is exact. */
function operand(t: Trial, r: OpRecord, dtype: Dtype, shape: readonly number[], k: number): Tensor {
  if (shifts.has(r.name) && k === 1)
    return t.leaf(dtype, shape, (n) => repeated([0, 1, 3, 7], n, 8));
  const exact = !isFloat(dtype) || !r.ulp;
  return t.leaf(dtype, shape, (n) =>
    exact ? repeated(specials(dtype), n, k === 0 ? 1 : 8) : inDomain(r.domain ?? [-9, 9], n, k),
  );
}

function tryElementwise(t: Trial, r: OpRecord, dtype: Dtype, held: readonly Dtype[]): void {
  for (const shape of everyShape.has(dtype) ? shapes : [shapes[0]]) {
    const x = [0, 1].map((k) => operand(t, r, dtype, shape, k));
    if (r.name === "convert" || r.name === "bitcast") {
      if (shape.length !== 1) continue;
      for (const to of held) if (to !== dtype) converts(t, r, dtype, shape, to);
      continue;
    }
    const c = t.leaf("bool", shape, (n) => repeated([0, 1, 1], n, 1));
    if (r.name === "select") t.add(r, [c, ...x]);
    else if (!t.add(r, [x[0]!])) t.add(r, x);
  }
}

/** Floats beyond 32 bits have no one value in integers. */
function converts(t: Trial, r: OpRecord, from: Dtype, shape: readonly number[], to: Dtype): void {
  const bounded = isFloat(from) && !isFloat(to) && to !== "bool";
  const far = from === "f16" ? 999 : to === "u32" ? 2 ** 31 : -(2 ** 31);
  const numbers = bounded ? [0, -0, 1.5, 300.75, Number.NaN, -2.5, 60000, far] : specials(from);
  const x = t.leaf(from, shape, (n) => repeated(numbers, n, 1));
  t.add(r, [x], {}, { dtype: to, shape });
}

function tryOther(t: Trial, r: OpRecord, dtype: Dtype): void {
  for (const s of samplesOf(r))
    for (const e of [3, 0]) {
      const shape = (list: readonly (number | "E")[]) => list.map((d) => (d === "E" ? e : d));
      const operands = s.operands.map(([d, list], k) => {
        if (d !== "T") return t.leaf(d, shape(list), (n) => repeated([1, 0, -1, 2], n, 1));
        const sums = isFloat(dtype) && !["movement", "gather", "sort"].includes(r.family);
        return t.leaf(dtype, shape(list), (n) =>
          sums ? inDomain([-2, 2], n + 6, k).slice(6) : repeated(specials(dtype), n, 1),
        );
      });
      const attrs = typeof s.attrs === "function" ? s.attrs(e) : (s.attrs ?? {});
      t.add(r, operands, attrs, s.shape && { dtype, shape: shape(s.shape) });
    }
}

/** How far halves may be off on wasm: one rounding of what is computed in f32. */
const unit: Partial<Record<Dtype, number>> = { f16: 2 ** -10, bf16: 2 ** -7 };

const excluded = new Set(["control", "source"]);
const computing = allOps().filter((r) => !excluded.has(r.family) || r.name === "iota");

function trialOf(r: OpRecord, held: readonly Dtype[]): Trial {
  const t = new Trial();
  for (const dtype of held)
    if (r.family === "elementwise") tryElementwise(t, r, dtype, held);
    else tryOther(t, r, dtype);
  assert.ok(t.outputs.length > 0);
  return t;
}

/** Throws unless a device is as near to the reference as the op allows. */
async function checkNear(t: Trial, device: Device, want: readonly Value[]): Promise<void> {
  const p = t.program();
  const { values } = await runProgram(p, t.feeds, {}, device, { target: device.target });
  const allowed = tolerances(p, t.feeds, {}, want);
  for (const [i, w] of want.entries()) {
    const off = w.data.findIndex((x, k) => {
      const y = values[i]!.data[k]!;
      const slack = Math.max(allowed[i]![k]!, (unit[w.dtype] ?? 0) * Math.abs(x));
      return !(Object.is(x, y) || x === y || Math.abs(x - y) <= slack);
    });
    const { name } = p.outputs[i]!;
    const text = `${device.target}, ${name}, element ${off}: got ${values[i]!.data}, want ${w.data}`;
    assert.is(off, -1, text);
  }
}

for (const r of computing)
  test(`${r.name} on js and wasm is the reference's on every dtype`, async () => {
    const t = trialOf(r, dtypes);
    const p = t.program();
    const want = evaluateProgram(p, t.feeds);
    const js = await runProgram(p, t.feeds, {}, cpu, { target: "js", rounding: "each-op" });
    for (const [i, w] of want.entries()) {
      const text = `js, ${p.outputs[i]!.name}: got ${js.values[i]!.data}, want ${w.data}`;
      assert.ok(sameValue(js.values[i]!, w), text);
    }
    await checkNear(t, wasmDevice(variants[0]!), want);
  });

/** Ops that have more than one spelling there; `tests/printers/records-wgsl.test.ts` has the other elementwise ones. */
const onGpu = new Set(
  "convert bitcast div rem abs sign argSort argMax reduceMax scatter".split(" "),
);

gpuTest("ops on webgpu are the reference's on every dtype that it holds", async () => {
  const device = await guardedGpuDevice();
  for (const r of computing.filter(({ name }) => onGpu.has(name))) {
    const t = trialOf(
      r,
      dtypes.filter((d) => d !== "f64"),
    );
    await checkNear(t, device, evaluateProgram(t.program(), t.feeds));
  }
  device.destroy();
});

/** Features by which kernels differ: none, and all that a real card has. */
const devices: readonly (readonly GPUFeatureName[])[] = [[], ["shader-f16", "subgroups"]];

for (const features of devices)
  test(`every op on every dtype prints valid WGSL, fused and not, ${features.join(" and ") || "plain"}`, async () => {
    const device = await nullDevice(features);
    for (const r of computing) {
      const t = trialOf(
        r,
        dtypes.filter((d) => d !== "f64"),
      );
      for (const fusion of [true, false]) {
        const options = { target: "webgpu", fusion, features } as const;
        for (const k of compileProgram(t.program(), options).artifact.kernels) {
          const problems = (await problemsOf(device, k)).filter((text) => !/^warning/.test(text));
          assert.is(problems[0], undefined, `${r.name}: ${problems[0]}\n${k.text}`);
        }
      }
    }
    device.destroy();
  });

/** Together they have every conversion between narrow and wide dtypes. */
const mixtures: readonly (readonly Dtype[])[] = [
  ["u8", "i8", "u32", "bool", "i32"],
  ["f64", "i8", "u8", "bool"],
  ["f32", "u8", "i8", "f64", "u32"],
];

for (const mixture of mixtures)
  test(`programs of ${mixture.join(", ")} are the reference's on js and wasm`, () =>
    fc.assert(
      fc.asyncProperty(randomProgram({ dtypes: mixture }), async ({ program, feeds }) => {
        await agreesOnJs(program, feeds());
        await agreesOnWasm(program, feeds());
      }),
      { numRuns: runs(30) },
    ));

test.run();
