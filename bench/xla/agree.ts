/**
 * Training steps on the engine beside the reference, on a mesh: twenty steps of each network with
 * its states fed back, and programs of control flow once. Everything goes through the engine's
 * process, as a run of `fit` does.
 */
import {
  evaluate,
  evaluateDim,
  fromHost,
  initialValueOf,
  isFloat,
  makeValue,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Xla } from "@kiln-ml/xla";
import { type Program, rootsOf, statesOf } from "../../compiler/src/program.ts";
import { families } from "../stablehlo/families.ts";
import { networks } from "../stablehlo/networks.ts";

export interface Agreement {
  readonly name: string;
  readonly steps: number;
  /**
   * Of the losses of all steps, relative; of what a program of one step gives, over max(1,
   * |value|).
   */
  readonly loss: number;
  /** Of all states in the end. */
  readonly states: number;
}

const flow = ["scan", "loops", "collatz", "random"];
const programs: Readonly<
  Record<string, () => { program: Program; numbers?: Record<string, readonly number[]> }>
> = {
  ...Object.fromEntries(
    Object.entries(networks).map(([name, build]) => [name, () => ({ program: build() })]),
  ),
  ...Object.fromEntries(flow.map((name) => [name, families[name]! as never])),
};

export const agreements: readonly string[] = Object.keys(programs);

/** Noise that differs from step to step, or classes. */
function sample(t: Tensor, given: readonly number[] | undefined, seed: number): Value {
  const shape = t.shape.map((d) => evaluateDim(d, {}));
  const size = shape.reduce((a, b) => a * b, 1);
  const noise = (i: number) => Math.sin(12.9898 * (i + 1) + 78.233 * seed);
  const number = (i: number) => (isFloat(t.dtype) ? noise(i) : Math.floor(2 + 2 * noise(i)));
  return makeValue(t.dtype, shape, given ?? Array.from({ length: size }, (_, i) => number(i)));
}

/** |got − want| over max(1, |want|), the largest; both NaN or equal is none. */
function largest(got: ArrayLike<number>, want: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < want.length; i++) {
    const [g, w] = [got[i]!, want[i]!];
    if (g === w || (Number.isNaN(g) && Number.isNaN(w))) continue;
    const off = Math.abs(g - w) / Math.max(1, Math.abs(w));
    most = Math.max(most, Number.isNaN(off) ? Infinity : off);
  }
  return most;
}

/** The named program for some steps, through the engine and by the reference. */
export async function agreement(engine: Xla, name: string, trainingSteps = 20): Promise<Agreement> {
  nn.seed(1);
  const { program, numbers = {} } = programs[name]!();
  const steps = program.updates.length ? trainingSteps : 1;
  const device = await engine.open();
  const states = statesOf(program);
  const first = states.map((t) => evaluate([t.op === "param" ? initialValueOf(t) : t])[0]!);
  const arrays = first.map((v) => device.upload(toHost(v.dtype, v.data), v.dtype, v.shape));
  const loaded = device.load(program, states);
  const feeds = new Map<Tensor, Value>(states.map((t, i) => [t, first[i]!]));
  let loss = 0;
  for (let step = 0; step < steps; step++) {
    const batch = program.inputs.map((t, i) =>
      sample(t, numbers[String(t.attrs.name)], i + step * program.inputs.length),
    );
    for (const [i, t] of program.inputs.entries()) feeds.set(t, batch[i]!);
    const want = evaluate(rootsOf(program), { inputs: feeds });
    const given = batch.map((v) => ({ data: toHost(v.dtype, v.data), shape: v.shape }));
    const outputs = await loaded.run(given, arrays);
    for (const [i, y] of outputs.entries())
      loss = Math.max(loss, largest(fromHost(y.dtype, await y.data()), want[i]!.data));
    for (const [k, [param]] of program.updates.entries())
      feeds.set(param, want[program.outputs.length + k]!);
  }
  let worst = 0;
  for (const [i, t] of states.entries()) {
    const got = fromHost(t.dtype, await arrays[i]!.data());
    worst = Math.max(worst, largest(got, feeds.get(t)!.data));
  }
  return { name, steps, loss, states: worst };
}
