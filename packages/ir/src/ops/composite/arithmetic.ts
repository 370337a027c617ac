/**
 * Small formulas over elementwise ops. They make no nodes of their own kind, so gradient and fusion come for free.
 */
import type { Tensor } from "../../node.ts";
import { checkTensor } from "../apply.ts";
import { broadcastOperands, type Operand } from "../broadcast.ts";
import { add, maximum, minimum, sub } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { log1p } from "../elementwise/unary.ts";
import { inFloat32, roundedOnce } from "./in-float32.ts";

/** x². */
export function square(x: Tensor): Tensor {
  checkTensor("square", x);
  return x.mul(x);
}

/** min(max(x, low), high); the gradient is 1 at both bounds. NaN stays. */
export const clamp = (x: Tensor, low: Operand, high: Operand): Tensor =>
  minimum(maximum(x, low), high);

/** x where the condition holds, y elsewhere; all three broadcast. */
export const where = (condition: Tensor, x: Operand, y: Operand): Tensor => select(condition, x, y);

/** x + t·(y − x). */
export const lerp = (x: Tensor, y: Operand, t: Operand): Tensor =>
  roundedOnce([x, y, t], (a, b, by) => add(a, sub(b, a).mul(by)));

/**
 * ln(eˣ + eʸ) = max(x, y) + ln(1 + e^(−|x − y|)), which does not overflow.
 *
 * Written with selects rather than |·| so that both gradients are ½ where x = y. Equal infinities give
 * themselves.
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
