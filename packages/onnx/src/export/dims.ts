/**
 * Dims as int64 arithmetic of a graph. Symbols are read off the shapes of inputs, at an axis whose extent is the symbol,
 * or a multiple of it and a constant.
 */
import { type Atom, type Dim, type DimSymbol, minOfDim, symbolsIn, type Term } from "@kiln-ml/ir";
import type { Builder } from "./builder.ts";

/** int64[1] of a dim. */
export function dimVector(b: Builder, d: Dim): string {
  if (typeof d === "number") return b.ints([d]);
  return d.terms.map((t) => termVector(b, t)).reduce((sum, t) => b.op("Add", [sum, t]));
}

function termVector(b: Builder, { coeff, atoms }: Term): string {
  const factors = atoms.map((a) => atomVector(b, a));
  if (coeff !== 1 || factors.length === 0) factors.push(b.ints([coeff]));
  return factors.reduce((product, f) => b.op("Mul", [product, f]));
}

function atomVector(b: Builder, a: Atom): string {
  if (a.kind === "symbol") return b.symbol(a.name);
  const [x, y] = [dimVector(b, a.lhs), dimVector(b, a.rhs)];
  if (a.kind === "min" || a.kind === "max") return b.op(a.kind === "min" ? "Min" : "Max", [x, y]);
  // A divisor of 0 stands where there are no elements; ONNX leaves it open what division does then.
  const divisor = minOfDim(a.rhs) >= 1 ? y : b.op("Max", [y, b.ints([1])]);
  if (a.kind === "mod") return b.op("Mod", [x, divisor]);
  // Div truncates, Mod takes the sign of the divisor.
  const exact = minOfDim(a.lhs) >= 0 ? x : b.op("Sub", [x, b.op("Mod", [x, divisor])]);
  return b.op("Div", [exact, divisor]);
}

/** An input of a model, as far as symbols are concerned. */
export interface Shaped {
  readonly name: string;
  readonly shape: readonly Dim[];
}

/** How to compute each symbol of the inputs' shapes. */
export function symbolSources(
  inputs: readonly Shaped[],
): ReadonlyMap<string, (root: Builder) => string> {
  const sources = new Map<string, (root: Builder) => string>();
  const linear: [DimSymbol, coeff: number, constant: number, (root: Builder) => string][] = [];
  for (const { name, shape } of inputs)
    shape.forEach((d, axis) => {
      const extent = (root: Builder) => root.op("Shape", [name], { start: axis, end: axis + 1 });
      const [symbol, ...others] = symbolsIn(d).values();
      if (typeof d === "number" || !symbol || others.length) return;
      const [first, last] = d.terms as [Term, Term?];
      const alone = first.atoms.length === 1 && first.atoms[0] === symbol;
      const constant = last ? (last.atoms.length === 0 ? last.coeff : undefined) : 0;
      if (!alone || d.terms.length > 2 || constant === undefined || first.coeff < 1) return;
      linear.push([symbol, first.coeff, constant, extent]);
    });
  // Plain extents first: the others cost arithmetic.
  linear.sort(([, a, b], [, c, d]) => Number(a !== 1 || b !== 0) - Number(c !== 1 || d !== 0));
  for (const [{ name }, coeff, constant, extent] of linear)
    if (!sources.has(name))
      sources.set(name, (root) => {
        const rest = constant
          ? root.op("Sub", [extent(root), root.ints([constant])])
          : extent(root);
        return coeff === 1 ? rest : root.op("Div", [rest, root.ints([coeff])]);
      });
  return sources;
}
