/**
 * Finds softmax(scores)·v among the nodes of a program, where the scores are made of a product q·kᵀ element by element: it can be
 * computed without storing the scores. Only where nothing else needs what lies between, as gradients do. Makes no groups.
 */
import { isStatic, opRecord, sameShape, type Tensor } from "@kiln-ml/ir";
import { isLeaf, isPointwise } from "../access.ts";

/** softmax over the last axis of `scores`, times the second operand of `result`. */
export interface Attention {
  /** q·kᵀ, of the shape of the scores: [batch…, queries, keys]. */
  readonly dot: Tensor;
  readonly scores: Tensor;
  /** [batch…, queries, columns]. */
  readonly result: Tensor;
  /** True if no query attends to keys after its own place. */
  readonly causal: boolean;
}

/** Terms of a score and columns of a result that the kernel has room for. */
const mostDepth = 256;
const mostColumns = 128;

export interface Attentions {
  readonly byResult: ReadonlyMap<Tensor, Attention>;
  /** What is computed along with a result, and nowhere else. */
  readonly inside: ReadonlySet<Tensor>;
}

export function findAttention(order: readonly Tensor[], required: ReadonlySet<Tensor>): Attentions {
  const users = new Map<Tensor, Tensor[]>();
  for (const t of order)
    for (const o of new Set(t.operands)) users.set(o, [...(users.get(o) ?? []), t]);
  const byResult = new Map<Tensor, Attention>();
  const inside = new Set<Tensor>();
  for (const t of order) {
    if (t.op !== "dotGeneral" || !weighsLast(t)) continue;
    const found = softmaxOf(t.operands[0]!);
    const made = found && dotIn(found.scores);
    if (!made) continue;
    const { dot, chain } = made;
    const { scores, parts } = found;
    const between = nodesBetween(dot, t);
    const alone = [...between].every(
      (n) =>
        (chain.has(n) || parts.has(n)) &&
        !required.has(n) &&
        users.get(n)!.every((u) => u === t || between.has(u)),
    );
    if (!alone || t.operands[1] === t.operands[0]) continue;
    byResult.set(t, { dot, scores, result: t, causal: isCausal(scores, dot) });
    for (const n of between) inside.add(n);
  }
  return { byResult, inside };
}

const axesFrom = (count: number): string => Array.from({ length: count }, (_, i) => i).join();

/** weights[batch…, queries, keys] · v[batch…, keys, columns]. */
function weighsLast(t: Tensor): boolean {
  const { lhsBatch, rhsBatch, lhsContract, rhsContract } = t.attrs as Record<string, number[]>;
  const [p, v] = t.operands as [Tensor, Tensor];
  const batch = p.rank - 2;
  const columns = v.shape.at(-1)!;
  return (
    t.dtype === "f32" &&
    p.dtype === "f32" &&
    v.rank === p.rank &&
    `${lhsBatch}` === axesFrom(batch) &&
    `${rhsBatch}` === axesFrom(batch) &&
    `${lhsContract}` === `${batch + 1}` &&
    `${rhsContract}` === `${batch}` &&
    isStatic(columns) &&
    columns <= mostColumns
  );
}

/** The x of softmax(x) over the last axis, and the nodes that make the softmax of it. */
function softmaxOf(weights: Tensor): { scores: Tensor; parts: ReadonlySet<Tensor> } | undefined {
  if (weights.op !== "mul" && weights.op !== "div") return undefined;
  const [exp, divisor] = weights.operands as [Tensor, Tensor];
  const below = overLast(divisor, exp);
  const sum = below?.op === "reciprocal" && weights.op === "mul" ? below.operands[0] : below;
  if (weights.op === "mul" && sum === below) return undefined;
  if (exp.op !== "exp" || sum?.op !== "reduceSum" || sum.operands[0] !== exp) return undefined;
  const shifted = exp.operands[0]!;
  if (shifted.op !== "sub" || !reducesLast(sum)) return undefined;
  const [scores, top] = shifted.operands as [Tensor, Tensor];
  const max = overLast(top, scores);
  if (max?.op !== "reduceMax" || max.operands[0] !== scores || !reducesLast(max)) return undefined;
  const parts = new Set([weights, exp, divisor, below!, sum, shifted, top, max]);
  return { scores, parts };
}

const reducesLast = (t: Tensor): boolean => `${t.attrs.axes}` === `${t.operands[0]!.rank - 1}`;

/** What is repeated along the last axis of `like` to give `t`. */
function overLast(t: Tensor, like: Tensor): Tensor | undefined {
  if (t.op !== "broadcastInDim" || t.rank !== like.rank) return undefined;
  return `${t.attrs.dims}` === axesFrom(t.rank - 1) ? t.operands[0] : undefined;
}

/** The one product that elementwise ops make the scores of, and those ops; masks and biases may be anything else. */
function dotIn(scores: Tensor): { dot: Tensor; chain: ReadonlySet<Tensor> } | undefined {
  let dot: Tensor | undefined;
  const chain = new Set<Tensor>();
  const enter = (t: Tensor): boolean => {
    if (chain.has(t)) return true;
    if (t.op === "dotGeneral" && isScore(t, scores)) {
      if (dot) return false;
      dot = t;
    } else if (opRecord(t.op).family !== "elementwise" || !sameShape(t.shape, scores.shape))
      return true;
    chain.add(t);
    return t === dot || t.operands.every(enter);
  };
  return enter(scores) && dot && scores.dtype === "f32" ? { dot, chain } : undefined;
}

/** q[batch…, queries, depth] · k[batch…, keys, depth], in any order of axes but that of the result. */
function isScore(t: Tensor, scores: Tensor): boolean {
  const { lhsBatch, lhsContract } = t.attrs as Record<string, number[]>;
  const depth = t.operands[0]!.shape[lhsContract![0]!]!;
  return (
    sameShape(t.shape, scores.shape) &&
    t.dtype === "f32" &&
    t.operands.every((o) => o.dtype === "f32") &&
    lhsBatch!.length === t.rank - 2 &&
    lhsContract!.length === 1 &&
    isStatic(depth) &&
    depth <= mostDepth
  );
}

/** The nodes on the ways from `from` to `to`, `from` included. */
function nodesBetween(from: Tensor, to: Tensor): Set<Tensor> {
  const needs = new Map<Tensor, boolean>([[from, true]]);
  const enter = (t: Tensor): boolean => {
    const known = needs.get(t);
    if (known !== undefined) return known;
    needs.set(t, false);
    const found = !isLeaf(t) && t.operands.map(enter).some(Boolean);
    needs.set(t, found);
    return found;
  };
  enter(to);
  return new Set([...needs].filter(([t, yes]) => yes && t !== to).map(([t]) => t));
}

/** select(key ≤ query, x, a number below all scores that count). */
function isCausal(scores: Tensor, dot: Tensor): boolean {
  if (scores.op !== "select" || !isPointwise(scores)) return false;
  const [when, , otherwise] = scores.operands as [Tensor, Tensor, Tensor];
  const test = when.op === "broadcastInDim" ? when.operands[0]! : when;
  const least = otherwise.op === "broadcastInDim" ? otherwise.operands[0]! : otherwise;
  const placed =
    when.op !== "broadcastInDim" || `${when.attrs.dims}` === `${[dot.rank - 2, dot.rank - 1]}`;
  const [key, query] = test.operands as [Tensor, Tensor];
  return (
    placed &&
    test.op === "lessEqual" &&
    key.op === "iota" &&
    query.op === "iota" &&
    key.attrs.axis === test.rank - 1 &&
    query.attrs.axis === test.rank - 2 &&
    least.op === "constant" &&
    (least.attrs.value as number) <= -1e38
  );
}
