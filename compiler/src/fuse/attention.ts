/**
 * Finds softmax(scores)·v among the nodes of a program, where the scores are made of a product q·kᵀ
 * element by element, and the sums that gradients make with such weights: all can be computed
 * without storing what has the shape of the scores. Only where nothing else needs that. Makes no
 * groups.
 */
import { opRecord, type Shape, sameShape, type Tensor, topologicalOrder } from "@kiln-ml/ir";
import { searches } from "../sizes.ts";
import { gradientOf } from "./attention-gradient.ts";
import { type Causal, causalOf, numberOf } from "./causal.ts";
import { isScoreProduct, readWeightedSum, type WeightedSum } from "./weighted-sum.ts";

/** Weighted sums whose weights are made of products of few terms, tile by tile. */
export interface Attention {
  /** The shape of the weights: [batch…, queries, keys]. */
  readonly space: Shape;
  /** Products of that shape that the weights are made of. */
  readonly made: readonly Tensor[];
  /** All along one axis of the space, and of as many columns. */
  readonly sums: readonly WeightedSum[];
  /** Weights of the keys that it hides are 0. */
  readonly causal: Causal | undefined;
  /**
   * Where the weights are made of this softmax, for one sum: its maxima and totals are not known
   * before.
   */
  readonly softmax?: Softmax;
}

/**
 * softmax over the last axis of `scores`: exp(scores − max)/total. A sum's weights may be that
 * times other factors. With `least` as `maskedSoftmax` has it, max and total are brought up to
 * these two numbers before they are used.
 */
export interface Softmax {
  readonly weights: Tensor;
  readonly scores: Tensor;
  readonly max: Tensor;
  readonly total: Tensor;
  /** What weights are divided by: the total, or the greater of it and the least one. */
  readonly divisor: Tensor;
  readonly least?: { readonly max: number; readonly total: number };
}

export interface Attentions {
  readonly all: readonly Attention[];
  /** What is computed along with sums, and nowhere else. */
  readonly inside: ReadonlySet<Tensor>;
}

/** Sums of `apart` are not found together with others, and what is `stored` in none. */
export function findAttention(
  order: readonly Tensor[],
  stored: ReadonlySet<Tensor>,
  apart: ReadonlySet<Tensor> = new Set(),
): Attentions {
  const users = new Map<Tensor, Tensor[]>();
  for (const t of order)
    for (const o of new Set(t.operands)) {
      const list = users.get(o);
      if (list) list.push(t);
      else users.set(o, [t]);
    }
  const all: Attention[] = [];
  const inside = new Set<Tensor>();
  for (const t of order)
    for (const side of t.op === "dotGeneral" ? [0, 1] : []) {
      const found = forwardOf(t, side, stored, users);
      if (!found || found.between.some((n) => inside.has(n))) continue;
      const gradient = gradientOf(found, users, stored, apart);
      if (!gradient) continue;
      all.push(found.attention, ...gradient.attentions);
      for (const n of [...found.between, ...gradient.inside]) inside.add(n);
    }
  return { all, inside };
}

export interface Forward {
  readonly attention: Attention & { readonly softmax: Softmax };
  /** What lies between the product of the scores and the result, but for maxima and totals. */
  readonly between: readonly Tensor[];
}

type Users = ReadonlyMap<Tensor, readonly Tensor[]>;

function forwardOf(
  t: Tensor,
  side: number,
  stored: ReadonlySet<Tensor>,
  users: Users,
): Forward | undefined {
  const sum = readWeightedSum(t, side);
  if (!sum || sum.along !== sum.weights.rank - 1) return undefined;
  const found = softmaxIn(sum.weights);
  const made = found && dotIn(found.softmax.scores);
  if (!made) return undefined;
  const { softmax, parts, factors } = found;
  const { scores, max, total } = softmax;
  const { dot, chain } = made;
  const between = nodesBetween(dot, t);
  for (const n of between) if (!chain.has(n) && !parts.has(n)) return undefined;
  if (factors.some((f) => between.has(f))) return undefined;
  // Beside maxima the kernel's own start lower than −∞, and NaN does not win.
  if (users.get(max)!.some((u) => !between.has(u))) return undefined;
  between.delete(max);
  between.delete(total);
  if (stored.has(max) || [...between].some((n) => stored.has(n))) return undefined;
  const attention = {
    space: scores.shape,
    made: [dot],
    sums: [sum],
    causal: causalOf(scores, softmax.least?.max),
    softmax,
  };
  return { attention, between: [...between] };
}

const axesFrom = (count: number): string => Array.from({ length: count }, (_, i) => i).join();

interface FoundSoftmax {
  readonly softmax: Softmax;
  /** The nodes that make the weights of the scores. */
  readonly parts: ReadonlySet<Tensor>;
  /** What else the weights are multiplied by. */
  readonly factors: readonly Tensor[];
}

/** A softmax over the last axis, or one times factors, as dropout has them. */
export function softmaxIn(
  weights: Tensor,
  seen: Set<Tensor> = new Set(),
): FoundSoftmax | undefined {
  const own = softmaxOf(weights);
  // What weights are multiplied by one after the other is few.
  if (own || seen.has(weights) || seen.size > searches.factorsOfWeights) return own;
  seen.add(weights);
  for (const [x, ...others] of scaledIn(weights)) {
    const found = softmaxIn(x, seen);
    if (!found) continue;
    const parts = new Set([...found.parts, weights]);
    return { ...found, parts, factors: [...found.factors, ...others] };
  }
  return undefined;
}

/** The operands in which a node is linear, without a constant, each with the others. */
function scaledIn({ op, operands }: Tensor): [Tensor, ...Tensor[]][] {
  const [a, b, c] = operands as [Tensor, Tensor, Tensor];
  if (op === "mul")
    return [
      [a, b],
      [b, a],
    ];
  if (op === "div") return [[a, b]];
  if (op === "neg") return [[a]];
  return op === "select" && numberOf(c) === 0 ? [[b, a]] : [];
}

/** softmax(x) over the last axis, and the nodes that make it of x. */
function softmaxOf(weights: Tensor): FoundSoftmax | undefined {
  if (weights.op !== "mul" && weights.op !== "div") return undefined;
  const [exp, divisor] = weights.operands as [Tensor, Tensor];
  const below = overLast(divisor);
  const under = below?.op === "reciprocal" && weights.op === "mul" ? below.operands[0] : below;
  if (!under || (weights.op === "mul" && under === below)) return undefined;
  const { of: total, least: leastTotal } = broughtUp(under);
  if (exp.op !== "exp" || total.op !== "reduceSum" || total.operands[0] !== exp) return undefined;
  const shifted = exp.operands[0]!;
  if (shifted.op !== "sub" || !reducesLast(total)) return undefined;
  const [scores, top] = shifted.operands as [Tensor, Tensor];
  const over = overLast(top);
  if (!over) return undefined;
  const { of: max, least: leastMax } = broughtUp(over);
  if (max.op !== "reduceMax" || max.operands[0] !== scores || !reducesLast(max)) return undefined;
  const parts = new Set([weights, exp, divisor, below!, under, total, shifted, top, over, max]);
  const both = leastMax !== undefined && leastTotal !== undefined;
  // Only as maskedSoftmax has them: one alone is not what the kernels compute.
  if (!both && (leastMax !== undefined || leastTotal !== undefined)) return undefined;
  const least = both ? { least: { max: leastMax, total: leastTotal } } : {};
  return { softmax: { weights, scores, max, total, divisor: under, ...least }, parts, factors: [] };
}

/** x of maximum(x, number), and the number; any other node as it is. */
function broughtUp(t: Tensor): { of: Tensor; least?: number } {
  if (t.op !== "maximum") return { of: t };
  const [a, b] = t.operands as [Tensor, Tensor];
  const [of, by] = numberOf(a) === undefined ? [a, b] : [b, a];
  const least = numberOf(by);
  return least === undefined ? { of: t } : { of, least };
}

const reducesLast = (t: Tensor): boolean => `${t.attrs.axes}` === `${t.operands[0]!.rank - 1}`;

/** What is repeated along a new last axis to give `t`. */
export function overLast(t: Tensor): Tensor | undefined {
  if (t.op !== "broadcastInDim" || t.operands[0]!.rank !== t.rank - 1) return undefined;
  return `${t.attrs.dims}` === axesFrom(t.rank - 1) ? t.operands[0] : undefined;
}

/**
 * The one product that elementwise ops make the scores of, and those ops; masks and biases may be
 * anything else.
 */
function dotIn(scores: Tensor): { dot: Tensor; chain: ReadonlySet<Tensor> } | undefined {
  let dot: Tensor | undefined;
  const chain = new Set<Tensor>();
  if (scores.dtype !== "f32") return undefined;
  const left = [scores];
  for (let t = left.pop(); t; t = left.pop()) {
    if (chain.has(t)) continue;
    const product = isScoreProduct(t, scores.shape);
    if (product && dot) return undefined;
    if (product) dot = t;
    else if (opRecord(t.op).family !== "elementwise" || !sameShape(t.shape, scores.shape)) continue;
    chain.add(t);
    if (!product) left.push(...t.operands);
  }
  return dot && { dot, chain };
}

/** The nodes on the ways from `from` to `to`, `from` included. */
function nodesBetween(from: Tensor, to: Tensor): Set<Tensor> {
  const found = new Set([from]);
  // A node is made after its operands.
  for (const t of topologicalOrder([to], (n) => n.id <= from.id))
    if (t !== from && t.id > from.id && t.operands.some((o) => found.has(o))) found.add(t);
  found.delete(to);
  return found;
}
