/**
 * Runs a program through the compiler and the runtime: outputs and updated states as values, in the order of the
 * reference's results.
 */

import {
  allocateHost,
  evaluateDim,
  fromHost,
  type HostArray,
  hostDataOf,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import { type Device, load } from "@kiln-ml/runtime";
import { type CompileOptions, compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";

export type Dims = Readonly<Record<string, number>>;

export interface RunResult {
  readonly values: Value[];
  readonly kernels: number;
}

/** Outputs, then the new values of updated parameters. */
export async function runProgram(
  program: Program,
  feeds: ReadonlyMap<Tensor, Value>,
  dims: Dims,
  device: Device,
  options: CompileOptions,
): Promise<RunResult> {
  const { artifact, states } = compileProgram(program, options);
  const shapeOf = (t: Tensor) => t.shape.map((d) => evaluateDim(d, dims));
  const host = (t: Tensor): HostArray => {
    const value = feeds.get(t);
    if (value) return toHost(t.dtype, value.data);
    if (t.op === "data") return hostDataOf(t);
    // Only written, or not read: any value will do.
    return allocateHost(
      t.dtype,
      shapeOf(t).reduce((a, b) => a * b, 1),
    );
  };
  const held = states.map((t) => device.upload(host(t), t.dtype, shapeOf(t)));
  const exe = await load(artifact, device, { states: held });
  const inputs = program.inputs.map((t) => device.upload(host(t), t.dtype, shapeOf(t)));
  const outputs = await exe.run(inputs);
  const updated = program.updates.map(([p]) => held[states.indexOf(p)]!);
  const values: Value[] = [];
  for (const a of [...outputs, ...updated])
    values.push({
      dtype: a.dtype,
      shape: a.shape,
      data: fromHost(a.dtype, (await a.data()) as HostArray),
    });
  for (const a of [...held, ...inputs, ...outputs]) a.dispose();
  exe.dispose();
  return { values, kernels: artifact.plan.steps.length };
}
