/**
 * A program compiled, loaded on the CPU and fed with noise, ready to be run any number of times.
 */
import type { Artifact, Extent } from "@kiln-ml/artifact";
import { evaluateDim, type Tensor } from "@kiln-ml/ir";
import { createCpuDevice, type Device, type DeviceArray, load } from "@kiln-ml/runtime";
import { type CompileOptions, compileProgram } from "../compiler/src/all.ts";
import type { Program } from "../compiler/src/program.ts";
import { noise, sizeOf, weightValues } from "./noise.ts";

export type Dims = Readonly<Record<string, number>>;

export interface Session {
  readonly artifact: Artifact;
  readonly device: Device;
  readonly run: () => Promise<void>;
  /** Runs once on inputs of other extents. */
  readonly runWith: (dims: Dims) => Promise<void>;
  /** Milliseconds and flops of each kernel of one run. */
  readonly profile: () => ReturnType<Awaited<ReturnType<typeof load>>["profile"]>;
  readonly dispose: () => void;
}

export { noise };

/** Parameters as a layer would make them; other state starts at zero. */
export function stateValues(t: Tensor, seed: number): Float32Array {
  const shape = t.shape as readonly number[];
  return t.attrs.trainable ? weightValues(seed, shape) : new Float32Array(sizeOf(shape));
}

function inputValues(t: Tensor, shape: readonly number[], seed: number): Float32Array | Int32Array {
  const values = noise(sizeOf(shape), seed);
  return t.dtype === "i32" ? Int32Array.from(values, (v) => Math.floor((v + 1) * 5)) : values;
}

export async function open(
  program: Program,
  options: Partial<CompileOptions> = {},
  dims?: Dims,
): Promise<Session> {
  const { artifact, states } = compileProgram(program, { target: "js", ...options });
  const device = createCpuDevice();
  const held = states.map((t, i) =>
    device.upload(stateValues(t, i + 1), t.dtype, t.shape as number[]),
  );
  const exe = await load(artifact, device, { states: held });
  const inputsFor = (by: Dims): DeviceArray[] =>
    program.inputs.map((t, i) => {
      const shape = t.shape.map((d) => evaluateDim(d, by));
      return device.upload(inputValues(t, shape, 100 + i), t.dtype, shape);
    });
  const run = async (given: readonly DeviceArray[]): Promise<void> => {
    for (const output of await exe.run(given)) output.dispose();
  };
  const symbolic = program.inputs.some((t) => t.shape.some((d) => typeof d !== "number"));
  const inputs = symbolic && !dims ? [] : inputsFor(dims ?? {});
  return {
    artifact,
    device,
    run: () => run(inputs),
    runWith: async (by) => {
      const given = inputsFor(by);
      await run(given);
      for (const a of given) a.dispose();
    },
    profile: () => exe.profile(inputs),
    dispose: () => {
      exe.dispose();
      for (const a of [...held, ...inputs]) a.dispose();
      device.destroy();
    },
  };
}

const evaluate = (e: Extent): number => {
  if (typeof e === "number") return e;
  throw new RangeError(`bench: extent ${JSON.stringify(e)} is symbolic`);
};

export const bytesMoved = (a: Artifact): number =>
  a.plan.steps.reduce((sum, s) => sum + evaluate(s.bytes), 0);

export const flopsOf = (a: Artifact): number =>
  a.plan.steps.reduce((sum, s) => sum + evaluate(s.flops), 0);

/** Bytes of all temporary values if each had a buffer of its own. */
export function valueBytes(a: Artifact): number {
  let sum = 0;
  for (const step of a.plan.steps) {
    const { bindings } = a.kernels[step.kernel]!;
    for (const [i, place] of step.args.entries()) {
      if (place.in !== "slot" || bindings[i]!.access === "read") continue;
      sum += Math.max(...a.plan.slots[place.index]!.sizes.map(evaluate));
    }
  }
  return sum;
}

/** Bytes of all temporary buffers, which is what a run needs beside inputs, outputs and states. */
export const slotBytes = (a: Artifact): number =>
  a.plan.slots.reduce((sum, s) => sum + Math.max(...s.sizes.map(evaluate)), 0);
