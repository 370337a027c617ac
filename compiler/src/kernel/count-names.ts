/**
 * Numbers the names that lowering made up, from 0 in the order in which a kernel binds them: so a
 * text does not depend on how often a schedule looked at itself before it was done, and equal
 * kernels have equal text.
 */
import { type Dim, type DimSymbol, ofAtom, substitute, symbolsIn } from "@kiln-ml/ir";
import type { Stmt } from "./kernel.ts";
import { mapStmts } from "./map.ts";
import { bindingOf, partsOf, withFields } from "./parts.ts";
import { walkStmts } from "./walk.ts";

/** The statements with the names that are one of `stems` and a number counted anew. */
export function countedNames(body: readonly Stmt[], stems: ReadonlySet<string>): readonly Stmt[] {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const symbols = new Map<string, DimSymbol>();
  walkStmts(body, {
    stmt: (s) => {
      const name = bindingOf(s)?.name;
      const [, stem, mark] = /^([a-z]+)\d+('?)$/.exec(name ?? "") ?? [];
      if (stem === undefined || !stems.has(stem) || names.has(name!)) return;
      const count = counts.get(stem) ?? 0;
      counts.set(stem, count + 1);
      names.set(name!, `${stem}${count}${mark}`);
    },
    dim: (d) => {
      for (const [name, symbol] of symbolsIn(d)) symbols.set(name, symbol);
    },
  });
  if ([...names].every(([from, to]) => from === to)) return body;
  const by = new Map<string, Dim>();
  for (const [from, name] of names) {
    const symbol = symbols.get(from);
    if (symbol && from !== name) by.set(from, ofAtom({ ...symbol, name, key: name }));
  }
  return mapStmts(body, {
    dim: (d) => substitute(d, by),
    expr: (e) => (e.kind === "ref" && names.has(e.name) ? { ...e, name: names.get(e.name)! } : e),
    stmt: (s) => {
      const { binds } = partsOf(s);
      const to = names.get(bindingOf(s)?.name ?? "");
      return binds && to !== undefined ? withFields(s, { [binds.field]: to }) : s;
    },
  });
}
