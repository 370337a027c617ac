/**
 * The symbols of an ONNX file as dims: names that are no identifiers are made so, and a caller may say what a symbol is made of.
 */
import { type Dim, dim, parseDim } from "@kiln-ml/ir";

const identifier = (name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
};

/** The extent that `symbol` stands for: what `dims` says, a number or an expression in other symbols, or a symbol of its own. */
export function declaredExtent(
  symbol: string,
  dims: Readonly<Record<string, number | string>>,
): Dim {
  const given = Object.hasOwn(dims, symbol) ? dims[symbol]! : undefined;
  if (typeof given === "number") return given;
  if (given === undefined) return dim(identifier(symbol));
  const names = given.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
  return parseDim(given, new Map(names.map((name) => [name, dim(name)])));
}
