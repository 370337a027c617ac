/** How an index moves with a symbol, and how statements walk memory. */
import { type Dim, symbolsIn } from "@kiln-ml/ir";
import type { Stmt } from "./kernel.ts";
import { walkStmts } from "./walk.ts";

/**
 * The coefficient of a symbol in an index, if it stands alone in one term; 0 if it does not occur.
 */
export function strideOf(d: Dim, name: string): number | undefined {
  if (!symbolsIn(d).has(name)) return 0;
  if (typeof d === "number") return undefined;
  const terms = d.terms.filter((t) => t.atoms.some((a) => a.kind !== "symbol" || a.name === name));
  const own = terms.filter((t) => t.atoms.some((a) => a.key === name));
  const hidden = terms.some((t) =>
    t.atoms.some(
      (a) => a.kind !== "symbol" && (symbolsIn(a.lhs).has(name) || symbolsIn(a.rhs).has(name)),
    ),
  );
  return !hidden && own.length === 1 && own[0]!.atoms.length === 1 ? own[0]!.coeff : undefined;
}

export interface Named {
  readonly name: string;
}

/**
 * True if most loads and stores step by one element along loop `o`, and not along loop `i` inside
 * it.
 */
export function walksByColumn(body: readonly Stmt[], o: Named, i: Named): boolean {
  let [byColumn, byRow] = [0, 0];
  const touch = (_: string, index: Dim = 0): void => {
    const along = strideOf(index, i.name);
    if (along === 0) return;
    if (strideOf(index, o.name) === 1) byColumn++;
    else if (along === 1 || along === -1) byRow++;
  };
  walkStmts(body, { memory: touch });
  return byColumn > byRow;
}
