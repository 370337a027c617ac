/**
 * Functions of tensors as graphs, for transforms: a function is run once on stand-ins for its arguments. It reads and computes; one
 * that assigns a parameter is refused. Random numbers are drawn once, whatever the transform does with the graph.
 */
import { DtypeError, GraphError } from "../errors.ts";
import { kindOf } from "../kind.ts";
import { type ResultType, Tensor } from "../node.ts";
import { checkTensor } from "../ops/apply.ts";
import { addDraws, countingDraws } from "../ops/draws.ts";
import { type Body, traceBody } from "../ops/regions.ts";
import { input } from "../ops/source.ts";
import { currentValue } from "../trace.ts";

/** What a transform takes: from tensors to one tensor or a list of them. */
export type TensorFunction<R extends Tensor | readonly Tensor[] = Tensor | readonly Tensor[]> = (
  ...xs: Tensor[]
) => R;

export interface Traced extends Body {
  /** Whether the function gave one tensor, and no list. */
  readonly single: boolean;
}

export const standIn = ({ dtype, shape }: ResultType, name = "x"): Tensor =>
  input(name, dtype, shape);

/** The function for arguments of these types. */
export function traceFunction(op: string, f: TensorFunction, types: readonly ResultType[]): Traced {
  if (typeof f !== "function") throw new GraphError(`${op}: takes a function, got ${kindOf(f)}`);
  const params = types.map((type, i) => standIn(type, `x${i}`));
  let single = false;
  const { value, drawn } = countingDraws({ op, step: undefined, counted: true }, () =>
    traceBody(op, params, () => {
      const out = f(...params);
      single = out instanceof Tensor;
      return out instanceof Tensor ? [out] : out;
    }),
  );
  addDraws(drawn);
  return { ...value, single };
}

/** The arguments of a transform as they stand: a list, or one tensor. */
export function argumentsOf(op: string, xs: Tensor | readonly Tensor[]): Tensor[] {
  const list = xs instanceof Tensor ? [xs] : xs;
  if (!Array.isArray(list))
    throw new DtypeError(`${op}: takes a tensor or a list of tensors, got ${kindOf(xs)}`);
  for (const x of list) checkTensor(op, x);
  return list.map(currentValue);
}
