/**
 * Walks kernel statements: every statement, expression, index expression and access to memory in
 * them. Changes nothing.
 */
import type { Dim } from "@kiln-ml/ir";
import type { Expr, Param, Stmt } from "./kernel.ts";
import { type Access, bodyOf, dimsOf, exprsOf, touchesOf } from "./parts.ts";

export interface Visitor {
  readonly stmt?: (s: Stmt) => void;
  readonly expr?: (e: Expr) => void;
  readonly dim?: (d: Dim) => void;
  /** Memory that is named, at an element; without an index, all of it. */
  readonly memory?: (name: string, index: Dim | undefined, how: Access) => void;
}

/** Visits each statement before what is in it, and each expression once even where it is shared. */
export function walkStmts(stmts: readonly Stmt[], v: Visitor, seen: Set<Expr> = new Set()): void {
  const deep = v.expr ?? v.dim ?? v.memory;
  for (const s of stmts) {
    v.stmt?.(s);
    if (v.memory) for (const t of touchesOf(s)) v.memory(t.memory, t.index, t.how);
    if (v.dim) for (const d of dimsOf(s)) v.dim(d);
    if (deep) for (const e of exprsOf(s)) walkExpr(e, v, seen);
    const body = bodyOf(s);
    if (body.length > 0) walkStmts(body, v, seen);
  }
}

export function walkExpr(e: Expr, v: Visitor, seen: Set<Expr> = new Set()): void {
  if (seen.has(e)) return;
  seen.add(e);
  v.expr?.(e);
  if (e.kind === "load") {
    v.memory?.(e.from, e.index, "reads");
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

/** Calls `visit` with every statement, outer before inner. */
export const eachStmt = (body: readonly Stmt[], visit: (s: Stmt) => void): void =>
  walkStmts(body, { stmt: visit });

/** The parameters and arrays that some statements read, write or both, by name. */
export function accessesIn(
  stmts: readonly Stmt[],
): Map<string, Exclude<Param["access"], "scratch">> {
  const found = new Map<string, Exclude<Param["access"], "scratch">>();
  walkStmts(stmts, {
    memory: (name, _, how) => {
      const own = how === "reads" ? "read" : how === "writes" ? "write" : "readwrite";
      const before = found.get(name) ?? own;
      found.set(name, before === own ? own : "readwrite");
    },
  });
  return found;
}
