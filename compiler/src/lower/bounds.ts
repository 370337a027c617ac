/**
 * What is known of a node's values before anything runs. One fact so far: differences from a maximum, of which softmax takes
 * exponents.
 */
import type { Tensor } from "@kiln-ml/ir";

/** True if every element is x − max(…, x, …), thus at most 0, or NaN. */
export function isBelowMaximum(t: Tensor): boolean {
  if (t.op !== "sub") return false;
  const [x, m] = t.operands as [Tensor, Tensor];
  const most = m.operands[0];
  if (m.op !== "broadcastInDim" || most?.op !== "reduceMax" || most.operands[0] !== x) return false;
  const axes = most.attrs.axes as readonly number[];
  const kept = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const dims = m.attrs.dims as readonly number[];
  return kept.every((axis, i) => dims[i] === axis);
}
