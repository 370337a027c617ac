/**
 * Causal masks: select(key + a ≤ query + b, x, y) over [batch…, queries, keys], and what is 0
 * wherever that does not hold because of one. Knows the mask as two iotas compared, with numbers or
 * extents added, however it is spread over the batch.
 */
import { addDim, type Dim, isNonNegative, isOp, sameDim, subDim, type Tensor } from "@kiln-ml/ir";

/** Query q attends to keys k with k + `keys` ≤ q + `queries`. Neither is negative. */
export interface Causal {
  readonly keys: Dim;
  readonly queries: Dim;
}

/**
 * The mask, if scores of keys after the query's place are below all scores that count. `floor` is
 * what the maxima of rows are brought up to: without one a row that sees no key would need them
 * all.
 */
export function causalOf(scores: Tensor, floor: number | undefined): Causal | undefined {
  if (scores.op !== "select") return undefined;
  const [when, , otherwise] = scores.operands as [Tensor, Tensor, Tensor];
  const least = numberOf(otherwise);
  const found = testOf(when);
  if (!found || least === undefined || !(least <= -1e38)) return undefined;
  const weightless = floor !== undefined && least <= 1.5 * floor;
  return weightless || isNonNegative(subDim(found.queries, found.keys)) ? found : undefined;
}

const isSame = (a: Causal | undefined, b: Causal): boolean =>
  a !== undefined && sameDim(a.keys, b.keys) && sameDim(a.queries, b.queries);

/** True if `t` is 0 wherever the mask hides a key; `exponents` are known to be. */
export function vanishes(t: Tensor, exponents: Tensor, mask: Causal): boolean {
  const factors = new Set([t]);
  for (const f of factors) {
    if (f === exponents) return true;
    const [a, b, c] = f.operands as [Tensor, Tensor, Tensor];
    const masks = f.op === "select" && numberOf(c) === 0;
    if (masks && isSame(testOf(a), mask)) return true;
    if (masks) factors.add(b);
    if (f.op === "mul") factors.add(a).add(b);
    if (f.op === "div" || f.op === "neg") factors.add(a);
  }
  return false;
}

/** key + a ≤ query + b, or the reverse, of the last two axes. */
function testOf(when: Tensor): Causal | undefined {
  const [test, rank] = [when.op === "broadcastInDim" ? when.operands[0]! : when, when.rank];
  if (test.rank < 2) return undefined;
  const dims = isOp(when, "broadcastInDim") ? when.attrs.dims : [rank - 2, rank - 1];
  if (`${dims.slice(-2)}` !== `${[rank - 2, rank - 1]}`) return undefined;
  if (test.op !== "lessEqual" && test.op !== "greaterEqual") return undefined;
  const [key, query] = test.op === "lessEqual" ? test.operands : [...test.operands].reverse();
  const keys = addedTo(key!, test.rank - 1);
  const queries = addedTo(query!, test.rank - 2);
  return keys !== undefined && queries !== undefined ? apart(keys, queries) : undefined;
}

/** Both sides without what is negative in them. */
function apart(keys: Dim, queries: Dim): Causal | undefined {
  const by = subDim(queries, keys);
  if (typeof by === "number") return { keys: Math.max(0, -by), queries: Math.max(0, by) };
  return isNonNegative(keys) && isNonNegative(queries) ? { keys, queries } : undefined;
}

/** What is added to the place along an axis. */
function addedTo(t: Tensor, axis: number): Dim | undefined {
  if (isPlace(t, axis)) return 0;
  if (isOp(t, "broadcastInDim")) {
    const from = t.attrs.dims.indexOf(axis);
    const [inner] = t.operands as [Tensor];
    return from >= 0 && inner.shape[from] === t.shape[axis] ? addedTo(inner, from) : undefined;
  }
  if (t.op !== "add" && t.op !== "sub") return undefined;
  const [a, b] = t.operands as [Tensor, Tensor];
  const [place, other] = t.op === "add" && extentOf(a) !== undefined ? [b, a] : [a, b];
  const [before, by] = [addedTo(place, axis), extentOf(other)];
  if (before === undefined || by === undefined) return undefined;
  return t.op === "add" ? addDim(before, by) : subDim(before, by);
}

/**
 * The integer or extent that every element is: `dimValue` makes extents of the last place of an
 * iota.
 */
function extentOf(t: Tensor): Dim | undefined {
  const value = numberOf(t);
  if (value !== undefined) return Number.isInteger(value) ? value : undefined;
  const inner = t.operands[0];
  if (t.op === "broadcastInDim" || t.op === "reshape")
    return inner!.shape.every((d) => d === 1) ? extentOf(inner!) : undefined;
  if (!isOp(t, "slice") || inner!.op !== "iota" || inner!.rank !== 1) return undefined;
  return t.shape[0] === 1 ? t.attrs.start[0] : undefined;
}

function isPlace(t: Tensor, axis: number): boolean {
  if (isOp(t, "iota")) return t.attrs.axis === axis;
  if (!isOp(t, "broadcastInDim")) return false;
  const from = t.attrs.dims.indexOf(axis);
  return from >= 0 && t.operands[0]!.shape[from] === t.shape[axis] && isPlace(t.operands[0]!, from);
}

/** The value that every element has, if the program says so. */
export function numberOf(t: Tensor): number | undefined {
  const one = t.op === "broadcastInDim" ? t.operands[0]! : t;
  return isOp(one, "constant") ? one.attrs.value : undefined;
}
