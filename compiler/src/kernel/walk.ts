/**
 * Walks kernel statements: every statement, expression and index expression in them. Changes nothing.
 */
import type { Dim } from "@kiln-ml/ir";
import type { Expr, Stmt } from "./kernel.ts";

export interface Visitor {
  readonly stmt?: (s: Stmt) => void;
  readonly expr?: (e: Expr) => void;
  readonly dim?: (d: Dim) => void;
}

/** Visits each statement before what is in it, and each expression once even where it is shared. */
export function walkStmts(stmts: readonly Stmt[], v: Visitor, seen: Set<Expr> = new Set()): void {
  const expr = (e: Expr) => walkExpr(e, v, seen);
  for (const s of stmts) {
    v.stmt?.(s);
    switch (s.kind) {
      case "comment":
      case "barrier":
      case "combine":
      case "prefix":
      case "letInvocation":
      case "scheduleBarrier":
      case "letSubgroup":
        break;
      case "matrix":
        if ("index" in s.does) v.dim?.(s.does.index);
        break;
      case "let":
      case "letDynamic":
      case "set":
        expr(s.value);
        break;
      case "accumulate":
        expr(s.value);
        if (s.position !== undefined) v.dim?.(s.position);
        break;
      case "letIndex":
        v.dim?.(s.value);
        break;
      case "acc":
        expr(s.init);
        break;
      case "fma":
        expr(s.a);
        expr(s.b);
        break;
      case "loop":
        v.dim?.(s.extent);
        if (s.start !== undefined) v.dim?.(s.start);
        walkStmts(s.body, v, seen);
        break;
      case "if":
        for (const c of s.when) v.dim?.(c.value);
        walkStmts(s.then, v, seen);
        break;
      case "store":
        v.dim?.(s.index);
        expr(s.value);
        break;
      case "prefetch":
        v.dim?.(s.index);
        break;
      case "sort":
        v.dim?.(s.size);
        v.dim?.(s.count);
        break;
      case "array":
        v.dim?.(s.size);
        break;
      default:
        s satisfies never;
    }
  }
}

export function walkExpr(e: Expr, v: Visitor, seen: Set<Expr> = new Set()): void {
  if (seen.has(e)) return;
  seen.add(e);
  v.expr?.(e);
  if (e.kind === "load") {
    v.dim?.(e.index);
    for (const c of e.guard) v.dim?.(c.value);
  } else if (e.kind === "index") v.dim?.(e.value);
  else if (e.kind === "test") for (const c of e.conditions) v.dim?.(c.value);
  else if (e.kind === "call") for (const a of e.args) walkExpr(a, v, seen);
}

/** Every index expression in some statements. */
export function dimsIn(stmts: readonly Stmt[]): Dim[] {
  const out: Dim[] = [];
  walkStmts(stmts, { dim: (d) => out.push(d) });
  return out;
}
