/**
 * Index expressions as text. Every sum is split by the block its terms are bound in: what does not
 * depend on the inner loop variable becomes a named constant outside that loop.
 */
import {
  addDim,
  type Condition,
  type Dim,
  DimExpr,
  isNonNegative,
  maxOfDim,
  mulDim,
  ofOneTerm,
  symbolOf,
  symbolsIn,
} from "@kiln-ml/ir";
import type { Emitter } from "./emitter.ts";
import { prec, type Scope, type Value } from "./scope.ts";

type Term = DimExpr["terms"][number];
type Factor = Term["atoms"][number];

/** The text of `d` here; parts that are known further out are bound there. */
export function indexText<V extends Value, L>(e: Emitter<V, L>, dim: Dim): V {
  const d = e.resolved(dim);
  if (typeof d === "number") return e.language.integer(d);
  const depths = d.terms.map((t) => (t.atoms.length === 0 ? -1 : e.depthOfTerm(t)));
  const constant = depths.at(-1) === -1 ? d.terms.at(-1)!.coeff : 0;
  let outer: V | undefined;
  for (let depth = next(depths, -1); depth < Infinity; depth = next(depths, depth)) {
    const terms = d.terms.filter((_, i) => depths[i] === depth);
    if (depth === e.scope.depth) return sumText(e, outer, terms, constant);
    outer = boundSum(e, depth, outer, terms, () => partOf(d, depths, depth));
  }
  return sumText(e, outer, [], constant);
}

/**
 * A place in memory. A number below 0, which a language may refuse, stands only in a loop over
 * nothing.
 */
export function placeText(e: Emitter, dim: Dim): string {
  const d = e.resolved(dim);
  return indexText(e, typeof d === "number" ? Math.max(0, d) : d).text;
}

const next = (depths: readonly number[], after: number): number => {
  let least = Infinity;
  for (const depth of depths) if (depth > after && depth < least) least = depth;
  return least;
};

/** The terms that are known in the block at `depth`. */
const partOf = (d: DimExpr, depths: readonly number[], depth: number): DimExpr =>
  new DimExpr(d.terms.filter((_, i) => depths[i]! >= 0 && depths[i]! <= depth));

/** The name of `outer + terms` in the block at `depth`, bound there now if it was not. */
function boundSum<V extends Value, L>(
  e: Emitter<V, L>,
  depth: number,
  outer: V | undefined,
  terms: readonly Term[],
  part: () => DimExpr,
): V {
  const [first] = terms;
  const only = !outer && terms.length === 1 && first!.coeff === 1 && first!.atoms.length === 1;
  if (only && first!.atoms[0]!.kind === "symbol") return e.findSymbol(first!.atoms[0]!.name).text;
  return e.at(depth, () => {
    const sum = part();
    const key = sum.key;
    const known = knownIndex(e, key);
    if (known) return known;
    return bindIndex(e, key, sumText(e, outer, terms, 0), atName(sum), false);
  });
}

function knownIndex<V extends Value, L>(e: Emitter<V, L>, key: string): V | undefined {
  for (let s: Scope<V, L> | undefined = e.scope; s; s = s.parent) {
    const name = s.indices.get(key);
    if (name) return e.language.named(name, 1);
  }
  return undefined;
}

/** The name of `value`, bound here; an atom is what it is, but for what is `long`. */
function bindIndex<V extends Value, L>(
  e: Emitter<V, L>,
  key: string,
  value: V,
  base: string,
  long: boolean,
): V {
  if (value.prec === prec.atom && !long) return value;
  const name = e.fresh(base);
  e.line(e.language.declare(name, value, "index"));
  e.scope.indices.set(key, name);
  return e.language.named(name, 1);
}

/** `atRow` for a sum whose innermost loop variable is row; `size` for one of dims only. */
function atName(d: Dim): string {
  const loops = [...symbolsIn(d).values()].filter((s) => s.extent !== undefined);
  const last = loops.length ? spoken(loops.at(-1)!.name) : undefined;
  return last === undefined ? "size" : `at${last[0]!.toUpperCase()}${last.slice(1)}`;
}

function sumText<V extends Value, L>(
  e: Emitter<V, L>,
  outer: V | undefined,
  terms: readonly Term[],
  constant: number,
): V {
  // Positive terms first, so that a sum does not open with a minus where it need not.
  const ordered = [...terms.filter((t) => t.coeff > 0), ...terms.filter((t) => t.coeff < 0)];
  let sum = outer;
  for (const t of ordered) {
    const product = productText(e, Math.abs(t.coeff), t.atoms);
    if (!sum) sum = t.coeff < 0 ? e.language.negate(product) : product;
    else sum = plus(e, sum, product, t.coeff < 0);
  }
  if (!sum) return e.language.integer(constant);
  return constant === 0 ? sum : plus(e, sum, e.language.integer(Math.abs(constant)), constant < 0);
}

const plus = <V extends Value, L>(e: Emitter<V, L>, a: V, b: V, minus: boolean): V =>
  minus ? e.language.subtract(a, b) : e.language.add(a, b);

/**
 * Factors are multiplied outermost first, so that `i * 4`, not `4 * i`, and loop variables lead.
 */
function productText<V extends Value, L>(
  e: Emitter<V, L>,
  coeff: number,
  atoms: readonly Factor[],
): V {
  const loops = atoms.filter((a) => a.kind !== "symbol" || a.extent !== undefined);
  const sizes = atoms.filter((a) => !loops.includes(a));
  const factors = [...loops, ...sizes].map((a) => factorText(e, a));
  if (coeff !== 1 || factors.length === 0) factors.push(e.language.integer(coeff));
  return factors.reduce((a, b) => e.language.multiply(a, b));
}

function factorText<V extends Value, L>(e: Emitter<V, L>, a: Factor): V {
  if (a.kind === "symbol") return e.findSymbol(a.name).text;
  const depth = e.depthOfAtom(a);
  return e.at(depth, () => {
    const known = knownIndex(e, a.key);
    if (known) return known;
    const [lhs, rhs] = [indexText(e, a.lhs), indexText(e, a.rhs)];
    if (a.kind === "min" || a.kind === "max") {
      const picked = e.language.pick(a.kind, lhs, rhs);
      return bindIndex(e, a.key, picked, a.kind === "min" ? "least" : "most", true);
    }
    const safe = isNonNegative(a.lhs);
    const value =
      a.kind === "div" ? e.language.divide(lhs, rhs, safe) : e.language.remainder(lhs, rhs, safe);
    return bindIndex(e, a.key, value, quotientName(a), true);
  });
}

/**
 * The part of a name that may stand in other names: symbols that the emitter made begin with `=`.
 */
const spoken = (name: string): string => name.replace(/^=/, "");

/** `iDiv4`, `iMod4` where the parts are plain; `quotient`, `remainder` otherwise. */
function quotientName(a: Factor): string {
  if (a.kind === "symbol") return spoken(a.name);
  const lhs = symbolOf(a.lhs) && spoken(symbolOf(a.lhs)!.name);
  const rhs = typeof a.rhs === "number" ? String(a.rhs) : symbolOf(a.rhs)?.name;
  if (lhs && rhs) return `${lhs}${a.kind === "div" ? "Div" : "Mod"}${rhs}`;
  return a.kind === "div" ? "quotient" : "remainder";
}

/** A conjunction of conditions; those that always hold are left out. */
export function conditionsText<V extends Value, L>(
  e: Emitter<V, L>,
  conditions: readonly Condition[],
): V {
  const kept = conditions
    .map((c) => ({ value: e.resolved(c.value), test: c.test }))
    .filter((c) => !(c.test === "nonnegative" ? isNonNegative(c.value) : c.value === 0));
  const never = kept.some((c) =>
    c.test === "nonnegative" ? maxOfDim(c.value) < 0 : typeof c.value === "number",
  );
  if (never) return e.language.never;
  return e.language.all(kept.map((c) => conditionText(e, c)));
}

/**
 * value ≥ 0 is printed as a comparison of its positive with its negated negative terms: n − 1 − i ≥
 * 0 reads `i < n`, i + p − 1 ≥ 0 reads `i + p >= 1`.
 */
function conditionText<V extends Value, L>(e: Emitter<V, L>, c: Condition): V {
  let [plusPart, minusPart]: [Dim, Dim] = [0, 0];
  let constant = typeof c.value === "number" ? c.value : 0;
  for (const t of typeof c.value === "number" ? [] : c.value.terms) {
    if (t.atoms.length === 0) constant = t.coeff;
    else if (t.coeff > 0) plusPart = addDim(plusPart, ofOneTerm(t));
    else minusPart = addDim(minusPart, mulDim(ofOneTerm(t), -1));
  }
  const strict = c.test === "nonnegative" && constant === -1;
  if (!strict && constant > 0) plusPart = addDim(plusPart, constant);
  if (!strict && constant < 0) minusPart = addDim(minusPart, -constant);
  const [p, m] = [indexText(e, plusPart), indexText(e, minusPart)];
  const swap = typeof minusPart !== "number" || !e.language.greater;
  if (c.test === "zero") return e.language.compare("==", p, m);
  if (strict) return swap ? e.language.compare("<", m, p) : e.language.compare(">", p, m);
  return swap ? e.language.compare("<=", m, p) : e.language.compare(">=", p, m);
}
