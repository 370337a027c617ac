/**
 * Statements with some of their parts exchanged: index expressions, expressions, names of memory
 * and places in it. Shared expressions stay shared.
 */
import { type Condition, type Dim, substitute } from "@kiln-ml/ir";
import type { Expr, Stmt } from "./kernel.ts";
import { fieldsOf, type Parts, partsOf, withFields } from "./parts.ts";

/** What index variables become. */
export type Rename = ReadonlyMap<string, Dim>;

export interface Mapping {
  /** What stands for an expression, of which nothing is mapped then. */
  readonly replace?: (e: Expr) => Expr | undefined;
  readonly dim?: (d: Dim) => Dim;
  /** Called with each expression once, its parts mapped already. */
  readonly expr?: (e: Expr) => Expr;
  /** Called with each statement once, its parts mapped already. */
  readonly stmt?: (s: Stmt) => Stmt;
  /** Of parameters and arrays where they are read or written. */
  readonly memory?: (name: string) => string;
  /** Of an access, after `dim`: the element that it is to. */
  readonly place?: (memory: string, index: Dim) => Dim;
}

export function mapStmts(body: readonly Stmt[], by: Mapping): Stmt[] {
  const { dim = (d) => d, expr: own = (e) => e, stmt: whole = (s) => s } = by;
  const { memory = (name) => name, place = (_, index) => index } = by;
  const made = new Map<Expr, Expr>();
  const when = (list: readonly Condition[]): Condition[] =>
    list.map((c) => ({ ...c, value: dim(c.value) }));
  const inside = (e: Expr): Expr => {
    switch (e.kind) {
      case "load":
        return {
          ...e,
          from: memory(e.from),
          index: place(e.from, dim(e.index)),
          guard: when(e.guard),
        };
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
    const known = made.get(e) ?? by.replace?.(e) ?? own(inside(e));
    made.set(e, known);
    return known;
  };
  const stmt = (s: Stmt): Stmt => {
    const parts = partsOf(s);
    if (isPlain(parts)) return whole(s);
    const [old, fields] = [fieldsOf(s), {} as Record<string, unknown>];
    for (const f of parts.exprs) fields[f] = expr(old[f] as Expr);
    for (const f of parts.dims) if (old[f] !== undefined) fields[f] = dim(old[f] as Dim);
    for (const f of parts.conditions) fields[f] = when(old[f] as readonly Condition[]);
    for (const { field } of parts.memory) {
      const name = old[field] as string;
      fields[field] = memory(name);
      if (fields.index !== undefined) fields.index = place(name, fields.index as Dim);
    }
    if (parts.block !== undefined) fields[parts.block] = (old[parts.block] as Stmt[]).map(stmt);
    return whole(withFields(s, fields));
  };
  return body.map(stmt);
}

/** Whether nothing in such a statement can be exchanged. */
const isPlain = ({ exprs, dims, conditions, memory, block }: Parts): boolean =>
  exprs.length + dims.length + conditions.length + memory.length === 0 && block === undefined;

/**
 * Statements under other loop variables. A value that was made before is found again by the
 * coordinates it was made at, so that renaming afterwards is safe where renaming first might print
 * them otherwise.
 */
export function substituteIn(body: readonly Stmt[], by: Rename): Stmt[] {
  // Statements share index expressions.
  const made = new Map<Dim, Dim>();
  const dim = (d: Dim): Dim => {
    if (typeof d === "number") return d;
    const known = made.get(d) ?? substitute(d, by);
    made.set(d, known);
    return known;
  };
  return mapStmts(body, { dim });
}

/** The statements, each one's block replaced by what `change` makes of it. */
export function mapBlock(s: Stmt, change: (body: readonly Stmt[]) => readonly Stmt[]): Stmt {
  const { block } = partsOf(s);
  if (block === undefined) return s;
  return withFields(s, { [block]: change(fieldsOf(s)[block] as readonly Stmt[]) });
}
