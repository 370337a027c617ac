/**
 * Proofs that an integer expression is at least 0, given others that are: a search that replaces
 * what pulls it down by what is surely not greater. Proves or does not; never guesses, and a test
 * tries what it proves on numbers.
 */
import {
  type Atom,
  addDim,
  type Dim,
  type DimExpr,
  type DimSymbol,
  divideTerm,
  floorDiv,
  keyOfDim,
  maxOfDim,
  minOfDim,
  mulDim,
  negDim,
  ofAtom,
  ofOneTerm,
  subDim,
  type Term,
} from "@kiln-ml/ir";

/** Expressions that a proof looks at, at most, and ways that it splits after each other. */
const [mostTried, mostSplits] = [200, 3];

/**
 * True if it is proved that d ≥ 0: a search for an expression that is surely not greater than d and
 * has no negative value. Those of few terms and few steps first; each once, in whatever order facts
 * lead to it.
 */
export const isProved = (d: Dim, facts: readonly Dim[]): boolean =>
  follows(d, facts, mostSplits, { left: mostTried });

interface Tried {
  left: number;
}

interface Found {
  readonly d: DimExpr;
  readonly steps: number;
}

function follows(d: Dim, facts: readonly Dim[], splits: number, tried: Tried): boolean {
  if (minOfDim(d) >= 0) return true;
  if (typeof d === "number" || maxOfDim(d) < 0) return false;
  const factors = degreeOf(d) + 1;
  const found = new Map([[d.key, d]]);
  const byCost: Found[][] = [[{ d, steps: 0 }]];
  const rest = { left: tried.left / 2 };
  for (let from = takeFrom(byCost); from; from = takeFrom(byCost))
    for (const to of lesser(from.d, facts)) {
      if (minOfDim(to) >= 0) return true;
      if (typeof to === "number" || maxOfDim(to) < 0 || found.has(to.key)) continue;
      if (degreeOf(to) > factors) continue;
      if (rest.left-- <= 0 || tried.left-- <= 0) break;
      found.set(to.key, to);
      const steps = from.steps + 1;
      const cost = to.terms.length + steps;
      byCost[cost] = [...(byCost[cost] ?? []), { d: to, steps }];
    }
  return splits > 0 && [...found.values()].some((x) => eachWay(x, facts, splits - 1, tried));
}

/** Factors of a term, at most. */
const degreeOf = (d: DimExpr): number => Math.max(...d.terms.map((t) => t.atoms.length));

/** One of those that cost least, the first found. */
const takeFrom = (byCost: readonly Found[][]): Found | undefined =>
  byCost.find((list) => list && list.length > 0)?.shift();

/** min(a, b) is a or b, and max(a, b) too, where neither alone is a bound. */
const eachWay = (d: DimExpr, facts: readonly Dim[], splits: number, tried: Tried): boolean =>
  d.terms.some(
    (t) =>
      tried.left > 0 &&
      eitherOf(t)?.every((way) => follows(replaced(d, t, way), facts, splits, tried)),
  );

/** Expressions that are not greater than d. */
function* lesser(d: DimExpr, facts: readonly Dim[]): Generator<Dim> {
  for (const t of d.terms) for (const to of lowerOf(t)) yield replaced(d, t, to);
  for (const f of facts) {
    for (const times of timesIn(d, f)) {
      const to = subDim(d, mulDim(f, times));
      // What makes terms of more factors helps only where it takes as many away.
      if (typeof times === "number" || termsIn(to) <= d.terms.length) yield to;
    }
    for (const t of d.terms) for (const to of quotientsBy(t, f)) yield replaced(d, t, to);
  }
  for (const t of d.terms) for (const to of extremeOf(t)) yield replaced(d, t, to);
}

const termsIn = (d: Dim): number => (typeof d === "number" ? 1 : d.terms.length);

/** How often a fact can be taken out of d so that a term that pulls d down is gone. */
function timesIn(d: DimExpr, fact: Dim): Dim[] {
  if (typeof fact === "number") return [];
  const found = new Map<string, Dim>();
  for (const t of d.terms) {
    if (t.coeff > 0) continue;
    for (const u of fact.terms) {
      if (u.coeff >= 0 || (t.atoms.length === 0 && u.atoms.length > 0)) continue;
      const times = divideTerm(t, ofOneTerm(u));
      if (times !== undefined && minOfDim(times) >= 0 && times !== 0)
        found.set(keyOfDim(times), times);
    }
  }
  return [...found.values()];
}

const replaced = (d: DimExpr, t: Term, to: Dim): Dim => {
  const rest = subDim(d, ofOneTerm(t));
  return typeof to === "number" && typeof rest === "number" ? rest + to : subDim(rest, negDim(to));
};

/** What a term is without one of its factors. */
const withoutAtom = ({ coeff, atoms }: Term, i: number): Dim =>
  atoms.reduce<Dim>((p, a, j) => (j === i ? p : mulDim(p, ofAtom(a))), coeff);

/** What a term is surely not less than, each of them. */
function lowerOf(t: Term): Dim[] {
  for (const [i, a] of t.atoms.entries()) {
    if (a.kind === "symbol") continue;
    const factor = withoutAtom(t, i);
    const [up, down] = [minOfDim(factor) >= 0, maxOfDim(factor) <= 0];
    const sides = (): Dim[] => [a.lhs, a.rhs].map((side) => mulDim(factor, side));
    if ((a.kind === "min" && down) || (a.kind === "max" && up)) return sides();
    if (a.kind === "mod" && down)
      return [mulDim(factor, subDim(a.rhs, 1)), ...(minOfDim(a.lhs) >= 0 ? [sides()[0]!] : [])];
    if (a.kind === "div" && (up || down)) return quotients(a, factor, down);
  }
  return [];
}

/** What factor·⌊x/c⌋ is not less than, for a factor of one sign. */
function quotients({ lhs, rhs }: Exclude<Atom, DimSymbol>, factor: Dim, down: boolean): Dim[] {
  const c = exactly(factor, rhs);
  // ⌊x/c⌋·c ≤ x and ⌊x/c⌋·c ≥ x − c + 1.
  if (!down)
    return c === undefined || minOfDim(rhs) < 1 ? [] : [mulDim(c, subDim(lhs, subDim(rhs, 1)))];
  const whole = c !== undefined && minOfDim(lhs) >= 0 ? [mulDim(c, lhs)] : [];
  return [...whole, ...greater(lhs).map((x) => mulDim(factor, floorDiv(x, rhs)))];
}

/** d / c if d is one term and c divides it. */
function exactly(d: Dim, c: Dim): Dim | undefined {
  if (typeof d !== "number") return d.terms.length === 1 ? divideTerm(d.terms[0]!, c) : undefined;
  return typeof c === "number" && d % c === 0 ? d / c : undefined;
}

/** With each minimum for either of its sides: what d is not greater than. */
const greater = (d: Dim): Dim[] =>
  typeof d === "number"
    ? []
    : d.terms.flatMap((t) => {
        const [a] = t.atoms;
        if (t.coeff < 0 || t.atoms.length !== 1 || a?.kind !== "min") return [];
        return [a.lhs, a.rhs].map((side) => replaced(d, t, mulDim(side, t.coeff)));
      });

/** −⌊x/c⌋ ≥ −⌊(x + f)/c⌋ for a fact f ≥ 0, if that leaves few terms. */
function quotientsBy(t: Term, fact: Dim): Dim[] {
  const out: Dim[] = [];
  for (const [i, a] of t.atoms.entries()) {
    if (a.kind !== "div" || typeof a.lhs === "number") continue;
    const factor = withoutAtom(t, i);
    if (maxOfDim(factor) > 0) continue;
    for (const times of timesIn(negDim(a.lhs) as DimExpr, fact)) {
      const above = addDim(a.lhs, mulDim(fact, times));
      if (termsIn(above) > a.lhs.terms.length + 1) continue;
      out.push(mulDim(factor, floorDiv(above, a.rhs)));
    }
  }
  return out;
}

/** A product is not less than it is with a factor of a known range at its end: −k·N ≥ −2·N for k ≤ 2. */
function extremeOf(t: Term): Dim[] {
  if (t.atoms.length < 2) return [];
  return t.atoms.flatMap((a, i) => {
    if (a.kind !== "symbol") return [];
    const factor = withoutAtom(t, i);
    const end = minOfDim(factor) >= 0 ? a.min : maxOfDim(factor) <= 0 ? a.max : Infinity;
    return Number.isFinite(end) ? [mulDim(factor, end)] : [];
  });
}

/** The values of which a term has one, if each way has to be looked at. */
function eitherOf(t: Term): Dim[] | undefined {
  const i = t.atoms.findIndex((a) => a.kind === "min" || a.kind === "max");
  const a = t.atoms[i];
  if (!a || a.kind === "symbol") return undefined;
  const factor = withoutAtom(t, i);
  return [mulDim(factor, a.lhs), mulDim(factor, a.rhs)];
}
