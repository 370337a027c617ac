/**
 * What is known of a node's values before anything runs. One fact so far: what is at most 0, of
 * which softmax and bell curves take exponents.
 */
import { isOp, type Tensor } from "@kiln-ml/ir";

/** True if every element is surely at most 0, or NaN. */
export function isNonPositive(t: Tensor): boolean {
  const [x, y] = t.operands;
  if (t.op === "neg") return isNonNegative(x!);
  if (t.op === "mul")
    return (isNegative(x!) && isNonNegative(y!)) || (isNegative(y!) && isNonNegative(x!));
  return isBelowMaximum(t);
}

const isNonNegative = ({ op, operands }: Tensor): boolean =>
  op === "abs" || (op === "mul" && operands[0] === operands[1]);

/** True of a negative number, however often it is repeated. */
function isNegative(t: Tensor): boolean {
  let one = t;
  while (one.op === "broadcastInDim") one = one.operands[0]!;
  return isOp(one, "constant") && one.attrs.value < 0;
}

/** True if every element is x − max(…, x, …), thus at most 0, or NaN. */
function isBelowMaximum(t: Tensor): boolean {
  if (t.op !== "sub") return false;
  const [x, m] = t.operands as [Tensor, Tensor];
  const most = m.operands[0];
  if (!isOp(m, "broadcastInDim") || !isOp(most, "reduceMax") || most.operands[0] !== x)
    return false;
  const { axes } = most.attrs;
  const kept = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const { dims } = m.attrs;
  return kept.every((axis, i) => dims[i] === axis);
}
