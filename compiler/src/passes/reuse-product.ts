/**
 * Takes a sum over a product of products from a product that is there: Σₖ (g·vᵀ)ₖ·wₖ = g·(w·v),
 * where w·v, or w·v with rows scaled, is computed anyway. In the gradient of attention it is the
 * sum over keys of weights and their gradients, from the result, so that nothing needs all keys of
 * a row at once but the sums themselves.
 *
 * before:
 *   graph f(%w: f32[8,9], %v: f32[9,4], %g: f32[8,4]) {
 *     %1: f32[8,4] = dotGeneral %w %v {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
 *     %2: f32[8,9] = dotGeneral %g %v {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[1]}
 *     %3: f32[8,9] = mul %2 %w
 *     %4: f32[8] = reduceSum %3 {axes=[1]}
 *     return %1, %4
 *   }
 * after:
 *   graph f(%w: f32[8,9], %v: f32[9,4], %g: f32[8,4]) {
 *     %1: f32[8,4] = dotGeneral %w %v {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
 *     %2: f32[8,4] = mul %g %1
 *     %3: f32[8] = reduceSum %2 {axes=[1]}
 *     return %1, %3
 *   }
 *
 * Rows of w·v may be scaled by what the sum lacks if that is the total of a softmax, brought up to
 * what it is divided by, which is never 0 nor ∞. Sums are added in another order, so a target asks
 * for this pass if it wants it. For f32 alone. Run before products are split.
 */
import { inPlaceOf, type Tensor, withOperands } from "@kiln-ml/ir";
import { overLast, softmaxIn } from "../fuse/attention.ts";
import { numberOf } from "../fuse/causal.ts";
import {
  freeOf,
  isMadeOf,
  isScoreProduct,
  readWeightedSum,
  sidesOf,
  type WeightedSum,
} from "../fuse/weighted-sum.ts";
import type { Pass } from "../pass.ts";
import { mapRoots, nodesOf, type Program } from "../program.ts";
import { build } from "../rules/match.ts";
import { searches } from "../sizes.ts";

export const reuseProduct: Pass = { name: "reuse-product", reassociates: true, run };

function run(program: Program): Program {
  const order = nodesOf(program);
  const found = new Map<Tensor, Found>();
  const sums = sumsByOther(order);
  for (const node of sums.size ? order : []) {
    const match = foundIn(node, sums);
    if (match) found.set(node, match);
  }
  if (found.size === 0) return program;
  const done = new Map<Tensor, Tensor>();
  const newOf = (t: Tensor): Tensor => done.get(t)!;
  const make = (node: Tensor, match: Found | undefined): Tensor =>
    match ? taken(match, newOf) : withOperands(node, node.operands.map(newOf));
  const waiting = [...order].reverse();
  for (let node = waiting.at(-1); node; node = waiting.at(-1)) {
    const match = found.get(node);
    // The product may stand after the sum that is taken from it.
    const before = match ? [match.sum.result, ...node.operands] : node.operands;
    const missing = done.has(node) ? [] : before.filter((t) => !done.has(t));
    if (missing.length > 0) {
      waiting.push(...missing);
      continue;
    }
    waiting.pop();
    if (!done.has(node))
      done.set(
        node,
        inPlaceOf(node, () => make(node!, match)),
      );
  }
  return mapRoots(program, (root) => done.get(root)!);
}

/** A sum of the rows of (g·vᵀ)∘w, and the product w·v, but for factors of rows. */
interface Found {
  /** g·vᵀ. */
  readonly product: Tensor;
  readonly sum: WeightedSum;
  /** Factors of rows of the one, not of the other. */
  readonly times: readonly Tensor[];
  readonly over: readonly Tensor[];
}

/** Weighted sums over the last axis of their weights, by what they sum. */
function sumsByOther(order: readonly Tensor[]): Map<Tensor, WeightedSum[]> {
  const sums = new Map<Tensor, WeightedSum[]>();
  for (const t of order)
    for (const side of [0, 1]) {
      const sum = readWeightedSum(t, side);
      if (sum?.along !== (sum?.weights.rank ?? 0) - 1 || !sum) continue;
      sums.set(sum.other, [...(sums.get(sum.other) ?? []), sum]);
    }
  return sums;
}

function foundIn(node: Tensor, sums: ReadonlyMap<Tensor, WeightedSum[]>): Found | undefined {
  const x = node.operands[0];
  if (node.op !== "reduceSum" || node.dtype !== "f32") return undefined;
  if (`${node.attrs.axes}` !== `${x!.rank - 1}`) return undefined;
  const factors = factorsOf(x!);
  for (const product of factors) {
    if (!isScoreProduct(product, x!.shape)) continue;
    const rest = parted(factors.filter((f) => f !== product));
    if (factors.length !== rest.own.length + rest.rows.length + 1) continue;
    for (const sum of sums.get(product.operands[1]!) ?? []) {
      const weights = parted(factorsOf(sum.weights));
      if (!sameSet(rest.own, weights.own) || !sameOther(product, sum)) continue;
      const over = without(weights.rows, rest.rows);
      if (!over.every((f) => isInverseTotal(f, sum.weights)) || isMadeOf(sum.result, node))
        continue;
      return { product, sum, times: without(rest.rows, weights.rows), over };
    }
  }
  return undefined;
}

/**
 * What is multiplied; a condition stands for the factor that is 1 where it holds and 0 elsewhere.
 * Of too many factors only the product.
 */
function factorsOf(t: Tensor): Tensor[] {
  const out: Tensor[] = [];
  const waiting = [t];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [x, y, otherwise] = next.operands;
    const chooses = next.op === "select" && numberOf(otherwise!) === 0;
    if (next.op === "mul") waiting.push(y!, x!);
    else if (chooses) waiting.push(y!);
    out.push(...(chooses ? [x!] : next.op === "mul" ? [] : [next]));
    if (out.length + waiting.length > searches.factorsOfProduct) return [t];
  }
  return out;
}

/** Factors, and of those that are the same along the last axis, what is repeated. */
function parted(factors: readonly Tensor[]): { own: Tensor[]; rows: Tensor[] } {
  const ofRows = (f: Tensor) => (f.dtype === "f32" ? overLast(f) : undefined);
  const own = factors.filter((f) => !ofRows(f));
  return { own, rows: factors.flatMap((f) => ofRows(f) ?? []) };
}

/** What one list has more often than another. */
function without(list: readonly Tensor[], other: readonly Tensor[]): Tensor[] {
  const left = [...other];
  return list.filter((t) => {
    const at = left.indexOf(t);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** 1/total of the softmax in some weights, by which one can divide: any other factor may be 0. */
const isInverseTotal = (f: Tensor, weights: Tensor): boolean =>
  f.op === "reciprocal" && f.operands[0] === softmaxIn(weights)?.softmax.divisor;

function sameSet(a: readonly Tensor[], b: readonly Tensor[]): boolean {
  const ids = (list: readonly Tensor[]): string => `${list.map((t) => t.id).sort((x, y) => x - y)}`;
  return a.length > 0 && ids(a) === ids(b);
}

/** True if the product g·vᵀ reads v along the axes along which the sum does. */
function sameOther(product: Tensor, sum: WeightedSum): boolean {
  const [, v] = sidesOf(product);
  const sides = sidesOf(sum.result);
  const [own, other] = sum.otherSide === "b" ? sides : [sides[1], sides[0]];
  const byAxis = own.batch.map((axis, i) => [axis, other.batch[i]!] as const);
  return (
    `${freeOf(v)}` === `${other.contract}` &&
    `${v.contract}` === `${freeOf(other)}` &&
    v.batch.length === byAxis.length &&
    byAxis.every(([axis, at]) => v.batch[axis] === at)
  );
}

function taken({ product, sum, times, over }: Found, now: (t: Tensor) => Tensor): Tensor {
  const [g] = sidesOf(product);
  const mine = turned(now(g.of), [...g.batch, ...freeOf(g), ...g.contract]);
  const last = sum.weights.rank - 1;
  const place = [...sum.weights.shape.keys()].slice(0, last);
  const result = turned(
    now(sum.result),
    [...place, -1].map((axis) => sum.axes.indexOf(axis)),
  );
  let total = build("reduceSum", [build("mul", [mine, result])], { axes: [last] });
  for (const f of times) total = build("mul", [total, now(f)]);
  for (const f of over) total = build("div", [total, now(f)]);
  return total;
}

const turned = (t: Tensor, perm: readonly number[]): Tensor =>
  perm.every((axis, i) => axis === i) ? t : build("transpose", [t], { perm });
