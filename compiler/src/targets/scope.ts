/**
 * Blocks of emitted text while they are open, and what is bound in them. A line added to an outer
 * block lands before the statement being printed, which is how invariant parts move out of loops.
 */
import { type Dim, mentions, symbolsIn } from "@kiln-ml/ir";
import type { Expr } from "../kernel/kernel.ts";
import { exprVaries } from "../kernel/varies.ts";

/**
 * What an expression is printed as: the strength of its outermost operator, and its lanes (1, or a
 * vector loop's width).
 */
export interface Value {
  readonly text?: string;
  readonly prec: number;
  readonly lanes: number;
}

/** A value of the languages that are text. */
export interface Text extends Value {
  readonly text: string;
}

/** Operator strengths, weakest first. */
// biome-ignore format: one row
export const prec = { select: 1, or: 3, and: 4, bitOr: 6, bitXor: 7, bitAnd: 8, equal: 9, compare: 10, shift: 11, add: 12, mul: 13, unary: 15, atom: 20 } as const;

export const atom = (text: string, lanes = 1): Text => ({ text, prec: prec.atom, lanes });

/** `t`, in parentheses if its operator is weaker than `least`. */
export const atLeast = (t: Text, least: number): string =>
  t.prec < least ? `(${t.text})` : t.text;

/** A block of lines `L` in a language of values `V`. */
export interface Scope<V extends Value = Text, L = string> {
  readonly parent: Scope<V, L> | undefined;
  readonly depth: number;
  readonly lines: L[];
  /** Index symbols, lets and accumulators bound here → what they are printed as. */
  readonly names: Map<string, V>;
  /** Index symbols that stand for another index expression, those of outer blocks included. */
  readonly values: Map<string, Dim>;
  /** Those of `values` that this block gave. */
  readonly own: Map<string, Dim>;
  /** Whether a value speaks of a symbol of `own`, so that outer blocks know less of it. */
  shadows: boolean;
  /** Index expressions with `values` in them; see `setValue`. */
  readonly resolved: Map<Dim, Dim>;
  /** Index expressions bound to a constant here, by key. */
  readonly indices: Map<string, string>;
  readonly exprs: Map<Expr, V>;
  /** Values read at run time that are bound here as indices. */
  readonly dynamic: Map<Expr, V>;
  /** Names changed by the statement this is the body of. */
  readonly changes: ReadonlySet<string>;
  /** Values must not move out of here: the body of an `if`. */
  readonly closed: boolean;
}

export function openScope<V extends Value = Text, L = string>(
  parent: Scope<V, L> | undefined,
  options: { lines?: L[]; changes?: ReadonlySet<string>; closed?: boolean } = {},
): Scope<V, L> {
  return {
    parent,
    depth: parent ? parent.depth + 1 : 0,
    lines: options.lines ?? [],
    names: new Map(),
    values: new Map(parent?.values),
    own: new Map(),
    shadows: false,
    resolved: new Map(),
    indices: new Map(),
    exprs: new Map(),
    dynamic: new Map(),
    changes: options.changes ?? new Set(),
    closed: options.closed ?? false,
  };
}

/** From here on the symbol stands for the index expression. */
export function setValue<V extends Value, L>(scope: Scope<V, L>, name: string, value: Dim): void {
  for (const known of scope.values.values()) scope.shadows ||= symbolsIn(known).has(name);
  scope.values.set(name, value);
  scope.own.set(name, value);
  scope.resolved.clear();
}

/** The outermost open block in which `d` stands for what it does in this one. */
export function scopeOfDim<V extends Value, L>(scope: Scope<V, L>, d: Dim): Scope<V, L> {
  let s = scope;
  while (s.parent && !s.shadows && !mentions(d, s.own)) s = s.parent;
  return s;
}

/**
 * Before a name is bound in the block at `depth`: ends what deeper ones bind it to. True if an open
 * block binds it to another value, as loops side by side may in the block around both.
 */
export function unbind<V extends Value, L>(
  scope: Scope<V, L>,
  depth: number,
  name: string,
  value: V,
): boolean {
  let differs = false;
  for (const s of scopesFrom(scope)) {
    const before = s.names.get(name);
    differs ||= before !== undefined && before !== value;
    if (s.depth > depth) s.names.delete(name);
  }
  return differs;
}

/** Forgets what open blocks have bound that speaks of a name. */
export function forget<V extends Value, L>(scope: Scope<V, L>, name: string): void {
  const by = { symbols: new Set([name]), name: (n: string) => n === name };
  for (const { exprs, dynamic, indices } of scopesFrom(scope)) {
    for (const bound of [exprs, dynamic])
      for (const e of bound.keys()) if (exprVaries(e, by)) bound.delete(e);
    // Keys are sums as text: one that has the name as a part of another is found again, no more.
    for (const key of indices.keys()) if (key.includes(name)) indices.delete(key);
  }
}

/** The open blocks from `scope` outwards. */
export function* scopesFrom<V extends Value, L>(scope: Scope<V, L>): Generator<Scope<V, L>> {
  for (let s: Scope<V, L> | undefined = scope; s; s = s.parent) yield s;
}

/** The open block at `depth`. */
export function scopeAt<V extends Value, L>(scope: Scope<V, L>, depth: number): Scope<V, L> {
  for (let s: Scope<V, L> | undefined = scope; s; s = s.parent) if (s.depth === depth) return s;
  return scope;
}

export const indented = (lines: readonly string[]): string[] => lines.map((l) => `  ${l}`);
