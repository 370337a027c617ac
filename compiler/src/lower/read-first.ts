/**
 * Stores that follow each other and meet in memory: values that are still to be computed from the old contents are
 * computed before the first of them overwrites it. Only needed once parameters that share a place have one name.
 *
 *   v[i] = v[i]·μ + g[i]            let next0 = w[i] − lr·(v[i]·μ + g[i])
 *   w[i] = w[i] − lr·(v[i]·μ + g)   →   v[i] = v[i]·μ + g[i]
 *                                       w[i] = next0
 */
import type { Expr, Kernel, Stmt } from "../kernel/kernel.ts";
import { walkStmts } from "./walk.ts";

type Store = Extract<Stmt, { kind: "store" }>;

/** The kernel with the values of such stores to `shared` parameters named first. */
export function readFirst(kernel: Kernel, shared: ReadonlySet<string>): Kernel {
  const taken = new Set(kernel.params.map((p) => p.name));
  let count = 0;
  const fresh = (): string => {
    let name = `next${count++}`;
    while (taken.has(name)) name = `next${count++}`;
    return name;
  };
  const block = (stmts: readonly Stmt[]): Stmt[] => {
    const out: Stmt[] = [];
    let row: Store[] = [];
    const flush = () => {
      out.push(...separate(row, shared, fresh));
      row = [];
    };
    for (const s of stmts) {
      if (s.kind === "store") {
        row.push(s);
        continue;
      }
      // The indices of gathers stand before the store that needs them; they do not end a row, unless it writes
      // other memory that they read.
      const stays = s.kind === "letDynamic" && !readsAny(s.value, othersIn(row, shared));
      if (!stays) flush();
      if (s.kind === "loop") out.push({ ...s, body: block(s.body) });
      else if (s.kind === "if") out.push({ ...s, then: block(s.then) });
      else out.push(s);
    }
    flush();
    return out;
  };
  return { ...kernel, body: block(kernel.body) };
}

const othersIn = (row: readonly Store[], shared: ReadonlySet<string>): Set<string> =>
  new Set(row.map((s) => s.to).filter((name) => !shared.has(name)));

/** Names the values of stores that read what an earlier store of the row writes. */
function separate(row: readonly Store[], shared: ReadonlySet<string>, fresh: () => string): Stmt[] {
  const written = new Set<string>();
  const lets: Stmt[] = [];
  const stores = row.map((s): Stmt => {
    const late = readsAny(s.value, written);
    if (shared.has(s.to)) written.add(s.to);
    if (!late) return s;
    const name = fresh();
    lets.push({ kind: "let", name, value: s.value });
    return { ...s, value: { kind: "ref", name, dtype: s.value.dtype } };
  });
  return [...lets, ...stores];
}

function readsAny(value: Expr, names: ReadonlySet<string>): boolean {
  let found = false;
  walkStmts([{ kind: "let", name: "", value }], {
    expr: (e) => {
      if (e.kind === "load" && names.has(e.from)) found = true;
    },
  });
  return found;
}
