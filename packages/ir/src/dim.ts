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
  byOrder,
  type Compound,
  compound,
  constantTerm,
  type Dim,
  DimExpr,
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
} from "./dim-expr.ts";
import { checkOptions, type OptionNames, ShapeError } from "./errors.ts";

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

export interface DimBounds {
  /** 1 unless given. */
  readonly min?: number;
  /** None unless given. */
  readonly max?: number;
}

const dimBounds: OptionNames<DimBounds> = { min: 1, max: 1 };

/**
 * A symbol for a size, `min ≤ name ≤ max`; by default 1 or more. `torch.export.Dim`.
 *
 * @param name The name of the symbol: equal names are equal sizes.
 * @example
 *   const x = input("x", "f32", [dim("N", { max: 64 }), 784]);
 *   printShape(x.shape) // "[N,784]"
 */
export function dim(name: string, bounds: DimBounds = {}): DimExpr {
  const { min = 1, max = Infinity } = checkOptions("dim", bounds, dimBounds);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new ShapeError(`dim: "${name}" is not an identifier`);
  if (!(min >= 0 && min <= max && Number.isInteger(min)))
    throw new ShapeError(`dim: bounds of ${name} are not 0 ≤ min ≤ max: ${min}, ${max}`);
  return ofAtom({ kind: "symbol", name, min, max, key: `${name}${rangeText(min, max)}` });
}

/** What tells a symbol from one of the same name that is 1 or more. */
function rangeText(min: number, max: number): string {
  const least = min === 1 ? "" : `>=${min}`;
  return max === Infinity ? least : `${least}<=${max}`;
}

/** A loop variable: 0 ≤ name < extent. */
export function loopVar(name: string, extent: Dim): DimExpr {
  const max = Math.max(0, maxOfDim(extent) - 1);
  return ofAtom({ kind: "symbol", name, min: 0, max, extent, key: name });
}

/** An integer that is no extent; by default nothing is known of it. */
export const anyInteger = (name: string, min = -Infinity, max = Infinity): DimExpr =>
  ofAtom({ kind: "symbol", name, min, max, key: name });

/** Terms that may repeat, in any order, as one canonical sum: most factors first, then by key. */
function build(terms: Term[]): Dim {
  if (terms.length === 1) return ofTerm(terms[0]!);
  const kept = merged(terms);
  if (kept.length < 2) return kept[0] ? ofTerm(kept[0]) : 0;
  const joined = kept.some((t) => t.atoms.some((a) => a.kind === "mod"))
    ? recombine(kept)
    : undefined;
  if (joined !== undefined) return joined;
  kept.sort(byOrder);
  return new DimExpr(kept);
}

/**
 * k·c·⌊x/c⌋ + k·(x mod c) = k·x, wherever both terms stand in one sum. What was x mod c may also
 * be a remainder of x by a multiple of c, of which the quotient still tells.
 */
function recombine(terms: readonly Term[]): Dim | undefined {
  for (const [i, t] of terms.entries()) {
    for (const [p, m] of t.atoms.entries()) {
      if (m.kind !== "mod") continue;
      const rest = productOf(
        t.coeff,
        t.atoms.filter((_, q) => q !== p),
      );
      const scale = mulDim(rest, m.rhs);
      for (const x of [m.lhs, ...remaindersOf(m, terms)]) {
        const quotient = mulDim(scale, floorDiv(x, m.rhs));
        // A quotient of several terms (⌊x/c⌋ itself simplified) is looked for term by term.
        const found = termsOf(quotient).map((w) => terms.findIndex((u) => sameTerm(u, w)));
        if (found.length === 0 || found.includes(-1) || found.includes(i)) continue;
        const others = terms.filter((_, q) => q !== i && !found.includes(q));
        return addDim(build(others), mulDim(rest, x));
      }
    }
  }
  return undefined;
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
  return typeof b === "number" ? addConstant(a, b) : build([...a.terms, ...b.terms]);
}

/** The constant is the last term. */
function addConstant(d: DimExpr, n: number): Dim {
  if (n === 0) return d;
  const last = d.terms.at(-1)!;
  if (last.atoms.length > 0) return new DimExpr([...d.terms, constantTerm(n)]);
  const rest = d.terms.slice(0, -1);
  const sum = last.coeff + n;
  if (sum !== 0) rest.push(constantTerm(sum));
  return rest.length === 1 ? ofTerm(rest[0]!) : new DimExpr(rest);
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
export const subDim = (a: Dim, b: Dim): Dim => addDim(a, negDim(b));

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
  return n === 1 ? d : new DimExpr(d.terms.map((t) => ({ ...t, coeff: t.coeff * n })));
}

/** Whether a quotient, remainder, minimum or maximum has the symbol: no sum is linear in it. */
const holdsInside = (a: Atom, name: string): boolean =>
  a.kind !== "symbol" && (symbolsIn(a.lhs).has(name) || symbolsIn(a.rhs).has(name));

/** True only if d ≥ 0 can be proved from the bounds of its symbols. */
export function isNonNegative(d: Dim, depth = 4): boolean {
  if (minOfDim(d) >= 0) return true;
  if (typeof d === "number" || depth === 0) return false;
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
export const provablyLess = (a: Dim, b: Dim): boolean => isNonNegative(subDim(subDim(b, a), 1));

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
  let [quotient, rest]: [Dim, Dim] = [0, 0];
  for (const t of termsOf(e)) {
    if (t.atoms.length === 0 && typeof c === "number") {
      quotient = addDim(quotient, Math.floor(t.coeff / c));
      rest = addDim(rest, t.coeff - Math.floor(t.coeff / c) * c);
      continue;
    }
    const q = divideTerm(t, c);
    if (q === undefined) rest = addDim(rest, build([t]));
    else quotient = addDim(quotient, q);
  }
  return { quotient, rest };
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
