/**
 * Statements under other loop variables. Shared expressions stay shared. A value that was made before is found again by
 * the coordinates it was made at, so that renaming afterwards is safe where renaming first might print them otherwise.
 */
import { type Condition, type Dim, substitute } from "@kiln-ml/ir";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Rename } from "./loops.ts";

export function substituteIn(body: readonly Stmt[], by: Rename): Stmt[] {
  const made = new Map<Expr, Expr>();
  const dim = (d: Dim): Dim => substitute(d, by);
  const when = (list: readonly Condition[]): Condition[] =>
    list.map((c) => ({ ...c, value: dim(c.value) }));
  const renamed = (e: Expr): Expr => {
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
    const known = made.get(e) ?? renamed(e);
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
      case "accumulate":
        return {
          ...s,
          value: expr(s.value),
          ...(s.position === undefined ? {} : { position: dim(s.position) }),
        };
      case "fma":
        return { ...s, a: expr(s.a), b: expr(s.b) };
      case "store":
        return { ...s, index: dim(s.index), value: expr(s.value) };
      case "array":
        return { ...s, size: dim(s.size) };
      case "if":
        return { ...s, when: when(s.when), then: s.then.map(stmt) };
      case "loop":
        return {
          ...s,
          extent: dim(s.extent),
          ...(s.start === undefined ? {} : { start: dim(s.start) }),
          body: s.body.map(stmt),
        };
      default:
        return s;
    }
  };
  return body.map(stmt);
}
