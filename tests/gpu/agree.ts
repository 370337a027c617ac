/**
 * Programs on webgpu against the reference in double precision, on a software adapter, with small whole numbers, whose products
 * are exact.
 */
import { type Dim, type Dtype, evaluateDim, input, type Tensor, type Value } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";

export const x = (name: string, shape: Dim[], dtype: Dtype = "f32"): Tensor =>
  input(name, dtype, shape);

export const programOf = (inputs: Tensor[], ...values: Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** Small whole numbers. */
export function sample(t: Tensor, dims: Dims, salt: number): Value {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((a, b) => a * b, 1);
  const data = Float64Array.from({ length: size }, (_, i) => ((i * 7 + salt * 5) % 13) - 6);
  return { dtype: t.dtype, shape, data };
}

export async function agrees(
  device: Device,
  name: string,
  program: Program,
  dims: Dims = {},
  tuning: Readonly<Record<string, string>> | undefined = undefined,
) {
  const given = [...program.inputs, ...program.updates.map(([param]) => param)];
  const feeds = new Map(given.map((t, i) => [t, sample(t, dims, i)]));
  const want = evaluateProgram(program, feeds, dims);
  const { limits } = device;
  const options = { target: "webgpu", limits, ...(tuning ? { tuning } : {}) } as const;
  const { values } = await runProgram(program, feeds, dims, device, options);
  for (const [i, v] of values.entries())
    v.data.forEach((got, j) => {
      const y = want[i]!.data[j]!;
      assert.ok(Math.abs(got - y) <= 1e-4 * (1 + Math.abs(y)), `${name}: ${i}[${j}]: ${got}, ${y}`);
    });
}

export const open = async () => guardedGpuDevice();
