/**
 * Statements with some of their parts exchanged: index expressions, expressions, stores. Shared expressions stay shared.
 */
import { type Condition, type Dim, substitute } from "@kiln-ml/ir";
import type { Expr, Of, Stmt } from "./kernel.ts";

/** What index variables become. */
export type Rename = ReadonlyMap<string, Dim>;

export interface Mapping {
  readonly dim?: (d: Dim) => Dim;
  /** Called with each expression once, its parts mapped already. */
  readonly expr?: (e: Expr) => Expr;
  readonly store?: (s: Of<"store">) => Stmt;
  readonly prefetch?: (s: Of<"prefetch">) => Stmt;
}

export function mapStmts(body: readonly Stmt[], by: Mapping): Stmt[] {
  const { dim = (d) => d, expr: own = (e) => e, store = (s) => s, prefetch: touch = (s) => s } = by;
  const made = new Map<Expr, Expr>();
  const when = (list: readonly Condition[]): Condition[] =>
    list.map((c) => ({ ...c, value: dim(c.value) }));
  const inside = (e: Expr): Expr => {
    switch (e.kind) {
      case "load":
        return { ...e, index: dim(e.index), guard: when(e.guard) };
      case "index":
        return { ...e, value: dim(e.value) };
      case "test":
        return { ...e, conditions: when(e.conditions) };
      case "call":
        return { ...e, args: e.args.map(expr) };
      default:
        return e;
    }
  };
  const expr = (e: Expr): Expr => {
    const known = made.get(e) ?? own(inside(e));
    made.set(e, known);
    return known;
  };
  const stmt = (s: Stmt): Stmt => {
    switch (s.kind) {
      case "let":
      case "letDynamic":
      case "set":
        return { ...s, value: expr(s.value) };
      case "letIndex":
        return { ...s, value: dim(s.value) };
      case "acc":
        return { ...s, init: expr(s.init) };
      case "accumulate": {
        const position = s.position === undefined ? {} : { position: dim(s.position) };
        return { ...s, value: expr(s.value), ...position };
      }
      case "fma":
        return { ...s, a: expr(s.a), b: expr(s.b) };
      case "store":
        return store({ ...s, index: dim(s.index), value: expr(s.value) });
      case "prefetch":
        return touch({ ...s, index: dim(s.index) });
      case "array":
        return { ...s, size: dim(s.size) };
      case "sort":
        return { ...s, size: dim(s.size), count: dim(s.count) };
      case "if":
        return { ...s, when: when(s.when), then: s.then.map(stmt) };
      case "loop": {
        const start = s.start === undefined ? {} : { start: dim(s.start) };
        return { ...s, extent: dim(s.extent), ...start, body: s.body.map(stmt) };
      }
      default:
        return s;
    }
  };
  return body.map(stmt);
}

/**
 * Statements under other loop variables. A value that was made before is found again by the coordinates it was made at, so
 * that renaming afterwards is safe where renaming first might print them otherwise.
 */
export const substituteIn = (body: readonly Stmt[], by: Rename): Stmt[] =>
  mapStmts(body, { dim: (d) => substitute(d, by) });
