/**
 * Activations keep their digits where they and their slopes are small, in f32 on every target: against formulas in double precision
 * that do not cancel there either. The share of the normal distribution is an integral.
 */
import {
  celu,
  type Dtype,
  elu,
  erfc,
  grad,
  input,
  logSigmoid,
  mish,
  selu,
  sigmoid,
  silu,
  softplus,
  type Tensor,
} from "@kiln-ml/ir";
import { createCpuDevice, type Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { normalCdf } from "../../packages/ir/src/ops/composite/erfc.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { runProgram } from "../support/run.ts";
import { wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

/** e^(a²)·erfc a = 2/√π·∫ e^(−t² − 2at) dt, by Simpson's rule. */
function scaledErfc(a: number): number {
  const [steps, end] = [8000, Math.min(8, 20 / a)];
  const f = (t: number): number => Math.exp(-t * t - 2 * a * t);
  let sum = f(0) + f(end);
  for (let i = 1; i < steps; i++) sum += f((i * end) / steps) * (i % 2 ? 4 : 2);
  return ((2 / Math.sqrt(Math.PI)) * sum * end) / steps / 3;
}
const density = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
const share = (x: number): number => 0.5 * Math.exp((-x * x) / 2) * scaledErfc(-x / Math.SQRT2);
const logistic = (x: number): number => Math.exp(x) / (1 + Math.exp(x));
/** tanh(ln(1 + eˣ)) and its slope, of q = eˣ: (q² + 2q)/(q² + 2q + 2). */
const mished = (x: number): { value: number; slope: number } => {
  const q = Math.exp(x);
  const below = q * q + 2 * q + 2;
  return { value: (q * q + 2 * q) / below, slope: (4 * q * (q + 1)) / (below * below) };
};
const [scale, alpha] = [1.0507009873554805, 1.6732632423543772];

type Row = readonly [
  name: string,
  of: (x: Tensor) => Tensor,
  value: (x: number) => number,
  slope: (x: number) => number,
];

// biome-ignore format: one function a row
const rows: readonly Row[] = [
  ["x times the normal share", (x) => x.mul(normalCdf(x)), (x) => x * share(x), (x) => share(x) + x * density(x)],
  ["silu", silu, (x) => x * logistic(x), (x) => logistic(x) * (1 + x * logistic(-x))],
  ["mish", mish, (x) => x * mished(x).value, (x) => mished(x).value + x * mished(x).slope],
  ["softplus", softplus, (x) => Math.log1p(Math.exp(x)), logistic],
  ["logSigmoid of −x", (x) => logSigmoid(x.neg()), (x) => -Math.log1p(Math.exp(x)), (x) => -logistic(x)],
  ["sigmoid", sigmoid, logistic, (x) => logistic(x) * logistic(-x)],
  ["elu", elu, Math.expm1, Math.exp],
  ["selu", selu, (x) => scale * alpha * Math.expm1(x), (x) => scale * alpha * Math.exp(x)],
  ["celu", (x) => celu(x, 2), (x) => 2 * Math.expm1(x / 2), (x) => Math.exp(x / 2)],
  ["expm1", (x) => x.expm1(), Math.expm1, Math.exp],
  ["erfc of −x", (x) => erfc(x.neg()), (x) => Math.exp(-x * x) * scaledErfc(-x), (x) => (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)],
];

// Below all zeros of slopes, down to where erfc and the normal share are the least f32.
const points = Float32Array.from({ length: 66 }, (_, i) => -2.5 - i * 0.1);

async function valueAndSlope(of: Row[1], dtype: Dtype, device: Device) {
  const x = input("x", dtype, [points.length]);
  const y = of(x);
  const outputs = [
    { name: "y", value: y },
    { name: "g", value: grad(y.sum(), [x])[0]! },
  ];
  const feeds = new Map([[x, { dtype, shape: [points.length], data: Float64Array.from(points) }]]);
  const options = { target: device.target, limits: device.limits };
  const { values } = await runProgram({ inputs: [x], outputs, updates: [] }, feeds, {}, device, options); // biome-ignore format: one line
  return values.map((v) => v.data);
}

async function keepsDigits(row: Row, dtype: Dtype, device: Device, tolerance: number) {
  const [name, of, value, slope] = row;
  const got = await valueAndSlope(of, dtype, device);
  for (const [k, want] of [value, slope].entries())
    points.forEach((x, i) => {
      const [a, b] = [got[k]![i]!, want(x)];
      const what = `${name}${k ? "'s slope" : ""} at ${x}: ${a}, want ${b}`;
      assert.ok(Math.abs(a - b) <= tolerance * Math.abs(b), what);
    });
}

for (const row of rows) {
  test(`${row[0]} keeps its digits far below 0`, async () => {
    await keepsDigits(row, "f32", createCpuDevice(), 1.5e-6);
    await keepsDigits(row, "f32", wasmDevice({ threads: 1, relaxed: false }), 1.5e-6);
    await keepsDigits(row, "f64", createCpuDevice(), 1e-11);
  });
}

// WGSL §15.7.4: exp is within 3 + 2·|x| ulp, here of an x down to −81.
gpuTest("webgpu: activations keep their digits far below 0", async () => {
  const device = await guardedGpuDevice();
  for (const row of rows) await keepsDigits(row, "f32", device, 3e-5);
  device.destroy();
});

test.run();
