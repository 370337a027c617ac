/**
 * A function run once on input nodes: the program it defines and the form of its result. The only place where the
 * user's function is called.
 */
import { type Program, statesOf } from "@kiln-ml/compiler/program";
import {
  currentValue,
  GraphError,
  type Premise,
  scopePath,
  type Tapped,
  Tensor,
  topologicalOrder,
  trace,
  withPremises,
  withRequirements,
  withTaps,
} from "@kiln-ml/ir";
import type { InputTree } from "./inputs.ts";
import { mapTree } from "./tree.ts";

export type AnyFunction = (...args: never[]) => unknown;

export interface Traced {
  readonly program: Program;
  /** The program with what is tapped as further outputs, where somebody listens. */
  readonly watched: Program;
  /** The parameters and data that the program reads or writes. */
  readonly states: readonly Tensor[];
  /** What must stay for the program to be what the function means. */
  readonly premises: readonly Premise[];
  /** What Math.random gave. */
  readonly drawn: readonly number[];
  /** The result of the function with tensors in place of its nodes, in the order of the program's outputs. */
  result(tensors: readonly Tensor[]): unknown;
}

const isTensor = (x: unknown): boolean => x instanceof Tensor;

/** Whether the function would define the same program now. */
export const stillHolds = ({ premises }: Traced): boolean => premises.every((holds) => holds());

/** Throws GraphError if the function returns a promise; whatever the function throws passes through. */
export function traceFunction(
  fn: AnyFunction,
  { args, inputs }: InputTree,
  draw: readonly number[] = [],
  listener?: TapListener,
): Traced {
  const outputs: { name: string; value: Tensor }[] = [];
  const define = () => {
    const value = fn(...(args as never[]));
    if (value instanceof Promise) {
      value.catch(() => {});
      throw new GraphError(
        "compile: the function returns a promise, it must return tensors\n  await data before the call, not in the function",
      );
    }
    // Inside the trace, so that a returned parameter is what was assigned to it.
    return mapTree(value, isTensor, (leaf, path) => {
      if (!(leaf instanceof Tensor)) return leaf;
      outputs.push({ name: path || "result", value: currentValue(leaf) });
      return leaf;
    });
  };
  const {
    drawn,
    value: {
      requirements,
      value: {
        premises,
        value: {
          taps,
          value: { value: template, updates },
        },
      },
    },
  } = watchingRandom(fn.name || "a function", draw, () =>
    withRequirements(() => withPremises(() => withTaps(() => trace(define)))),
  );
  const program = { inputs, outputs, updates: [...updates], requirements };
  const heard = listener ? taps : [];
  for (const tapped of heard) checkTap(tapped, inputs);
  const seen = heard.map(({ name, value }) => ({ name: `tap ${name}`, value }));
  const result = (tensors: readonly Tensor[]): unknown => {
    let i = 0;
    const made = mapTree(template, isTensor, (leaf) =>
      leaf instanceof Tensor ? tensors[i++] : leaf,
    );
    for (const { name, scope } of heard) listener!(name, tensors[i++]!, scopePath(scope));
    return made;
  };
  const watched = seen.length ? { ...program, outputs: [...outputs, ...seen] } : program;
  return { program, watched, premises, drawn, states: statesOf(watched), result };
}

/** Called at every run with each value that is tapped, in order, and the path of the module that it is in. */
export type TapListener = (name: string, value: Tensor, path: string | undefined) => void;

/** Throws GraphError where a value is one of many: it then depends on what is no input of the function. */
function checkTap({ name, value }: Tapped, inputs: readonly Tensor[]): void {
  for (const t of topologicalOrder([value]))
    if (t.op === "input" && !inputs.includes(t))
      throw new GraphError(
        `tap: ${name} is inside of a loop, a branch or a transform, where it is no one value\n  return it from there, and tap what comes out`,
      );
}

let saidRandom = false;

/** Runs `define` with Math.random giving `draw` first; says once that what it gives becomes part of the program. */
function watchingRandom<T>(
  name: string,
  draw: readonly number[],
  define: () => T,
): { readonly value: T; readonly drawn: readonly number[] } {
  const { random } = Math;
  const drawn: number[] = [];
  Math.random = () => {
    const x = draw[drawn.length] ?? random();
    drawn.push(x);
    return x;
  };
  try {
    return { value: define(), drawn };
  } finally {
    Math.random = random;
    if (drawn.length && !saidRandom) {
      saidRandom = true;
      console.warn(
        `compile: Math.random is called while ${name} is traced: its value is part of the program, the same at every call\n  use nn.KeyStream and random.uniform for numbers that change`,
      );
    }
  }
}
