/**
 * What else a program makes of the weights of an attention: elementwise ops and products of the
 * shape of the scores, and sums with them, as gradients do. If all of it ends in such sums, every
 * one of them can make its weights anew, of the products and of the maxima and totals of rows.
 * Otherwise gives up, and the weights are stored.
 */
import { opRecord, type Shape, sameShape, type Tensor, topologicalOrder } from "@kiln-ml/ir";
import type { Attention, Forward } from "./attention.ts";
import { vanishes } from "./causal.ts";
import { isMadeOf, isScoreProduct, readWeightedSum, type WeightedSum } from "./weighted-sum.ts";

export interface Gradient {
  readonly attentions: readonly Attention[];
  /** Nodes of the shape of the scores that are never stored. */
  readonly inside: readonly Tensor[];
}

type Users = ReadonlyMap<Tensor, readonly Tensor[]>;

/** Undefined if something that is no such sum needs a node of the shape of the scores. */
export function gradientOf(
  { attention, between }: Forward,
  users: Users,
  stored: ReadonlySet<Tensor>,
  apart: ReadonlySet<Tensor>,
): Gradient | undefined {
  const { space, softmax, causal } = attention;
  const grown = grow(attention, between, users);
  if (!grown || [...grown.inside].some((t) => stored.has(t))) return undefined;
  const own = new Set([...between, ...grown.inside]);
  const more = remade(own, space, users, stored);
  const all = new Set([...own, ...more]);
  const products = [...attention.made, ...[...more].filter((t) => isScoreProduct(t, space))];
  const exponents = softmax.total.operands[0]!;
  const sets = [...bySets(grown.sums, apart)];
  const attentions = sets.map(
    (sums): Attention => ({
      space,
      made: madeOf(sums, new Set(products), all),
      sums,
      causal:
        causal && sums.every((s) => vanishes(s.weights, exponents, causal)) ? causal : undefined,
    }),
  );
  return { attentions, inside: [...grown.inside, ...more] };
}

interface Grown {
  readonly inside: ReadonlySet<Tensor>;
  readonly sums: readonly WeightedSum[];
}

/** Follows the users of what has the shape of the scores, to sums. */
function grow(attention: Attention, between: readonly Tensor[], users: Users): Grown | undefined {
  const { space } = attention;
  const [own] = attention.sums;
  const sums = new Map<Tensor, WeightedSum>();
  const inside = new Set<Tensor>();
  const known = new Set(between);
  const queue = between.filter((t) => sameShape(t.shape, space));
  for (let next = queue.pop(); next; next = queue.pop())
    for (const u of users.get(next) ?? []) {
      if (known.has(u) || u === own!.result || isOfRows(attention, u)) continue;
      if (opRecord(u.op).family === "elementwise") {
        known.add(u);
        inside.add(u);
        queue.push(u);
        continue;
      }
      const sum = readWeightedSum(u, u.operands[0] === next ? 0 : 1);
      if (!sum || sums.has(u)) return undefined;
      sums.set(u, sum);
    }
  const read = [own!, ...sums.values()];
  return read.some((s) => known.has(s.other)) ? undefined : { inside, sums: [...sums.values()] };
}

/**
 * Products of few terms, random numbers, and what elementwise ops make of them, of the shape of the
 * scores and for nodes inside alone: to make them again costs less than their memory.
 */
function remade(
  inside: ReadonlySet<Tensor>,
  space: Shape,
  users: Users,
  stored: ReadonlySet<Tensor>,
): Set<Tensor> {
  const found = new Set<Tensor>();
  const isEnd = (t: Tensor): boolean =>
    !inside.has(t) &&
    (!sameShape(t.shape, space) || stored.has(t) || opRecord(t.op).family !== "elementwise");
  for (const t of topologicalOrder([...inside], isEnd)) {
    if (inside.has(t) || !sameShape(t.shape, space) || stored.has(t)) continue;
    const costly =
      opRecord(t.op).family === "elementwise"
        ? t.operands.some((o) => found.has(o))
        : t.op === "randomBits" || isScoreProduct(t, space);
    if (costly) found.add(t);
  }
  // Users were found after what they use.
  for (const t of [...found].reverse())
    if (!users.get(t)!.every((u) => inside.has(u) || found.has(u))) found.delete(t);
  return found;
}

const isOfRows = ({ softmax }: Attention, t: Tensor): boolean =>
  t === softmax!.max || t === softmax!.total;

/** Sums along one axis and of as many columns share a kernel, if none needs another. */
function* bySets(
  sums: readonly WeightedSum[],
  apart: ReadonlySet<Tensor>,
): Iterable<WeightedSum[]> {
  const left = new Set(sums);
  for (const first of sums) {
    if (!left.delete(first)) continue;
    const set = [first];
    if (!apart.has(first.result))
      for (const s of left) {
        if (s.along !== first.along || s.columns !== first.columns || apart.has(s.result)) continue;
        if (set.some((o) => isMadeOf(o.result, s.result) || isMadeOf(s.result, o.result))) continue;
        set.push(s);
        left.delete(s);
      }
    yield set;
  }
}

/** The products that the weights of some sums are made of, in the order of the program. */
function madeOf(
  sums: readonly WeightedSum[],
  products: ReadonlySet<Tensor>,
  inside: ReadonlySet<Tensor>,
): Tensor[] {
  const found = new Set<Tensor>();
  const seen = new Set(sums.map((s) => s.weights));
  for (const t of seen)
    if (products.has(t)) found.add(t);
    else if (inside.has(t)) for (const o of t.operands) seen.add(o);
  return [...found].sort((a, b) => a.id - b.id);
}
