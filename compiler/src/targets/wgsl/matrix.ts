/**
 * Matrices of a subgroup in WGSL, by Dawn's experimental extension. Offsets and strides count
 * elements of the array, so those of an array of vectors count vectors. Tint checks what it cannot
 * prove at each use, by an offset and a stride that are computed, which halves the rate: so a
 * matrix is loaded from a part of an array, at a constant.
 */
import { type Dim, floorDiv, modDim } from "@kiln-ml/ir";
import type { MatrixStep } from "../../kernel/matrix.ts";
import { indexText } from "../index-text.ts";
import { atom } from "../scope.ts";
import type { Printer } from "./language.ts";

export function printMatrix(p: Printer, s: MatrixStep): void {
  const { e } = p;
  const textOf = (name: string): string => e.find(name).text.text;
  switch (s.step) {
    case "zero": {
      const name = e.fresh(s.name);
      e.line(`var ${name}: subgroup_matrix_result<f32, ${s.shape.n}, ${s.shape.m}>;`);
      e.bindName(s.name, atom(name));
      return;
    }
    case "load": {
      const { m, n, k } = s.shape;
      const [columns, rows] = s.side === "left" ? [k, m] : [n, k];
      const type = `subgroup_matrix_${s.side}<f16, ${columns}, ${rows}>`;
      const major = s.turned ? "col_major" : "row_major";
      const name = e.fresh(s.name);
      const place = `${placeOf(p, s.from, s.index)}, ${strideText(p, s.from, s.stride)}`;
      e.line(`let ${name} = subgroupMatrixLoad<${type}, ${major}>(${place});`);
      e.bindName(s.name, atom(name));
      return;
    }
    case "multiply": {
      const name = textOf(s.name);
      const factors = `${textOf(s.left)}, ${textOf(s.right)}`;
      e.line(`${name} = subgroupMatrixMultiplyAccumulate(${factors}, ${name});`);
      return;
    }
    case "store": {
      const place = placeOf(p, s.to, s.index);
      const to = `${place}, ${textOf(s.name)}, ${strideText(p, s.to, s.stride)}`;
      e.line(`subgroupMatrixStore<row_major>(${to});`);
      return;
    }
    default:
      s satisfies never;
  }
}

const strideText = (p: Printer, name: string, stride: number): string =>
  `${stride / (p.widths.get(name) ?? 1)}u`;

/** A pointer to the array, or to the part of it, and the offset there. */
function placeOf(p: Printer, name: string, index: Dim): string {
  const at = floorDiv(p.e.resolved(index), p.widths.get(name) ?? 1);
  const { text } = p.e.find(name).text;
  const size = p.parts.get(name);
  const offset = (d: Dim): string => `u32(${indexText(p.e, d).text})`;
  if (size === undefined) return `&${text}, ${offset(at)}`;
  const part = indexText(p.e, floorDiv(at, size)).text;
  return `&${text}[${part}], ${offset(modDim(at, size))}`;
}
