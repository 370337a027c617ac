/**
 * `cond`: one of two regions, chosen by a flag at run time. Both are given the same operands and
 * have results of the same types; only the chosen one is computed.
 */

import { isFloat } from "../dtype.ts";
import { GraphError } from "../errors.ts";
import { kindOf } from "../kind.ts";
import { Tensor } from "../node.ts";
import { defineOp, type OpRecord, type Pullback } from "../op.ts";
import { currentValue } from "../trace.ts";
import { checkTensor, filled } from "./apply.ts";
import { replaceNodes, resultsOf } from "./control.ts";
import { addDraws, countingDraws, eitherDraws } from "./draws.ts";
import {
  checkFlag,
  checkRegions,
  checkResults,
  checkTypes,
  closeOver,
  traceBody,
} from "./regions.ts";

export const condRecord: OpRecord = defineOp({
  name: "cond",
  family: "control",
  infer(operands, _attrs, node) {
    if (!(node instanceof Tensor)) throw new GraphError("cond: the result types are missing");
    checkFlag("cond", "the predicate", operands[0]);
    checkRegions("cond", node.regions, 2, operands.slice(1));
    const [yes, no] = node.regions;
    checkTypes("cond", "result", yes!.results, "the other branch has", no!.results);
    return checkResults("cond", yes!.results, node);
  },
  vjpOfAll: condVjp,
});

/** The gradients of the branch that was taken; it computes again what they need of the values. */
function condVjp(
  cotangents: readonly (Tensor | undefined)[],
  node: Tensor,
  active: readonly boolean[],
  pullback: Pullback,
): (Tensor | undefined)[] {
  const [pred, ...captures] = node.operands as [Tensor, ...Tensor[]];
  const wanted = captures.flatMap((t, i) => (active[i + 1] && isFloat(t.dtype) ? [i] : []));
  const gradients = (which: 0 | 1) => () => {
    const { params, results } = node.regions[which]!;
    const parts = pullback(
      results,
      cotangents,
      wanted.map((i) => params[i]!),
    );
    const whole = parts.map((g, k) => {
      const { dtype, shape } = captures[wanted[k]!]!;
      return g ?? filled(0, dtype, shape);
    });
    return replaceNodes(whole, new Map(params.map((p, i) => [p, captures[i]!] as const)));
  };
  const out: (Tensor | undefined)[] = node.operands.map(() => undefined);
  if (!wanted.length) return out;
  for (const [k, g] of cond(pred, gradients(0), gradients(1)).entries()) out[wanted[k]! + 1] = g;
  return out;
}

/**
 * `then()` where `pred` holds, else `otherwise()`: computed at run time, and only the one that is
 * asked for. What the functions read from outside becomes an operand.
 *
 * pred: bool[]; both return tensors of the same dtypes and shapes → as many. Throws DtypeError or
 * ShapeError where they differ, GraphError if there are none or a body assigns a parameter.
 * `torch.cond`.
 *
 * @param then Builds what is computed where `pred` is true.
 * @param otherwise Builds what is computed where it is false.
 * @example
 *   const half = (x) => cond(x.sum().greater(10), () => [x.mul(0.5)], () => [x])[0];
 *   half(tensor([10, 20])) // [5, 10]
 *   half(tensor([1, 2])) // [1, 2]
 */
export function cond(
  pred: Tensor,
  then: () => readonly Tensor[],
  otherwise: () => readonly Tensor[],
): Tensor[] {
  checkTensor("cond", pred);
  for (const f of [then, otherwise])
    if (typeof f !== "function")
      throw new GraphError(`cond: both branches must be functions, got ${kindOf(f)}`);
  const flag = currentValue(pred);
  checkFlag("cond", "the predicate", flag);
  const branch = (define: () => readonly Tensor[]) =>
    countingDraws({ op: "cond", step: undefined, counted: true }, () =>
      traceBody("cond", [], define),
    );
  const [first, second] = [branch(then), branch(otherwise)];
  const [yes, no] = [first.value, second.value];
  checkTypes("cond", "result", yes.results, "the other branch has", no.results);
  checkResults("cond", yes.results, undefined);
  const { regions, captures } = closeOver([yes, no], false);
  addDraws(eitherDraws(first.drawn, second.drawn));
  return resultsOf({ op: "cond", operands: [flag, ...captures], attrs: {}, regions }, yes.results);
}
