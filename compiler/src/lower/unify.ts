/**
 * Gives kernel parameters that lie in one place one name: a value that overwrites a parameter it was computed from is read and
 * written through a single binding. Stores that stand together then take their values first.
 */
import type { Place } from "@kiln-ml/artifact";
import type { Expr, Kernel, Param, Stmt } from "../kernel/kernel.ts";

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
  return {
    kernel: {
      ...kernel,
      params,
      body: valuesFirst(renameStmts(kernel.body, rename), new Set(rename.values())),
    },
    args,
  };
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

/** In a run of neighbouring stores that overwrites what its values read, values before stores. */
function valuesFirst(
  stmts: readonly Stmt[],
  shared: ReadonlySet<string>,
  names = { next: 0 },
): Stmt[] {
  const out: Stmt[] = [];
  for (let i = 0; i < stmts.length; i++) {
    const s = stmts[i]!;
    if (s.kind === "loop") out.push({ ...s, body: valuesFirst(s.body, shared, names) });
    else if (s.kind === "if") out.push({ ...s, then: valuesFirst(s.then, shared, names) });
    else if (s.kind === "store") {
      const run: Extract<Stmt, { kind: "store" }>[] = [];
      for (let x: Stmt | undefined = s; x?.kind === "store"; x = stmts[i + run.length]) run.push(x);
      i += run.length - 1;
      if (run.length === 1 || !run.some((r) => shared.has(r.to))) out.push(...run);
      else out.push(...storedLater(run, names));
    } else out.push(s);
  }
  return out;
}

function storedLater(run: readonly Extract<Stmt, { kind: "store" }>[], names: { next: number }) {
  const lets: Stmt[] = [];
  const stores = run.map((s): Stmt => {
    const name = `new${names.next++}`;
    lets.push({ kind: "let", name, value: s.value });
    return { ...s, value: { kind: "ref", name, dtype: s.value.dtype } };
  });
  return [...lets, ...stores];
}
