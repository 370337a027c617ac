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
  divideTerm,
  maxOfDim,
  minOfDim,
  mulDim,
  negDim,
  ofAtom,
  ofOneTerm,
  subDim,
  substitute,
  symbolsIn,
  type Term,
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
  const facts = [...lower.map((l) => subDim(v, l)), ...upper.map((u) => subDim(u, v))];
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
  const facts = [subDim(subDim(end, 1), v), last].filter(isOpen);
  return { names: new Map(k.names).set(name, v), facts: [...k.facts, ...facts] };
}

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
  const held: Known = { names: k.names, facts: [...k.facts, value] };
  return narrowed(held, value);
}

/** With tighter ranges for the symbols that stand alone in a term of what is at least 0. */
function narrowed(k: Known, value: DimExpr): Known | undefined {
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

/** Steps of a proof that follow each other at most, and that are tried at most. */
const [mostSteps, mostTried] = [5, 150];

/** True if it is proved that d ≥ 0. */
export const isProved = (d: Dim, facts: readonly Dim[]): boolean =>
  follows(d, facts, mostSteps, { left: mostTried });

function follows(d: Dim, facts: readonly Dim[], steps: number, tried: { left: number }): boolean {
  if (minOfDim(d) >= 0) return true;
  if (typeof d === "number" || steps === 0 || maxOfDim(d) < 0 || tried.left-- <= 0) return false;
  const next = (to: Dim): boolean => follows(to, facts, steps - 1, tried);
  for (const t of d.terms) if (lowerOf(t).some((to) => next(replaced(d, t, to)))) return true;
  // min(a, b) is a or b, and max(a, b) too, where neither alone is a bound.
  for (const t of d.terms) if (eitherOf(t)?.every((to) => next(replaced(d, t, to)))) return true;
  return facts.some((f) => {
    const times = timesIn(d, f);
    return times !== undefined && next(subDim(d, mulDim(f, times)));
  });
}

/** How often a fact can be taken out of d so that a term that pulls d down is gone. */
function timesIn(d: DimExpr, fact: Dim): Dim | undefined {
  if (typeof fact === "number") return undefined;
  for (const t of d.terms) {
    if (t.atoms.length === 0 || t.coeff > 0) continue;
    for (const u of fact.terms) {
      if (u.coeff >= 0 || u.atoms.length === 0) continue;
      const times = divideTerm(t, ofOneTerm(u));
      if (times !== undefined && minOfDim(times) >= 0 && times !== 0) return times;
    }
  }
  return undefined;
}

const replaced = (d: DimExpr, t: Term, to: Dim): Dim => {
  const rest = subDim(d, ofOneTerm(t));
  return typeof to === "number" && typeof rest === "number" ? rest + to : subDim(rest, negDim(to));
};

/** What a term is surely not less than, each of them. */
function lowerOf(t: Term): Dim[] {
  for (const [i, a] of t.atoms.entries()) {
    if (a.kind === "symbol") continue;
    const others = t.atoms.filter((_, j) => j !== i);
    const factor = others.reduce<Dim>((p, x) => mulDim(p, ofAtom(x)), t.coeff);
    const [up, down] = [minOfDim(factor) >= 0, maxOfDim(factor) <= 0];
    const sides = [a.lhs, a.rhs].map((side) => mulDim(factor, side));
    if (a.kind === "min" && down) return sides;
    if (a.kind === "max" && up) return sides;
    if (a.kind === "mod" && down)
      return [mulDim(factor, subDim(a.rhs, 1)), ...(minOfDim(a.lhs) >= 0 ? [sides[0]!] : [])];
    if (a.kind === "div" && typeof a.rhs !== "number" && down && minOfDim(a.lhs) >= 0) {
      // ⌊x/c⌋·c ≤ x, where the factor has a c.
      const c = divideTerm({ ...t, coeff: t.coeff, atoms: others }, a.rhs);
      if (c !== undefined) return [mulDim(c, a.lhs)];
    }
    if (a.kind === "div" && typeof a.rhs === "number" && down && minOfDim(a.lhs) >= 0) {
      const c = divideTerm({ ...t, atoms: others }, a.rhs);
      return c === undefined ? [] : [mulDim(c, a.lhs)];
    }
    if (a.kind === "div" && typeof a.rhs === "number" && up) {
      // ⌊x/c⌋·c ≥ x − c + 1.
      const c = divideTerm({ ...t, atoms: others }, a.rhs);
      return c === undefined ? [] : [mulDim(c, subDim(a.lhs, a.rhs - 1))];
    }
  }
  return [];
}

/** The values of which a term has one, if each way has to be looked at. */
function eitherOf(t: Term): Dim[] | undefined {
  const i = t.atoms.findIndex((a) => a.kind === "min" || a.kind === "max");
  const a = t.atoms[i];
  if (!a || a.kind === "symbol") return undefined;
  const others = t.atoms.filter((_, j) => j !== i);
  const factor = others.reduce<Dim>((p, x) => mulDim(p, ofAtom(x)), t.coeff);
  return [mulDim(factor, a.lhs), mulDim(factor, a.rhs)];
}
