/**
 * Gives kernel parameters that lie in one place one name: a value that overwrites a parameter it was computed from is read and
 * written through a single binding.
 */
import type { Place } from "@kiln-ml/artifact";
import type { Expr, Kernel, Param, Stmt } from "../kernel/kernel.ts";
import { readFirst } from "./read-first.ts";

export function unifyParams(
  kernel: Kernel,
  places: readonly Place[],
): { kernel: Kernel; args: Place[] } {
  const first = new Map<string, number>();
  const rename = new Map<string, string>();
  const params: Param[] = [];
  const args: Place[] = [];
  kernel.params.forEach((p, i) => {
    const place = places[i]!;
    const key = `${place.in} ${place.index}`;
    const at = first.get(key);
    if (at === undefined) {
      first.set(key, params.length);
      params.push(p);
      args.push(place);
      return;
    }
    const kept = params[at]!;
    rename.set(p.name, kept.name);
    const access = kept.access === p.access ? kept.access : "readwrite";
    params[at] = { ...kept, access, width: Math.min(kept.width, p.width) as Param["width"] };
  });
  if (rename.size === 0) return { kernel, args };
  const body = renameStmts(kernel.body, rename);
  return { kernel: readFirst({ ...kernel, params, body }, new Set(rename.values())), args };
}

function renameStmts(stmts: readonly Stmt[], by: ReadonlyMap<string, string>): Stmt[] {
  const done = new Map<Expr, Expr>();
  const expr = (e: Expr): Expr => {
    const found = done.get(e);
    if (found) return found;
    let out = e;
    if (e.kind === "load" && by.has(e.from)) out = { ...e, from: by.get(e.from)! };
    else if (e.kind === "call") {
      const args = e.args.map(expr);
      if (args.some((a, i) => a !== e.args[i])) out = { ...e, args };
    }
    done.set(e, out);
    return out;
  };
  const stmt = (s: Stmt): Stmt => {
    switch (s.kind) {
      case "let":
      case "letDynamic":
      case "set":
      case "accumulate":
        return { ...s, value: expr(s.value) };
      case "acc":
        return { ...s, init: expr(s.init) };
      case "fma":
        return { ...s, a: expr(s.a), b: expr(s.b) };
      case "loop":
        return { ...s, body: s.body.map(stmt) };
      case "if":
        return { ...s, then: s.then.map(stmt) };
      case "store":
        return { ...s, to: by.get(s.to) ?? s.to, value: expr(s.value) };
      default:
        return s;
    }
  };
  return stmts.map(stmt);
}
