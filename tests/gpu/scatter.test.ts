/**
 * Scatters of many updates on webgpu: workgroups list what lands in their rows, and take it in in
 * the order of the updates, so that the bits are those of one walk. Against the reference in double
 * precision, and against js bit for bit, on a software adapter.
 */
import {
  type Dim,
  type Dtype,
  dim,
  evaluateDim,
  input,
  makeValue,
  roundTo,
  scatter,
  type Tensor,
  type Value,
  zeros,
} from "@kiln-ml/ir";
import { createCpuDevice, type Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { gpuTest } from "../support/webgpu.ts";
import { open } from "./agree.ts";

type Mode = "add" | "mul" | "max" | "min" | "set";

interface Case {
  readonly name: string;
  readonly shape: readonly Dim[];
  readonly axes: readonly number[];
  readonly positions: readonly Dim[];
  readonly mode?: Mode;
  readonly dtype?: Dtype;
  readonly index?: Dtype;
  readonly dims?: Dims;
  /** The target is zeros, as in gradients, rather than an input. */
  readonly zeros?: true;
  /** Indices are drawn from 0 … spread − 1, and some beyond the ends; the extents by default. */
  readonly spread?: number;
  /** What else is computed of each element. */
  readonly epilogue?: true;
}

const symbols = [dim("P", { min: 0, max: 3000 }), dim("V", { max: 300 })] as const;

const cases: readonly Case[] = [
  { name: "an embedding's gradient", shape: [50, 40], axes: [0], positions: [3, 70], zeros: true },
  {
    name: "with an update",
    shape: [50, 40],
    axes: [0],
    positions: [200],
    zeros: true,
    epilogue: true,
  },
  { name: "more updates than a list takes", shape: [40, 3], axes: [0], positions: [2500] },
  { name: "one row has all", shape: [300, 33], axes: [0], positions: [1100], spread: 1 },
  { name: "more columns than a workgroup", shape: [7, 300], axes: [0], positions: [90] },
  { name: "single elements", shape: [600], axes: [0], positions: [1500], zeros: true },
  { name: "no rest, two axes", shape: [9, 11], axes: [0, 1], positions: [130] },
  { name: "two axes, out of order", shape: [6, 5, 7], axes: [2, 0], positions: [10, 13] },
  { name: "the last axis", shape: [5, 64], axes: [1], positions: [100] },
  { name: "the middle axis", shape: [3, 20, 5], axes: [1], positions: [90], epilogue: true },
  {
    name: "any number of rows and updates",
    shape: [symbols[1], 5],
    axes: [0],
    positions: [symbols[0]],
    dims: { P: 1030, V: 77 },
  },
  {
    name: "no updates of many",
    shape: [80, 5],
    axes: [0],
    positions: [symbols[0]],
    dims: { P: 0, V: 1 },
  },
  ...(["mul", "max", "min", "set"] as const).map((mode) => ({
    name: mode,
    mode,
    shape: [30, 9],
    axes: [0],
    positions: [100],
  })),
  ...(["f16", "bf16", "i32", "u32", "u8", "i8"] as const).map((dtype) => ({
    name: dtype,
    dtype,
    shape: [30, 9],
    axes: [0],
    positions: [100],
  })),
  { name: "indices of bytes", shape: [300, 9], axes: [0], positions: [100], index: "u8" },
];

/** Numbers whose sums round, so that their order shows. */
function values(dtype: Dtype, shape: readonly number[], salt: number): Value {
  const size = shape.reduce((a, b) => a * b, 1);
  const whole = !/^b?f/.test(dtype);
  const at = (i: number): number => ((i * 37 + salt * 11) % 23) - (dtype[0] === "u" ? 0 : 11);
  const numbers = Array.from({ length: size }, (_, i) =>
    roundTo(dtype, whole ? at(i) : at(i) / 7 + (i % 5) * 1e-3),
  );
  return makeValue(dtype, shape, numbers);
}

const numbersOf = (shape: readonly Dim[], dims: Dims): number[] =>
  shape.map((d) => evaluateDim(d, dims));

function given(c: Case, axis: number, salt: number): Value {
  const { dims = {}, index = "i32" } = c;
  const shape = numbersOf(c.positions, dims);
  const most = c.spread ?? evaluateDim(c.shape[axis]!, dims);
  const size = shape.reduce((a, b) => a * b, 1);
  const low = index[0] === "u" ? 0 : -2;
  const drawn = (i: number): number =>
    c.spread === 1 ? 0 : low + (((i + salt) * 7919 + (i >> 3)) % (most + 4));
  return makeValue(
    index,
    shape,
    Array.from({ length: size }, (_, i) => drawn(i)),
  );
}

function programOf(c: Case): { program: Program; feeds: Map<Tensor, Value> } {
  const { dtype = "f32", mode = "add", dims = {}, index = "i32" } = c;
  const rest = c.shape.filter((_, axis) => !c.axes.includes(axis));
  const base = c.zeros ? zeros(c.shape as number[], dtype) : input("x", dtype, c.shape);
  const updates = input("updates", dtype, [...c.positions, ...rest]);
  const indices = c.axes.map((axis) => input(`at${axis}`, index, c.positions));
  const scattered = scatter(base, updates, indices, [...c.axes], mode);
  const other = input("w", dtype, c.shape);
  const value = c.epilogue ? other.sub(scattered.mul(0.25)) : scattered;
  const inputs = [...(c.zeros ? [] : [base]), updates, ...indices, ...(c.epilogue ? [other] : [])];
  const program = { inputs, outputs: [{ name: "y", value }], updates: [] };
  const feeds = new Map(
    inputs.map((t, i) => {
      const axis = indices.indexOf(t);
      return [
        t,
        axis < 0 ? values(dtype, numbersOf(t.shape, dims), i) : given(c, c.axes[axis]!, i),
      ];
    }),
  );
  return { program, feeds };
}

const textOf = (program: Program): string =>
  compileProgram(program, { target: "webgpu" }).artifact.kernels[0]!.text;

test("many updates are listed, few that may lie in place are walked", () => {
  for (const c of cases) assert.match(textOf(programOf(c).program), /var<workgroup>/, c.name);
  const few: Case = { name: "few", shape: [5000, 8], axes: [0], positions: [20] };
  assert.not.match(textOf(programOf(few).program), /var<workgroup>/);
  assert.match(textOf(programOf({ ...few, zeros: true }).program), /var<workgroup>/);
});

test("a list and its counts fit the workgroup memory that every device has", () => {
  const { program } = programOf({ ...cases[0]!, shape: [50257, 768], positions: [4, 1024] });
  const sizes = [...textOf(program).matchAll(/var<workgroup> \w+: array<i32, (\d+)>/g)];
  assert.is(sizes.length, 3);
  assert.ok(sizes.reduce((sum, [, n]) => sum + 4 * Number(n), 0) <= 16384);
});

const js = createCpuDevice();

/** Rows that a workgroup has, one tile or several: whatever the shape, the same sums. */
async function agrees(device: Device, c: Case): Promise<void> {
  const { program, feeds } = programOf(c);
  const { dims = {}, dtype = "f32" } = c;
  const want = evaluateProgram(program, feeds, dims)[0]!;
  const run = async (on: Device): Promise<Value> => {
    const options = { target: on.target, ...(on === device && { limits: device.limits }) };
    return (await runProgram(program, feeds, dims, on, options)).values[0]!;
  };
  const found = await run(device);
  // Halves are rounded once for a list, where js rounds at each update.
  if (dtype === "f32" && !c.epilogue) assert.ok(sameValue(found, await run(js)), `${c.name}: bits`);
  const off = { f16: 0.05, bf16: 0.5 }[dtype as string] ?? 1e-5;
  for (const [i, y] of want.data.entries())
    assert.ok(
      Math.abs(found.data[i]! - y) <= off * (1 + Math.abs(y)),
      `${c.name}: [${i}] ${found.data[i]}, ${y}`,
    );
}

gpuTest("sums of all shapes are the reference's, and in f32 those of js bit for bit", async () => {
  const device = await open();
  for (const c of cases) await agrees(device, c);
  device.destroy();
});

test.run();
