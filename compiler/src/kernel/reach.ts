/**
 * What is known of integers while kernel IR is checked: each variable is a symbol of its own with
 * the range that its loop or guard gives it, and inequalities stand beside them. Proves or does
 * not; never guesses.
 */
import {
  addDim,
  anyInteger,
  type Condition,
  type Dim,
  type DimExpr,
  maxOfDim,
  minOfDim,
  mulDim,
  negDim,
  ofOneTerm,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";

/** What names stand for, and expressions that are known to be at least 0. Never changed. */
export interface Known {
  readonly names: ReadonlyMap<string, Dim>;
  readonly facts: readonly Dim[];
}

let nextSymbol = 0;

/** An integer from `min` to `max` that no other expression speaks of. */
const fresh = (name: string, min: number, max: number): Dim =>
  min === max ? min : anyInteger(`${name.replace(/[#'@].*$/, "")}#${nextSymbol++}`, min, max);

/** An index expression in terms of what its names stand for. */
export const inTermsOf = (d: Dim, { names }: Known): Dim => substitute(d, names);

/** With `name` for a value. */
export const naming = (k: Known, name: string, value: Dim): Known => ({
  names: new Map(k.names).set(name, value),
  facts: k.facts,
});

/** With `name` for an integer between bounds, as far as they are known. */
export function between(
  k: Known,
  name: string,
  lower: readonly Dim[],
  upper: readonly Dim[],
): Known {
  const min = Math.max(...lower.map(minOfDim), -Infinity);
  const max = Math.min(...upper.map(maxOfDim), Infinity);
  const v = fresh(name, min, Math.max(min, max));
  const facts = [...lower.map((l) => subDim(v, l)), ...upper.map((u) => subDim(u, v))].map(
    tightened,
  );
  return { names: new Map(k.names).set(name, v), facts: [...k.facts, ...facts.filter(isOpen)] };
}

/**
 * With `name` for start, start + step, … up to what is less than `end`; undefined if there is none.
 */
export function counting(
  k: Known,
  name: string,
  { start, end, step }: { readonly start: Dim; readonly end: Dim; readonly step: number },
): Known | undefined {
  const last = subDim(subDim(end, start), 1);
  if (maxOfDim(last) < 0) return undefined;
  const v = addDim(start, mulDim(fresh(name, 0, Math.floor(maxOfDim(last) / step)), step));
  const facts = [subDim(subDim(end, 1), v), last].map(tightened).filter(isOpen);
  return { names: new Map(k.names).set(name, v), facts: [...k.facts, ...facts] };
}

/** What says the same of integers with lesser numbers: 4·N − 4·i − 1 ≥ 0 as N − i − 1 ≥ 0. */
function tightened(d: Dim): Dim {
  if (typeof d === "number") return d;
  const coeffs = d.terms.filter((t) => t.atoms.length > 0).map((t) => t.coeff);
  const divisor = coeffs.reduce(greatestDivisor, 0);
  if (divisor < 2) return d;
  const parts = d.terms.map((t) =>
    t.atoms.length > 0
      ? ofOneTerm({ ...t, coeff: t.coeff / divisor })
      : Math.floor(t.coeff / divisor),
  );
  return parts.reduce(addDim, 0);
}

const greatestDivisor = (a: number, b: number): number =>
  b === 0 ? Math.abs(a) : greatestDivisor(b, a % b);

const isOpen = (d: Dim): d is DimExpr => minOfDim(d) < 0 && typeof d !== "number";

/** What is known where the conditions hold; undefined if they cannot. */
export function assuming(k: Known, when: readonly Condition[]): Known | undefined {
  let now: Known | undefined = k;
  for (const c of when) {
    const value: Dim = inTermsOf(c.value, now);
    now = atLeastZero(now, value);
    if (now && c.test === "zero") now = atLeastZero(now, negDim(inTermsOf(c.value, now)));
    if (!now) return undefined;
  }
  return now;
}

/** Whether the conditions hold; undefined if it depends. */
export function whether(k: Known, when: readonly Condition[]): boolean | undefined {
  const values = when.map((c) => ({ test: c.test, value: inTermsOf(c.value, k) }));
  const fails = ({ test, value }: Condition): boolean =>
    maxOfDim(value) < 0 || (test === "zero" && minOfDim(value) > 0);
  if (values.some(fails)) return false;
  const holds = ({ test, value }: Condition): boolean =>
    test === "zero" ? value === 0 : minOfDim(value) >= 0;
  return values.every(holds) ? true : undefined;
}

function atLeastZero(k: Known, value: Dim): Known | undefined {
  if (maxOfDim(value) < 0) return undefined;
  if (!isOpen(value)) return k;
  const fact = tightened(value);
  const held = narrowed({ names: k.names, facts: [...k.facts, fact] }, fact);
  const numerator = numeratorIn(fact);
  return numerator === undefined || !held ? held : atLeastZero(held, numerator);
}

/** What ⌊x/c⌋ ≥ r, or ≤ r, says of x: x − c·r ≥ 0, or c·r + c − 1 − x ≥ 0. */
function numeratorIn(fact: Dim): Dim | undefined {
  if (typeof fact === "number") return undefined;
  for (const t of fact.terms) {
    const [a] = t.atoms;
    if (t.atoms.length !== 1 || a?.kind !== "div" || minOfDim(a.rhs) < 1) continue;
    const rest = mulDim(a.rhs, subDim(fact, ofOneTerm(t)));
    if (t.coeff === 1) return addDim(a.lhs, rest);
    if (t.coeff === -1) return subDim(addDim(rest, subDim(a.rhs, 1)), a.lhs);
  }
  return undefined;
}

/** With tighter ranges for the symbols that stand alone in a term of what is at least 0. */
function narrowed(k: Known, value: Dim): Known | undefined {
  if (typeof value === "number") return k;
  for (const t of value.terms) {
    const [a] = t.atoms;
    if (t.atoms.length !== 1 || a?.kind !== "symbol") continue;
    const rest = subDim(value, ofOneTerm(t));
    if (typeof rest !== "number" && rest.symbols.has(a.name)) continue;
    // coeff·a + rest ≥ 0 with rest ≤ most.
    const end = -maxOfDim(rest) / t.coeff;
    const min = t.coeff > 0 ? Math.max(a.min, Math.ceil(end)) : a.min;
    const max = t.coeff < 0 ? Math.min(a.max, Math.floor(end)) : a.max;
    if (min > max) return undefined;
    if (min === a.min && max === a.max) continue;
    const by = new Map([[a.name, fresh(a.name, min, max)]]);
    const names = new Map([...k.names].map(([name, d]) => [name, substitute(d, by)] as const));
    return { names, facts: k.facts.map((f) => substitute(f, by)).filter(isOpen) };
  }
  return k;
}

/**
 * The value of the one symbol that a name stands for, or that stands in it; undefined if it is none
 * or not bounded.
 */
export function rangeOf(k: Known, name: string): { min: number; max: number } | undefined {
  const [only, ...others] = [...symbolsIn(k.names.get(name)!).values()];
  if (!only || others.length > 0 || !Number.isFinite(only.max - only.min)) return undefined;
  return { min: only.min, max: only.max };
}

/** With that symbol for a number; undefined if what is known rules it out. */
export function fixing(k: Known, name: string, value: number): Known | undefined {
  const [symbol] = symbolsIn(k.names.get(name)!).keys();
  const by = new Map([[symbol!, value]]);
  const facts = k.facts.map((f) => substitute(f, by));
  if (facts.some((f) => maxOfDim(f) < 0)) return undefined;
  const names = new Map([...k.names].map(([n, d]) => [n, substitute(d, by)] as const));
  return { names, facts: facts.filter(isOpen) };
}
