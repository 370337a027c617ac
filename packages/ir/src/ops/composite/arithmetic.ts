/**
 * Small formulas over elementwise ops. They make no nodes of their own kind, so gradient and fusion
 * come for free.
 */
import type { Tensor } from "../../node.ts";
import { checkTensor } from "../apply.ts";
import { broadcastOperands, type Operand } from "../broadcast.ts";
import { add, maximum, minimum, sub } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { log1p } from "../elementwise/unary.ts";
import { inFloat32, roundedOnce } from "./in-float32.ts";

/**
 * x². `torch.square`.
 *
 * @param x The tensor.
 * @example
 *   square(tensor([-3, 2])) // [9, 4]
 */
export function square(x: Tensor): Tensor {
  checkTensor("square", x);
  return x.mul(x);
}

/**
 * min(max(x, low), high); the gradient is 1 at both bounds. NaN stays. `torch.clamp`.
 *
 * @param x The tensor.
 * @param low The lower bound, broadcast.
 * @param high The upper bound, broadcast.
 * @example
 *   clamp(tensor([-2, 0.5, 3]), 0, 1) // [0, 0.5, 1]
 */
export const clamp = (x: Tensor, low: Operand, high: Operand): Tensor =>
  minimum(maximum(x, low), high);

/**
 * x where the condition holds, y elsewhere; all three broadcast. `torch.where`.
 *
 * @param condition bool, broadcast.
 * @param x Where it is true.
 * @param y Where it is false.
 * @example
 *   const x = tensor([-1, 2]);
 *   where(x.greater(0), x, 0) // [0, 2]
 */
export const where = (condition: Tensor, x: Operand, y: Operand): Tensor => select(condition, x, y);

/**
 * x + t·(y − x). `torch.lerp`.
 *
 * @param x The start.
 * @param y The end.
 * @param t The share of the way.
 * @example
 *   lerp(tensor([0, 10]), tensor([10, 20]), 0.25) // [2.5, 12.5]
 */
export const lerp = (x: Tensor, y: Operand, t: Operand): Tensor =>
  roundedOnce([x, y, t], (a, b, by) => add(a, sub(b, a).mul(by)));

/**
 * ln(eˣ + eʸ) = max(x, y) + ln(1 + e^(−|x − y|)), which does not overflow.
 *
 * Written with selects rather than |·| so that both gradients are ½ where x = y. Equal infinities
 * give themselves. `torch.logaddexp`.
 *
 * @param x A tensor or a number.
 * @param y A tensor or a number; it broadcasts against x.
 * @example
 *   logAddExp(tensor([1000]), 1000) // [1000.6931]; 1000 + ln 2, where e¹⁰⁰⁰ overflows
 */
export function logAddExp(x: Operand, y: Operand): Tensor {
  const [own, other] = broadcastOperands("logAddExp", [x, y]) as [Tensor, Tensor];
  return inFloat32([own, other], (a, b) => {
    const together = a.equal(b).and(a.isFinite().not());
    const d = select(together, 0, a.sub(b));
    const greater = d.greater(0);
    return select(a.greater(b), a, b).add(log1p(select(greater, d.neg(), d).exp()));
  });
}
