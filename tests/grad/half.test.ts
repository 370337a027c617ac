/**
 * The gradient of every op on f16 and bf16: it has the dtype of what it is the gradient of, and is the one in double precision, at
 * the same numbers, within a few roundings; where all that is computed are sums and products of small whole numbers, exactly.
 */
import {
  allOps,
  concat,
  convolution,
  cumsum,
  type Dtype,
  gather,
  grad,
  input,
  makeNode,
  makeValue,
  type OpRecord,
  pad,
  reverse,
  roundTo,
  scatter,
  select,
  slice,
  type Tensor,
  tensor,
  type Value,
} from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { runProgram } from "../support/run.ts";
import { wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

const halves = ["f16", "bf16"] as const;
type Half = (typeof halves)[number];

const cpu = guardedCpuDevice();
const devices = [cpu, wasmDevice({ threads: 1, relaxed: false })];

/** Half a unit in the last place of numbers about 1, and the least number. */
const roundings = { f16: 2 ** -11, bf16: 2 ** -8 } as const;
const least = { f16: 2 ** -24, bf16: 2 ** -133 } as const;

/** Operands, a cotangent, and numbers for all of them. */
interface Case {
  readonly operands: (dtype: Dtype) => Tensor[];
  readonly of: (...operands: Tensor[]) => Tensor;
  readonly numbers: (operand: number, i: number) => number;
}

async function gradientsOf(c: Case, dtype: Dtype, half: Half, on: Device): Promise<Value[]> {
  const operands = c.operands(dtype);
  const y = c.of(...operands);
  const cotangent = input("c", y.dtype, y.shape);
  const gradients = grad(y, operands, { cotangent });
  const inputs = [...operands, cotangent];
  const feeds = new Map<Tensor, Value>();
  for (const [k, t] of inputs.entries()) {
    const shape = t.shape as number[];
    const size = shape.reduce((a, b) => a * b, 1);
    const data = Array.from({ length: size }, (_, i) => roundTo(half, c.numbers(k, i)));
    feeds.set(t, makeValue(t.dtype, shape, data));
  }
  const outputs = gradients.map((value, i) => ({ name: `g${i}`, value }));
  const options = { target: on.target, limits: on.limits };
  return (await runProgram({ inputs, outputs, updates: [] }, feeds, {}, on, options)).values;
}

/** Throws where a gradient in a half is more than so many roundings off. */
async function isRounded(name: string, c: Case, half: Half, on: Device, allowed: number) {
  const want = await gradientsOf(c, "f64", half, cpu);
  const got = await gradientsOf(c, half, half, on);
  for (const [k, g] of got.entries()) {
    assert.is(g.dtype, half, `${name}: dtype of gradient ${k}`);
    g.data.forEach((a, i) => {
      const b = want[k]!.data[i]!;
      const off = Math.abs(a - b) / (roundings[half] * Math.abs(b) + least[half]);
      const what = `${on.target}: ${name} of ${half}, gradient ${k}[${i}]: ${a}, want ${b}`;
      assert.ok(a === b || off <= allowed, what);
    });
  }
}

const length = 40;

/** The op of a record on values in its domain, if it has a gradient and takes halves. */
function elementwise(r: OpRecord): Case | undefined {
  if (r.family !== "elementwise" || !r.vjp || !r.eval || !r.domain || r.eval.length > 2) return;
  const of = (...operands: Tensor[]): Tensor =>
    makeNode({ op: r.name, operands, attrs: {}, ...r.infer(operands, {}) });
  const operands = (dtype: Dtype): Tensor[] =>
    Array.from({ length: r.eval!.length }, (_, i) => input(`x${i}`, dtype, [length]));
  try {
    if (of(...operands("f16")).dtype !== "f16") return;
  } catch {
    return;
  }
  const [low, high] = [Math.max(r.domain[0], -8), Math.min(r.domain[1], 8)];
  const numbers = (k: number, i: number): number =>
    k === r.eval!.length
      ? 1 + ((i * 7) % 11) / 16
      : low + ((high - low) * (((i * (k ? 11 : 7) + k * 3) % length) + 0.31)) / length;
  return { operands, of, numbers };
}

const whole = (k: number, i: number): number => ((i * 5 + k * 3) % 7) - 3;
const shapes =
  (...all: number[][]) =>
  (dtype: Dtype): Tensor[] =>
    all.map((shape, i) => input(`x${i}`, dtype, shape));

/** A constant of indices. */
const places = (): Tensor => tensor([1], { dtype: "i32" });

// biome-ignore format: one op a row
const linear: Readonly<Record<string, Case>> = {
  reshape: { operands: shapes([2, 6]), of: (x) => x.reshape([3, 4]), numbers: whole },
  transpose: { operands: shapes([2, 6]), of: (x) => x.transpose(), numbers: whole },
  broadcastInDim: { operands: shapes([6]), of: (x) => x.broadcastTo([5, 6]), numbers: whole },
  slice: { operands: shapes([7]), of: (x) => slice(x, [1], [6], [2]), numbers: whole },
  pad: { operands: shapes([4], []), of: (x, v) => pad(x, v, [1], [2], [1]), numbers: whole },
  concat: { operands: shapes([4], [3]), of: (x, y) => concat([x, y], 0), numbers: whole },
  reverse: { operands: shapes([5]), of: (x) => reverse(x, [0]), numbers: whole },
  reduceSum: { operands: shapes([3, 5]), of: (x) => x.sum([1]), numbers: whole },
  reduceMax: { operands: shapes([3, 5]), of: (x) => x.max([1]), numbers: whole },
  cumsum: { operands: shapes([9]), of: (x) => cumsum(x, 0), numbers: whole },
  dotGeneral: { operands: shapes([3, 4], [4, 5]), of: (x, y) => x.matmul(y), numbers: whole },
  convolution: { operands: shapes([1, 2, 6], [3, 2, 3]), of: (x, w) => convolution(x, w), numbers: whole },
  gather: { operands: shapes([3, 4]), of: (x) => gather(x, [places()], [0]), numbers: whole },
  scatter: { operands: shapes([3, 4], [1, 4]), of: (x, u) => scatter(x, u, [places()], [0]), numbers: whole },
  select: { operands: shapes([8], [8]), of: (x, y) => select(x.greater(y), x, y), numbers: whole },
};

const cases = new Map<string, readonly [Case, number]>();
for (const r of allOps()) {
  const c = elementwise(r);
  if (c && r.name !== "stopGradient") cases.set(r.name, [c, 3]);
}
for (const [name, c] of Object.entries(linear)) cases.set(name, [c, 0]);

for (const [name, [c, allowed]] of cases)
  test(`the gradient of ${name} on halves`, async () => {
    for (const half of halves)
      for (const on of devices) await isRounded(name, c, half, on, allowed);
  });

// exp, log and division are within 2 or 3 ulp of f32 there, which a half does not show.
gpuTest("webgpu: gradients on halves", async () => {
  const device = await guardedGpuDevice();
  for (const name of ["tanh", "sigmoid", "erf", "exp", "div", "reduceSum", "dotGeneral", "cumsum"])
    for (const half of halves) await isRounded(name, cases.get(name)![0], half, device, 3);
  device.destroy();
});

test.run();
