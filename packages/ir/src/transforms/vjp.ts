/** Reverse mode as a pair: a value, and the function that pulls cotangents back through it. */
import { isFloat } from "../dtype.ts";
import { DtypeError, GraphError } from "../errors.ts";
import { gradWhereReached } from "../grad.ts";
import type { Tensor } from "../node.ts";
import { replaceNodes } from "../ops/control.ts";
import { argumentsOf, type TensorFunction, traceFunction } from "./function.ts";

/** A value, and the cotangents of the arguments for one of it. */
export interface ValueAndPullback<R> {
  readonly value: R;
  readonly pullback: (cotangent: R) => Tensor[];
}

/**
 * f(xs), and the function that gives, for a cotangent g of it, Σ g · ∂f/∂x for each x. It may be
 * called again with others.
 *
 * xs: floats; cotangents like the results of f, a list where f gives one → one tensor like each x,
 * zeros where f does not read it. Throws DtypeError for an x that is no float, as `grad` does for
 * what has no gradient. `torch.func.vjp`, `jax.vjp`.
 *
 * @param f A function of tensors that gives a tensor or a list.
 * @example
 *   const { value, pullback } = vjp((x) => x.square(), [tensor([3])]);
 *   value // [9]
 *   pullback(tensor([1])) // [[6]]; 2·x·1
 */
export function vjp<R extends Tensor | readonly Tensor[]>(
  f: TensorFunction<R>,
  xs: Tensor | readonly Tensor[],
): ValueAndPullback<R> {
  const args = argumentsOf("vjp", xs);
  for (const [i, x] of args.entries())
    if (!isFloat(x.dtype))
      throw new DtypeError(
        `vjp: argument ${i} is ${x.dtype}, not a float\n  only floats have cotangents: read it from outside of the function`,
      );
  const { params, results, single } = traceFunction("vjp", f, args);
  const by = new Map(params.map((p, i) => [p, args[i]!] as const));
  const values = replaceNodes(results, by);
  const pullback = (cotangent: Tensor | readonly Tensor[]): Tensor[] => {
    const gs = argumentsOf("vjp", cotangent);
    if (gs.length !== results.length)
      throw new GraphError(
        `vjp: there are ${results.length} results and ${gs.length} cotangents\n  give one cotangent for each result`,
      );
    const sums = params.map((p) => p.zerosLike());
    const reached = params.map(() => false);
    for (const [k, y] of results.entries())
      for (const [i, g] of gradWhereReached(y, params, { cotangent: gs[k]! }).entries()) {
        if (!g) continue;
        sums[i] = reached[i] ? sums[i]!.add(g) : g;
        reached[i] = true;
      }
    return replaceNodes(sums, by);
  };
  return { value: (single ? values[0]! : values) as R, pullback: pullback as (g: R) => Tensor[] };
}
