/** The value of a dim. */
import { type Atom, applyAtom, type Dim } from "./dim.ts";
import { ShapeError } from "./errors.ts";

/** The value of `d` when every symbol is bound. Throws ShapeError naming the first one that is not. */
export function evaluateDim(d: Dim, values: Readonly<Record<string, number>>): number {
  if (typeof d === "number") return d;
  let sum = 0;
  for (const t of d.terms) {
    let product = t.coeff;
    for (const a of t.atoms) product *= evaluateAtom(a, values);
    sum += product;
  }
  return sum;
}

function evaluateAtom(a: Atom, values: Readonly<Record<string, number>>): number {
  if (a.kind === "symbol") {
    const v = values[a.name];
    if (v === undefined) throw new ShapeError(`dim: ${a.name} has no value`);
    return v;
  }
  return applyAtom(a.kind, evaluateDim(a.lhs, values), evaluateDim(a.rhs, values)) as number;
}
