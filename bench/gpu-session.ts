/**
 * A program compiled for a card, loaded there with its inputs, and timed in a loop. Knows nothing
 * of tables.
 */
import {
  allocateHost,
  evaluateDim,
  hasHostData,
  hostDataOf,
  initialValueOf,
  type Tensor,
} from "@kiln-ml/ir";
import { type Device, type Executable, load } from "@kiln-ml/runtime";
import { compileProgram } from "../compiler/src/all.ts";
import type { Program } from "../compiler/src/program.ts";
import { classesOf, inputHalves, inputValues, sizeOf } from "./noise.ts";
import { stateValues } from "./session.ts";

export const median = (xs: readonly number[]): number =>
  [...xs].sort((a, b) => a - b)[xs.length >> 1]!;
export const round = (x: number): number => Number(x.toPrecision(4));

/** The device's features that a row asks for, beside those that all have. */
export const featuresOf = (device: Device, more: readonly string[]): string[] =>
  [...device.features].filter((f) => f === "subgroups" || more.some((name) => f.startsWith(name)));

interface Given {
  readonly features: readonly string[];
  /** Integer inputs are below this; ten classes by default. */
  readonly classes?: number;
  /** State as layers make it, rather than noise. */
  readonly drawn?: boolean;
}

/** What a layer gave a parameter, or zeros. */
function drawnValues(t: Tensor): ReturnType<typeof hostDataOf> {
  const first = initialValueOf(t);
  return hasHostData(first)
    ? hostDataOf(first)
    : allocateHost(t.dtype, sizeOf(t.shape as number[]));
}

/** The compiled program with its inputs on the device. */
export async function open(device: Device, program: Program, given: Given) {
  const { features, classes = 10, drawn = false } = given;
  const { limits } = device;
  const { artifact, states } = compileProgram(program, { target: "webgpu", features, limits });
  const held = states.map((t, i) => {
    const values = drawn ? drawnValues(t) : stateValues(t, i + 1);
    return device.upload(values, t.dtype, t.shape as number[]);
  });
  const exe = await load(artifact, device, { states: held });
  const inputs = program.inputs.map((t, i) => {
    const shape = t.shape.map((d) => evaluateDim(d, {}));
    if (t.dtype === "f16") return device.upload(inputHalves(t.dtype, i, shape), t.dtype, shape);
    const values = inputValues(i, shape);
    const host = t.dtype === "i32" ? classesOf(values, classes) : values;
    return device.upload(host, t.dtype, shape);
  });
  const dispose = (): void => {
    exe.dispose();
    for (const a of [...held, ...inputs]) a.dispose();
  };
  return { artifact, exe, inputs, dispose };
}

type Inputs = Parameters<Executable["run"]>[0];

/** Reading a number waits for all that came before. */
export async function settled(device: Device): Promise<void> {
  const probe = device.upload(new Float32Array(1), "f32", [1]);
  await probe.data();
  // Or it would keep the memory that the next run's result had before.
  probe.dispose();
}

/**
 * Milliseconds of a run in a loop, and microseconds until a run gives the thread back, as the mean
 * of a loop: some submit for others.
 */
export async function timed(device: Device, exe: Executable, inputs: Inputs, repeats: number) {
  const [times, calls]: [number[], number[]] = [[], []];
  for (let i = 0; i < 9; i++) {
    let own = 0;
    const start = performance.now();
    for (let j = 0; j < repeats; j++) {
      const before = performance.now();
      const run = exe.run(inputs);
      own += performance.now() - before;
      for (const o of await run) o.dispose();
    }
    await settled(device);
    if (i < 2) continue;
    times.push((performance.now() - start) / repeats);
    calls.push((own * 1e3) / repeats);
  }
  return { ms: median(times), cpu: median(calls) };
}
