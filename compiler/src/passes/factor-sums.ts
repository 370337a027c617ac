/**
 * Takes out of sums what is the same in all of their terms, where several sums are then one, and
 * what is centred: Σ (a + c·(x − m)) = Σ a + c·(Σx − n·m), with m the mean of x. In the gradient of
 * a norm the sum of what comes back waited for another sum, and memory was read once more.
 *
 * before:
 *   graph f(%g: f32[2048,2], %x: f32[2048,2], %w: f32[2], %v: f32[2]) {
 *     %1: f32[2048,2] = broadcastInDim %w {dims=[1]}
 *     %2: f32[2048,2] = mul %g %1
 *     %3: f32[2] = reduceSum %2 {axes=[0]}
 *     %4: f32[2048,2] = broadcastInDim %v {dims=[1]}
 *     %5: f32[2048,2] = mul %4 %g
 *     %6: f32[2] = reduceSum %5 {axes=[0]}
 *     return %3, %6
 *   }
 * after:
 *   graph f(%g: f32[2048,2], %x: f32[2048,2], %w: f32[2], %v: f32[2]) {
 *     %1: f32[2] = reduceSum %g {axes=[0]}
 *     %2: f32[2] = mul %1 %w
 *     %3: f32[2] = mul %1 %v
 *     return %2, %3
 *   }
 *
 * Products are rounded elsewhere, so a target asks for this pass if it wants it. A sum of terms
 * that may cancel is not taken apart: what is centred adds up to the rounding of its mean, taken
 * out or not. For f32 alone, and known extents, and not for few terms.
 */
import { isStatic, reducedAxes, type Shape, sizeOf, type Tensor } from "@kiln-ml/ir";
import { factoredSums } from "../machine/splits.ts";
import type { Pass } from "../pass.ts";
import { nodesOf, type Program, rewriteProgram } from "../program.ts";
import { build } from "../rules/match.ts";
import { uniform } from "../rules/uniform.ts";
import { searches } from "../sizes.ts";
import { sameAlong, sumIn } from "./about-mean.ts";

const { leastElements } = factoredSums;

export const factorSums: Pass = { name: "factor-sums", reassociates: true, run };

/** How often a product is summed, and its factors in the order in which they were met first. */
interface Met {
  times: number;
  readonly factors: readonly Tensor[];
}

function run(program: Program): Program {
  const found = new Map<Tensor, Factored>();
  const met = new Map<string, Met>();
  const metIn = (sum: Tensor): Met => met.get(keyOf(found.get(sum)!.rest, reducedAxes(sum)))!;
  for (const sum of nodesOf(program)) {
    if (!isSum(sum)) continue;
    const seen = factored(sum);
    const { rest } = seen;
    const key = keyOf(rest, reducedAxes(sum));
    found.set(sum, seen);
    met.set(key, met.get(key) ?? { times: 0, factors: rest.factors });
    metIn(sum).times++;
  }
  const done = new Map<Tensor, Tensor>();
  return rewriteProgram(program, (node, before) => {
    const result = inParts(node, before);
    done.set(before, result);
    return result;
  });

  function inParts(node: Tensor, before: Tensor): Tensor {
    const seen = found.get(before);
    if (!seen) return node;
    const { times, factors } = metIn(before);
    const shared = seen.rest.same.length > 0 && times > 1;
    if (!shared && seen.centred.length === 0) return node;
    return rebuilt(node, { ...seen, rest: { ...seen.rest, factors } }, (t) => done.get(t)!);
  }
}

function isSum(node: Tensor): boolean {
  if (node.op !== "reduceSum" || node.dtype !== "f32") return false;
  const size = sizeOf(node.operands[0]!.shape);
  return isStatic(size) && size >= leastElements;
}

/**
 * A product, of nodes of the program as it was: a sum among them may have been taken apart since,
 * and is then no product of as many factors.
 */
interface Product {
  /** What differs between terms. */
  readonly factors: readonly Tensor[];
  /** What does not, in the operand's shape. */
  readonly same: readonly Tensor[];
  readonly negative: boolean;
}

/** c·(x − m), of which Σx is known: it has been added up for m, here in the operand's shape. */
interface Centred extends Product {
  readonly sum: Tensor;
  readonly mean: Tensor;
}

/** What a sum adds up: one product, and what is centred. */
interface Factored {
  readonly rest: Product;
  readonly centred: readonly Centred[];
}

/** What is added, or subtracted. */
interface Term {
  readonly t: Tensor;
  readonly negative: boolean;
}

/** The operand of a sum as centred products and a rest, which is all of it where none is. */
function factored(node: Tensor): Factored {
  const axes = reducedAxes(node);
  const whole = { t: node.operands[0]!, negative: false };
  const read = (term: Term): Product => productOf(term, axes, node.shape);
  const terms = termsOf(whole);
  const centred = terms.map((term) => centredIn(read(term), axes, node.shape));
  const others = terms.filter((_, i) => !centred[i]);
  const found = centred.filter((c) => c !== undefined);
  if (found.length === 0 || others.length !== 1) return { rest: read(whole), centred: [] };
  return { rest: read(others[0]!), centred: found };
}

/** What is added up, by additions and signs alone. */
function termsOf(whole: Term): Term[] {
  const terms: Term[] = [];
  const left = [whole];
  for (let next = left.pop(); next; next = left.pop()) {
    const { t, negative } = next;
    if (t.op === "add") left.push(...[...t.operands].reverse().map((o) => ({ t: o, negative })));
    else if (t.op === "neg") left.push({ t: t.operands[0]!, negative: !negative });
    else terms.push(next);
    if (terms.length > searches.termsOfSum) return [whole];
  }
  return terms;
}

function productOf(term: Term, axes: readonly number[], shape: Shape): Product {
  const [factors, same]: Tensor[][] = [[], []];
  let { negative } = term;
  const left = [term.t];
  for (let next = left.pop(); next; next = left.pop()) {
    if (sameAlong(next, axes, shape)) same!.push(next);
    else if (next.op === "neg") {
      negative = !negative;
      left.push(next.operands[0]!);
    } else if (next.op === "mul" && factors!.length + left.length < searches.factorsOfProduct)
      left.push(...[...next.operands].reverse());
    else factors!.push(next);
  }
  return { factors: factors!, same: same!, negative };
}

/** A product of one factor, x less the mean of x. */
function centredIn(product: Product, axes: readonly number[], shape: Shape): Centred | undefined {
  const [d, ...more] = product.factors;
  if (d?.op !== "sub" || more.length > 0) return undefined;
  const [x, mean] = d.operands as [Tensor, Tensor];
  const value = sameAlong(mean, axes, shape);
  const sum = value && sumIn(value, x, axes);
  return sum ? { ...product, sum, mean } : undefined;
}

const keyOf = ({ factors }: Product, axes: readonly number[]): string =>
  `${factors.map((t) => t.id).sort((a, b) => a - b)} over ${axes}`;

const times = (a: Tensor, b: Tensor): Tensor => build("mul", [a, b]);
const signed = (t: Tensor, { negative }: Product): Tensor => (negative ? build("neg", [t]) : t);

/** The sum of the rest times what is the same in it, and of what is centred, of nodes as `now`. */
function rebuilt(
  node: Tensor,
  { rest, centred }: Factored,
  now: (before: Tensor) => Tensor,
): Tensor {
  const axes = reducedAxes(node);
  const one = (same: Tensor): Tensor => sameAlong(now(same), axes, node.shape)!;
  const [first, ...more] = rest.factors.map(now);
  const count = axes.reduce((n, axis) => n * (node.operands[0]!.shape[axis] as number), 1);
  const counts = uniform(count, node.dtype, node.shape);
  const sum = first ? build("reduceSum", [more.reduce(times, first)], { axes }) : counts;
  const value = signed(rest.same.map(one).reduce(times, sum), rest);
  return centred.reduce((total, c) => {
    const left = build("sub", [now(c.sum), times(counts, one(c.mean))]);
    return build("add", [total, signed(c.same.map(one).reduce(times, left), c)]);
  }, value);
}
