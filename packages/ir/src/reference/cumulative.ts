/**
 * Reference values of the cumulative ops, from one end of the axis to the other and in double precision until a result is
 * rounded.
 */
import type { Tensor } from "../node.ts";
import { scanAttrs } from "../ops/loops.ts";
import { highest, lowest } from "./reduce.ts";
import type { Evaluate } from "./value.ts";
import { elementAt, multiply, plus, tabulate } from "./walk.ts";

/** Each result anew from the elements before it: n² steps, but nothing to get wrong. */
const running =
  (
    combine: (a: number, b: number, node: Tensor) => number,
    start: (n: Tensor) => number,
  ): Evaluate =>
  (node, [x], dims) => {
    const { axis, exclusive, reverse } = scanAttrs(node);
    const n = x!.shape[axis]!;
    return tabulate(node, dims, (at) => {
      let acc = start(node);
      const steps = (reverse ? n - 1 - at[axis]! : at[axis]!) + (exclusive ? 0 : 1);
      for (let i = 0; i < steps; i++) {
        const from = reverse ? n - 1 - i : i;
        const place = at.map((c, a) => (a === axis ? from : c));
        acc = combine(acc, elementAt(x!, place), node);
      }
      return acc;
    });
  };

export const cumulative = (): Record<string, Evaluate> => ({
  cumsum: running(
    (a, b, node) => plus(node.dtype, a, b),
    () => 0,
  ),
  cumprod: running(
    (a, b, node) => multiply(node.dtype, a, b),
    () => 1,
  ),
  cummax: running((a, b) => Math.max(a, b), lowest),
  cummin: running((a, b) => Math.min(a, b), highest),
});
