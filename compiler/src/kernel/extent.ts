/**
 * Dims as the artifact writes them. The runtime evaluates extents without the dim algebra, so
 * nothing is simplified here: terms are added, factors multiplied, as they stand.
 */
import type { Extent } from "@kiln-ml/artifact";
import type { Dim } from "@kiln-ml/ir";

/** The extent with the value of `dim` for every binding of its symbols. */
export function toExtent(dim: Dim): Extent {
  if (typeof dim === "number") return dim;
  return dim.terms.map(termExtent).reduce((a, b): Extent => ["+", a, b]);
}

type DimTerm = Exclude<Dim, number>["terms"][number];

function termExtent(term: DimTerm): Extent {
  const factors = term.atoms.map((a): Extent => {
    if (a.kind === "symbol") return a.name;
    const op = a.kind === "div" ? "/" : a.kind === "mod" ? "%" : a.kind;
    return [op, toExtent(a.lhs), toExtent(a.rhs)];
  });
  if (term.coeff !== 1 || factors.length === 0) factors.unshift(term.coeff);
  return factors.reduce((a, b): Extent => ["*", a, b]);
}
