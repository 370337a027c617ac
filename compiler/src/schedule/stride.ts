/** How an index moves with a symbol. */
import { type Dim, symbolsIn } from "@kiln-ml/ir";

/** The coefficient of a symbol in an index, if it stands alone in one term; 0 if it does not occur. */
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
