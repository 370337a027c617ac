/**
 * Causal masks: select(key ≤ query, x, y) over [batch…, queries, keys], and what is 0 wherever key > query because of one. Knows the
 * mask as two iotas compared, however it is spread over the batch.
 */
import type { Tensor } from "@kiln-ml/ir";

/** True if scores of keys after the query's place are below all scores that count. */
export function isCausal(scores: Tensor): boolean {
  if (scores.op !== "select") return false;
  const [when, , otherwise] = scores.operands as [Tensor, Tensor, Tensor];
  const least = numberOf(otherwise);
  return least !== undefined && least <= -1e38 && isTest(when);
}

/** True if `t` is 0 wherever key > query; `exponents` are known to be. */
export function vanishes(t: Tensor, exponents: Tensor): boolean {
  const factors = new Set([t]);
  for (const f of factors) {
    if (f === exponents) return true;
    const [a, b, c] = f.operands as [Tensor, Tensor, Tensor];
    const masks = f.op === "select" && numberOf(c) === 0;
    if (masks && isTest(a)) return true;
    if (masks) factors.add(b);
    if (f.op === "mul") factors.add(a).add(b);
    if (f.op === "div" || f.op === "neg") factors.add(a);
  }
  return false;
}

/** key ≤ query, or query ≥ key, of the last two axes. */
function isTest(when: Tensor): boolean {
  const [test, rank] = [when.op === "broadcastInDim" ? when.operands[0]! : when, when.rank];
  if (test.rank < 2) return false;
  const dims = when.op === "broadcastInDim" ? (when.attrs.dims as number[]) : [rank - 2, rank - 1];
  if (`${dims.slice(-2)}` !== `${[rank - 2, rank - 1]}`) return false;
  if (test.op !== "lessEqual" && test.op !== "greaterEqual") return false;
  const [key, query] = test.op === "lessEqual" ? test.operands : [...test.operands].reverse();
  return isPlace(key!, test.rank - 1) && isPlace(query!, test.rank - 2);
}

function isPlace(t: Tensor, axis: number): boolean {
  if (t.op === "iota") return t.attrs.axis === axis;
  if (t.op !== "broadcastInDim") return false;
  const from = (t.attrs.dims as number[]).indexOf(axis);
  return from >= 0 && t.operands[0]!.shape[from] === t.shape[axis] && isPlace(t.operands[0]!, from);
}

/** The value that every element has, if the program says so. */
export function numberOf(t: Tensor): number | undefined {
  const one = t.op === "broadcastInDim" ? t.operands[0]! : t;
  return one.op === "constant" ? (one.attrs.value as number) : undefined;
}
