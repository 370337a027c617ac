/**
 * Dims: integers, or integer polynomials over named symbols, with floor division and remainder.
 *
 * One algebra serves extents (`2*N+1`) and kernel index arithmetic (loop variables are symbols with
 * an extent). Expressions have one canonical sum-of-products form: equal forms have equal keys.
 * Decides nothing about layouts; `shape.ts` and the compiler do that.
 */
import {
  type Atom,
  atomOf,
  type Compound,
  compound,
  constantTerm,
  type Dim,
  DimExpr,
  isBounded,
  joined,
  maxOfDim,
  mentionedIn,
  mentions,
  merged,
  minOfDim,
  ofAtom,
  ofTerm,
  printDim,
  sameDim,
  sameTerm,
  symbolsIn,
  type Term,
  term,
  termsOf,
  withCoeff,
} from "./dim-expr.ts";
import { ShapeError } from "./errors.ts";

export {
  type Atom,
  collectSymbols,
  constantIn,
  type Dim,
  DimExpr,
  type DimSymbol,
  isStatic,
  keyOfDim,
  linearIn,
  maxOfDim,
  mentions,
  minOfDim,
  ofAtom,
  ofOneTerm,
  printDim,
  sameDim,
  symbolOf,
  symbolsIn,
  type Term,
} from "./dim-expr.ts";
export { anyInteger, type DimBounds, dim, loopVar } from "./dim-symbol.ts";

/** Terms that may repeat, in any order, as one canonical sum: most factors first, then by key. */
const build = (terms: readonly Term[]): Dim =>
  terms.length === 1 ? ofTerm(terms[0]!) : ofMerged(merged(terms));

/** The sum of terms that are merged and in order. */
function ofMerged(kept: readonly Term[]): Dim {
  if (kept.length < 2) return kept[0] ? ofTerm(kept[0]) : 0;
  return recombine(kept) ?? new DimExpr(kept);
}

/**
 * k·c·⌊x/c⌋ + k·(x mod c) = k·x, wherever both terms stand in one sum. What was x mod c may also
 * be a remainder of x by a multiple of c, of which the quotient still tells.
 */
function recombine(terms: readonly Term[]): Dim | undefined {
  for (let i = 0; i < terms.length; i++) {
    const t = terms[i]!;
    for (let p = 0; p < t.atoms.length; p++) {
      const m = t.atoms[p]!;
      if (m.kind !== "mod") continue;
      const found = wholeOf(terms, i, p, m);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The sum, if the remainder at this place of it and its quotient become one. */
function wholeOf(terms: readonly Term[], i: number, p: number, m: Compound): Dim | undefined {
  const own = quotientOf(m);
  const others = remaindersOf(m, terms);
  if (others.length === 0 && !mayHold(terms, own)) return undefined;
  const { coeff, atoms } = terms[i]!;
  const besides = atoms.filter((_, q) => q !== p);
  const rest = productOf(coeff, besides);
  const scale = mulDim(rest, m.rhs);
  for (const x of [m.lhs, ...others]) {
    const quotient = mulDim(scale, x === m.lhs ? own : floorDiv(x, m.rhs));
    // A quotient of several terms (⌊x/c⌋ itself simplified) is looked for term by term.
    const found = termsOf(quotient).map((w) => terms.findIndex((u) => sameTerm(u, w)));
    if (found.length === 0 || found.includes(-1) || found.includes(i)) continue;
    const left = terms.filter((_, q) => q !== i && !found.includes(q));
    return addDim(build(left), mulDim(rest, x));
  }
  return undefined;
}

const quotients = new WeakMap<Compound, Dim>();

/** ⌊x/c⌋ of x mod c: asked for wherever the remainder stands in a sum. */
function quotientOf(m: Compound): Dim {
  const made = quotients.get(m) ?? floorDiv(m.lhs, m.rhs);
  quotients.set(m, made);
  return made;
}

/** False if no term has the one atom that a quotient is. */
function mayHold(terms: readonly Term[], quotient: Dim): boolean {
  const atom = atomOf(quotient);
  if (!atom) return quotient !== 0;
  return terms.some(({ atoms }) => atoms.some((a) => a.key === atom.key));
}

/** The x = y mod a·c in quotients ⌊x/c⌋ of these terms, given y mod c. */
function remaindersOf({ lhs, rhs }: Compound, terms: readonly Term[]): Dim[] {
  const out: Dim[] = [];
  for (const { atoms } of terms)
    for (const q of atoms) {
      if (q.kind !== "div" || !sameDim(q.rhs, rhs)) continue;
      const x = atomOf(q.lhs);
      if (x?.kind === "mod" && sameDim(modDim(q.lhs, rhs), modDim(lhs, rhs))) out.push(q.lhs);
    }
  return out;
}

const productOf = (coeff: number, atoms: readonly Atom[]): Dim => build([term(coeff, atoms)]);

/**
 * `a` + `b` of extents: numbers, symbols or sums of them. No counterpart in PyTorch.
 * @example
 *   `${addDim(dim("N"), 1)}` // "N+1"
 */
export function addDim(a: Dim, b: Dim): Dim {
  if (typeof a === "number") return typeof b === "number" ? a + b : addConstant(b, a);
  if (typeof b === "number") return addConstant(a, b);
  return a.inOrder && b.inOrder
    ? ofMerged(joined(a.terms, b.terms))
    : build([...a.terms, ...b.terms]);
}

/** The constant is the last term. */
function addConstant(d: DimExpr, n: number): Dim {
  if (n === 0) return d;
  const last = d.terms.at(-1)!;
  if (last.atoms.length > 0) return new DimExpr([...d.terms, constantTerm(n)], d.inOrder);
  const rest = d.terms.slice(0, -1);
  const sum = last.coeff + n;
  if (sum !== 0) rest.push(constantTerm(sum));
  return rest.length === 1 ? ofTerm(rest[0]!) : new DimExpr(rest, d.inOrder);
}

/**
 * −`a` of an extent. No counterpart in PyTorch.
 * @example
 *   negDim(3) // −3
 */
export const negDim = (a: Dim): Dim => mulDim(a, -1);
/**
 * `a` − `b` of extents. No counterpart in PyTorch.
 * @example
 *   subDim(5, 2) // 3
 */
export const subDim = (a: Dim, b: Dim): Dim =>
  typeof b === "number" ? addDim(a, -b) : addDim(a, negDim(b));

/**
 * `a`·`b` of extents. No counterpart in PyTorch.
 * @example
 *   `${mulDim(dim("N"), 4)}` // "4*N"
 */
export function mulDim(a: Dim, b: Dim): Dim {
  if (typeof a === "number") return typeof b === "number" ? a * b : scaled(b, a);
  if (typeof b === "number") return scaled(a, b);
  const out: Term[] = [];
  for (const s of a.terms)
    for (const t of b.terms) {
      const atoms = [...s.atoms, ...t.atoms].sort((x, y) => (x.key < y.key ? -1 : 1));
      out.push(term(s.coeff * t.coeff, atoms));
    }
  return build(out);
}

/** The order of terms does not depend on their coefficients. */
function scaled(d: DimExpr, n: number): Dim {
  if (n === 0) return 0;
  return n === 1
    ? d
    : new DimExpr(
        d.terms.map((t) => withCoeff(t, t.coeff * n)),
        d.inOrder,
      );
}

/** Whether a quotient, remainder, minimum or maximum has the symbol: no sum is linear in it. */
const holdsInside = (a: Atom, name: string): boolean =>
  a.kind !== "symbol" && (symbolsIn(a.lhs).has(name) || symbolsIn(a.rhs).has(name));

/** True only if d ≥ 0 can be proved from the bounds of its symbols. */
export function isNonNegative(d: Dim, depth = 4): boolean {
  if (minOfDim(d) >= 0) return true;
  if (typeof d === "number" || depth === 0 || isBounded(d)) return false;
  // Put the worst value for a loop variable with a symbolic extent: 0 where it counts up, its last
  // where it counts down. Sound for terms that are linear in it.
  for (const t of d.terms)
    for (const a of t.atoms) {
      if (a.kind === "symbol" && a.extent !== undefined && typeof a.extent !== "number") {
        const parts = d.terms.filter((u) => u.atoms.some((x) => x.key === a.key));
        if (parts.some((u) => u.atoms.filter((x) => x.key === a.key).length > 1)) continue;
        if (d.terms.some((u) => u.atoms.some((x) => holdsInside(x, a.name)))) continue;
        const slope = build(
          parts.map((u) =>
            term(
              u.coeff,
              u.atoms.filter((x) => x.key !== a.key),
            ),
          ),
        );
        const worst = isNonNegative(slope, depth - 1)
          ? 0
          : isNonNegative(negDim(slope), depth - 1)
            ? subDim(a.extent, 1)
            : undefined;
        if (worst === undefined) continue;
        return isNonNegative(substitute(d, new Map([[a.name, worst]])), depth - 1);
      }
      // x mod c ≤ c − 1 and ⌊x/c⌋ ≤ (x)/c for symbolic c: the bound as an expression.
      if (a.kind === "mod" && t.coeff < 0 && t.atoms.length === 1) {
        const rest = subDim(d, build([t]));
        return isNonNegative(addDim(rest, mulDim(t.coeff, subDim(a.rhs, 1))), depth - 1);
      }
    }
  return false;
}

/** True only if a < b can be proved. */
export function provablyLess(a: Dim, b: Dim): boolean {
  if (maxOfDim(a) < minOfDim(b)) return true;
  if (typeof b === "number" && isBounded(a)) return false;
  return isNonNegative(subDim(subDim(b, a), 1));
}

/** t / c if the division is exact for every value of the symbols. */
export function divideTerm(t: Term, c: Dim): Dim | undefined {
  if (typeof c === "number") return t.coeff % c === 0 ? productOf(t.coeff / c, t.atoms) : undefined;
  if (c.terms.length !== 1) return undefined;
  const { coeff, atoms } = c.terms[0]!;
  if (t.coeff % coeff !== 0) return undefined;
  const left = [...t.atoms];
  for (const a of atoms) {
    const i = left.findIndex((x) => x.key === a.key);
    if (i < 0) return undefined;
    left.splice(i, 1);
  }
  return productOf(t.coeff / coeff, left);
}

/** e = c·quotient + rest, taking out every term that c divides exactly. */
function split(e: Dim, c: Dim): { quotient: Dim; rest: Dim } {
  const [taken, left]: [Term[], Term[]] = [[], []];
  for (const t of termsOf(e)) {
    if (t.atoms.length === 0 && typeof c === "number") {
      const times = Math.floor(t.coeff / c);
      if (times !== 0) taken.push(constantTerm(times));
      const over = t.coeff - times * c;
      if (over !== 0) left.push(times === 0 ? t : constantTerm(over));
      continue;
    }
    const q = divideTerm(t, c);
    if (q === undefined) left.push(t);
    else taken.push(...termsOf(q));
  }
  // Terms of a sum are merged and in order, and so are some of them.
  if (taken.length === 0) return { quotient: 0, rest: e };
  return { quotient: build(taken), rest: build(left) };
}

/** A common divisor g of c and of a part of e: e = g·high + low with 0 ≤ low < g. */
function commonFactor(e: Dim, c: Dim): { g: number; high: Dim; low: Dim } | undefined {
  if (typeof c !== "number") return undefined;
  const candidates = new Set<number>();
  for (const t of termsOf(e)) {
    const g = gcd(Math.abs(t.coeff), c);
    if (t.atoms.length && g > 1 && g < c) candidates.add(g);
  }
  for (const g of [...candidates].sort((a, b) => b - a)) {
    const { quotient, rest } = split(e, g);
    if (isNonNegative(rest) && provablyLess(rest, g)) return { g, high: quotient, low: rest };
  }
  return undefined;
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** An extent may be 0 or less: then there is no element whose index would be divided. */
function checkDivisor(op: string, c: Dim): void {
  if (maxOfDim(c) < 0) throw new ShapeError(`${op}: divisor ${printDim(c)} is negative`);
}

/**
 * ⌊`e` / `c`⌋ for c ≥ 1; 0 for c = 0, see `checkDivisor`. No counterpart in PyTorch.
 * @example
 *   floorDiv(7, 2) // 3
 */
export function floorDiv(e: Dim, c: Dim): Dim {
  if (c === 1) return e;
  if (c === 0) return 0;
  if (typeof e === "number" && typeof c === "number") return Math.floor(e / c);
  const { quotient, rest } = split(e, c);
  if (isNonNegative(rest) && provablyLess(rest, c)) return quotient;
  const f = commonFactor(rest, c);
  if (f) return addDim(quotient, floorDiv(f.high, (c as number) / f.g));
  const inner = atomOf(rest);
  if (inner?.kind === "div") return addDim(quotient, floorDiv(inner.lhs, mulDim(inner.rhs, c)));
  checkDivisor("floorDiv", c);
  return addDim(quotient, ofCompound(compound("div", rest, c)));
}

/**
 * `e` − c·⌊e / c⌋, in [0, c) for `c` ≥ 1. No counterpart in PyTorch.
 * @example
 *   modDim(7, 4) // 3
 */
export function modDim(e: Dim, c: Dim): Dim {
  if (c === 1 || c === 0) return 0;
  if (typeof e === "number" && typeof c === "number") return e - Math.floor(e / c) * c;
  const { rest } = split(e, c);
  if (isNonNegative(rest) && provablyLess(rest, c)) return rest;
  const f = commonFactor(rest, c);
  if (f) return addDim(mulDim(f.g, modDim(f.high, (c as number) / f.g)), f.low);
  const inner = atomOf(rest);
  // (x mod a·c) mod c = x mod c.
  if (inner?.kind === "mod" && sameDim(split(inner.rhs, c).rest, 0)) return modDim(inner.lhs, c);
  checkDivisor("mod", c);
  return ofAtom(compound("mod", rest, c));
}

/**
 * The less of two extents `a` and `b`. `torch.sym_min`.
 * @example
 *   minDim(2, 3) // 2
 */
export function minDim(a: Dim, b: Dim): Dim {
  if (isNonNegative(subDim(b, a))) return a;
  if (isNonNegative(subDim(a, b))) return b;
  return ofAtom(compound("min", a, b));
}

/**
 * The greater of two extents `a` and `b`. `torch.sym_max`.
 * @example
 *   `${maxDim(dim("N"), 4)}` // "max(N,4)"
 */
export function maxDim(a: Dim, b: Dim): Dim {
  if (isNonNegative(subDim(b, a))) return b;
  if (isNonNegative(subDim(a, b))) return a;
  return ofAtom(compound("max", a, b));
}

/**
 * ⌈`a`/`b`⌉ of extents. No counterpart in PyTorch.
 * @example
 *   ceilDiv(7, 2) // 4
 */
export const ceilDiv = (a: Dim, b: Dim): Dim => floorDiv(addDim(a, subDim(b, 1)), b);

/** An atom that has but one value is that value. */
const ofCompound = (c: Compound): Dim => (c.min === c.max ? c.min : ofAtom(c));

/** ⌊a/b⌋, a mod b, the lesser or the greater. */
export const applyAtom = (kind: Compound["kind"], a: Dim, b: Dim): Dim => functions[kind](a, b);
const functions = { div: floorDiv, mod: modDim, min: minDim, max: maxDim };

/** Replaces symbols by name. */
export function substitute(d: Dim, by: ReadonlyMap<string, Dim>): Dim {
  if (!mentions(d, by)) return d;
  const out: Term[] = [];
  for (const t of d.terms) {
    if (!mentionedIn(t.atoms, by)) {
      out.push(t);
      continue;
    }
    let product: Dim = t.coeff;
    for (const a of t.atoms) product = mulDim(product, substituteAtom(a, by));
    for (const u of termsOf(product)) out.push(u);
  }
  return build(out);
}

const substituteAtom = (a: Atom, by: ReadonlyMap<string, Dim>): Dim =>
  a.kind === "symbol"
    ? (by.get(a.name) ?? ofAtom(a))
    : functions[a.kind](substitute(a.lhs, by), substitute(a.rhs, by));
