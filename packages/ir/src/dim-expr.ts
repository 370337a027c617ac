/**
 * What a dim is: a canonical sum of products, its text, and what can be read off it. Computes no
 * new ones; `dim.ts` does, and gives out everything here as well.
 */
import { GraphError, ShapeError } from "./errors.ts";

export type Dim = number | DimExpr;

/**
 * A named integer. `extent`, for loop variables, says 0 ≤ value < extent even when the extent is
 * symbolic.
 */
export interface DimSymbol {
  readonly kind: "symbol";
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly extent?: Dim;
  readonly key: string;
}
export interface Compound {
  readonly kind: "div" | "mod" | "min" | "max";
  readonly lhs: Dim;
  readonly rhs: Dim;
  readonly min: number;
  readonly max: number;
  readonly key: string;
  /** How many compounds lie inside of each other, this one counted. */
  readonly height: number;
}
export type Atom = DimSymbol | Compound;
export interface Term {
  readonly coeff: number;
  readonly atoms: readonly Atom[];
  /** The atoms' keys, by which terms are ordered and merged. */
  readonly key: string;
}

/**
 * A symbolic integer. Built only by the functions below; compare with `sameDim`. What is derived is
 * derived once, when asked for. `torch.SymInt`.
 *
 * @param terms Products of symbols, with factors.
 * @param inOrder Whether they are merged and in order, as they are but in a text that is read.
 * @example
 *   const n = mulDim(dim("N"), 2);
 *   n instanceof DimExpr // true
 */
export class DimExpr {
  readonly terms: readonly Term[];
  readonly inOrder: boolean;
  #key: string | undefined;
  #bounds: readonly [number, number] | undefined;
  #symbols: ReadonlyMap<string, DimSymbol> | undefined;
  constructor(terms: readonly Term[], inOrder = true) {
    this.terms = terms;
    this.inOrder = inOrder;
  }
  get key(): string {
    this.#key ??= keyOfTerms(this.terms);
    return this.#key;
  }
  get min(): number {
    return this.#range()[0];
  }
  get max(): number {
    return this.#range()[1];
  }
  /** Every symbol, by name; loop extents are not entered. */
  get symbols(): ReadonlyMap<string, DimSymbol> {
    this.#symbols ??= symbolsOf(this.terms);
    return this.#symbols;
  }
  #range(): readonly [number, number] {
    this.#bounds ??= boundsOf(this.terms);
    return this.#bounds;
  }
  toString(): string {
    return printDim(this);
  }
  /**
   * Its text where a string is wanted; arithmetic and comparisons of JavaScript throw GraphError,
   * as for a tensor.
   */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === "string") return printDim(this);
    throw new GraphError(
      `dim: ${printDim(this)} is used as a number of JavaScript, which it is only at a run\n  use x.mul(d) or dimValue(d) in the graph, addDim, mulDim and floorDiv for extents, scan for loops, or declare a number`,
    );
  }
}

function keyOfTerms(terms: readonly Term[]): string {
  const [first] = terms;
  let key = `${first!.coeff}*${first!.key}`;
  for (let i = 1; i < terms.length; i++) key += `+${terms[i]!.coeff}*${terms[i]!.key}`;
  return key;
}

/** Asked for every sum that is made: nothing is allocated but the pair. */
function boundsOf(terms: readonly Term[]): [number, number] {
  let min = 0;
  let max = 0;
  for (const { coeff, atoms } of terms) {
    let lo = coeff;
    let hi = coeff;
    for (const a of atoms) {
      const p = times(lo, a.min);
      const q = times(lo, a.max);
      const r = times(hi, a.min);
      const s = times(hi, a.max);
      lo = Math.min(p, q, r, s);
      hi = Math.max(p, q, r, s);
    }
    min += lo;
    max += hi;
  }
  return [min, max];
}

function symbolsOf(terms: readonly Term[]): ReadonlyMap<string, DimSymbol> {
  const [first] = terms;
  const only = terms.length === 1 && first!.atoms.length === 1 ? first!.atoms[0]! : undefined;
  if (only?.kind === "symbol") return new Map([[only.name, only]]);
  const found = new Map<string, DimSymbol>();
  for (const t of terms)
    for (const a of t.atoms)
      if (a.kind === "symbol") found.set(a.name, a);
      else for (const d of [a.lhs, a.rhs]) for (const [n, s] of symbolsIn(d)) found.set(n, s);
  return found;
}

const keyOfAtoms = (atoms: readonly Atom[]): string =>
  atoms.length === 1 ? atoms[0]!.key : atoms.map((a) => a.key).join("*");
export const term = (coeff: number, atoms: readonly Atom[]): Term => ({
  coeff,
  atoms,
  key: keyOfAtoms(atoms),
});
export const sameTerm = (a: Term, b: Term): boolean => a.coeff === b.coeff && a.key === b.key;
/** The expression that is one term of another. */
export const ofOneTerm = (t: Term): DimExpr => new DimExpr([t]);
/** The expression that is one atom. */
export const ofAtom = (atom: Atom): DimExpr => new DimExpr([term(1, [atom])]);

const times = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);

export const keyOfDim = (d: Dim): string => (typeof d === "number" ? String(d) : d.key);
/**
 * Whether two extents `a` and `b` are equal for every value of their symbols. No counterpart in
 * PyTorch.
 * @example
 *   sameDim(addDim(2, 3), 5) // true
 */
export const sameDim = (a: Dim, b: Dim): boolean =>
  a === b || (typeof a !== "number" && typeof b !== "number" && a.key === b.key);
/** The term without symbols. It is the last one. */
export function constantIn(d: Dim): number {
  if (typeof d === "number") return d;
  const last = d.terms.at(-1)!;
  return last.atoms.length === 0 ? last.coeff : 0;
}
export const isStatic = (d: Dim): d is number => typeof d === "number";
export const minOfDim = (d: Dim): number => (typeof d === "number" ? d : d.min);
export const maxOfDim = (d: Dim): number => (typeof d === "number" ? d : d.max);

/** Dims are walked by recursion; the sizes of real networks are nested a few deep. */
const mostHeight = 256;

function heightOf(d: Dim): number {
  let most = 0;
  if (typeof d !== "number")
    for (const { atoms } of d.terms)
      for (const a of atoms) if (a.kind !== "symbol") most = Math.max(most, a.height);
  return most;
}

const namesOf = { div: "floorDiv", mod: "modDim", min: "minDim", max: "maxDim" };

/**
 * A quotient, remainder, minimum or maximum as it stands: nothing is simplified. Throws ShapeError
 * where more than 256 lie inside of each other.
 */
export function compound(kind: Compound["kind"], lhs: Dim, rhs: Dim): Compound {
  const height = 1 + Math.max(heightOf(lhs), heightOf(rhs));
  if (height > mostHeight) {
    const names = new Set([...symbolsIn(lhs).keys(), ...symbolsIn(rhs).keys()]);
    throw new ShapeError(
      `${namesOf[kind]}: ${height} quotients, remainders, minima and maxima inside of each other, a symbolic extent has ${mostHeight} at most\n  give ${[...names].join(" and ")} as a number`,
    );
  }
  const key = `${kind}(${keyOfDim(lhs)},${keyOfDim(rhs)})`;
  const [a, b, least, d] = [minOfDim(lhs), maxOfDim(lhs), minOfDim(rhs), maxOfDim(rhs)];
  // Where a divisor is negative there is nothing to divide: see `checkDivisor`.
  const c = kind === "div" ? Math.max(0, least) : least;
  let min: number;
  let max: number;
  switch (kind) {
    case "div": {
      const [p, q, r, s] = [floorOf(a / c), floorOf(a / d), floorOf(b / c), floorOf(b / d)];
      min = Math.min(p, q, r, s);
      max = Math.max(p, q, r, s);
      break;
    }
    case "mod":
      min = 0;
      max = Math.min(d - 1, a >= 0 ? b : Infinity);
      break;
    case "min":
      min = Math.min(a, c);
      max = Math.min(b, d);
      break;
    case "max":
      min = Math.max(a, c);
      max = Math.max(b, d);
  }
  return { kind, lhs, rhs, min, max, key, height };
}

/** Of a number below 0 through one without bounds, −0 in floating point, it is −1. */
const floorOf = (x: number): number =>
  Number.isNaN(x) ? 0 : Object.is(x, -0) ? -1 : Math.floor(x);

/** The one atom that `d` consists of, if it is one. */
export function atomOf(d: Dim): Atom | undefined {
  if (typeof d === "number" || d.terms.length !== 1) return undefined;
  const t = d.terms[0]!;
  return t.coeff === 1 && t.atoms.length === 1 ? t.atoms[0] : undefined;
}

/** The one symbol that `d` consists of, if it is one. */
export function symbolOf(d: Dim): DimSymbol | undefined {
  const a = atomOf(d);
  return a?.kind === "symbol" ? a : undefined;
}

/**
 * The symbol, if `d` is scale·symbol + offset with a scale of 1 or more: then `d` tells the
 * symbol's value.
 */
export function linearIn(
  d: Dim,
): { readonly symbol: DimSymbol; readonly scale: number; readonly offset: number } | undefined {
  if (typeof d === "number") return undefined;
  const [first, second] = d.terms;
  const atom = first!.atoms.length === 1 ? first!.atoms[0] : undefined;
  if (atom?.kind !== "symbol" || first!.coeff < 1 || d.terms.length > 2) return undefined;
  if (second && second.atoms.length > 0) return undefined;
  return { symbol: atom, scale: first!.coeff, offset: second?.coeff ?? 0 };
}

const noSymbols: ReadonlyMap<string, DimSymbol> = new Map();

/** Every symbol in `d`, by name; loop extents are not entered. */
export const symbolsIn = (d: Dim): ReadonlyMap<string, DimSymbol> =>
  typeof d === "number" ? noSymbols : d.symbols;

/** Adds every symbol in `d` to a map. */
export function collectSymbols(d: Dim, into: Map<string, DimSymbol>): void {
  for (const [name, symbol] of symbolsIn(d)) into.set(name, symbol);
}

/** Text such as `2*N+1`, `N/2` (floor division), `N%4`, `min(N,8)`; parsed back by `parseDim`. */
export function printDim(d: Dim): string {
  if (typeof d === "number") return String(d);
  return d.terms
    .map((t, i) => {
      const sign = t.coeff < 0 ? "-" : i ? "+" : "";
      const c = Math.abs(t.coeff);
      const factors = t.atoms.map(printAtom);
      if (c !== 1 || !factors.length) factors.unshift(String(c));
      return sign + factors.join("*");
    })
    .join("");
}

function printAtom(a: Atom): string {
  if (a.kind === "symbol") return a.name;
  if (a.kind === "min" || a.kind === "max")
    return `${a.kind}(${printDim(a.lhs)},${printDim(a.rhs)})`;
  const bare = (d: Dim) => symbolOf(d) !== undefined || (isStatic(d) && d >= 0);
  const side = (d: Dim) => (bare(d) ? printDim(d) : `(${printDim(d)})`);
  return `(${side(a.lhs)}${a.kind === "div" ? "/" : "%"}${side(a.rhs)})`;
}

export const ofTerm = (t: Term): Dim =>
  t.coeff && t.atoms.length ? new DimExpr([t]) : t.coeff || 0;
export const constantTerm = (n: number): Term => ({ coeff: n, atoms: [], key: "" });
export const termsOf = (d: Dim): readonly Term[] =>
  typeof d !== "number" ? d.terms : d === 0 ? [] : [constantTerm(d)];

/** Most factors first, then by key. */
export const byOrder = (a: Term, b: Term): number =>
  b.atoms.length - a.atoms.length || (a.key < b.key ? -1 : 1);

/** Terms that may repeat, in any order: those of one key as one, none that is 0, in order. */
export function merged(terms: readonly Term[]): Term[] {
  if (terms.length === 2) return joined([terms[0]!], [terms[1]!]);
  if (areInOrder(terms)) return terms.filter((t) => t.coeff !== 0);
  const sums = new Map<string, Term>();
  for (const t of terms) {
    const before = sums.get(t.key);
    sums.set(t.key, before ? withCoeff(t, before.coeff + t.coeff) : t);
  }
  const kept: Term[] = [];
  for (const t of sums.values()) if (t.coeff !== 0) kept.push(t);
  return kept.sort(byOrder);
}

/** The same of two lists that are in order, in one run over both. */
export function joined(a: readonly Term[], b: readonly Term[]): Term[] {
  const out: Term[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a[i]!;
    const y = b[j]!;
    if (x.key === y.key) {
      const coeff = x.coeff + y.coeff;
      if (coeff !== 0) out.push(withCoeff(y, coeff));
      i++;
      j++;
    } else if (byOrder(x, y) < 0) {
      if (x.coeff !== 0) out.push(x);
      i++;
    } else {
      if (y.coeff !== 0) out.push(y);
      j++;
    }
  }
  for (; i < a.length; i++) if (a[i]!.coeff !== 0) out.push(a[i]!);
  for (; j < b.length; j++) if (b[j]!.coeff !== 0) out.push(b[j]!);
  return out;
}

export const withCoeff = ({ atoms, key }: Term, coeff: number): Term => ({ coeff, atoms, key });

/**
 * Whether the bounds of atoms are all that is known of `d`: of a loop variable with a symbolic
 * extent, and of a remainder by one, there is more to say.
 */
export function isBounded(d: Dim): boolean {
  if (typeof d === "number") return true;
  for (const { atoms } of d.terms)
    for (const a of atoms)
      if (a.kind === "symbol") {
        if (typeof a.extent === "object") return false;
      } else if (a.kind === "mod" && typeof a.rhs !== "number") return false;
  return true;
}

/** Whether each term stands before the next one, and none is there twice. */
export function areInOrder(terms: readonly Term[]): boolean {
  for (let i = 1; i < terms.length; i++) {
    const [a, b] = [terms[i - 1]!, terms[i]!];
    if (a.key === b.key || byOrder(a, b) > 0) return false;
  }
  return true;
}

/** True if one of the symbols stands in `d`. */
export function mentions(d: Dim, by: ReadonlyMap<string, unknown>): d is DimExpr {
  if (typeof d === "number" || by.size === 0) return false;
  for (const t of d.terms) if (mentionedIn(t.atoms, by)) return true;
  return false;
}

export function mentionedIn(atoms: readonly Atom[], by: ReadonlyMap<string, unknown>): boolean {
  for (const a of atoms)
    if (a.kind === "symbol" ? by.has(a.name) : mentions(a.lhs, by) || mentions(a.rhs, by))
      return true;
  return false;
}
