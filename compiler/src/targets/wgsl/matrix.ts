/**
 * Matrices of a subgroup in WGSL, by Dawn's experimental extension. Offsets and strides count elements of the array, so those of an
 * array of vectors count vectors.
 */
import { type Dim, floorDiv } from "@kiln-ml/ir";
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
      const place = placeOf(p, s.from, s.index, s.stride);
      e.line(`let ${name} = subgroupMatrixLoad<${type}, ${major}>(&${textOf(s.from)}, ${place});`);
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
      const place = placeOf(p, s.to, s.index, undefined);
      const stride = strideText(p, s.to, s.stride);
      const to = `&${textOf(s.to)}, ${place}, ${textOf(s.name)}, ${stride}`;
      e.line(`subgroupMatrixStore<row_major>(${to});`);
      return;
    }
    default:
      s satisfies never;
  }
}

const strideText = (p: Printer, name: string, stride: number): string =>
  `${stride / (p.widths.get(name) ?? 1)}u`;

function placeOf(p: Printer, name: string, index: Dim, stride: number | undefined): string {
  const at = floorDiv(p.e.resolved(index), p.widths.get(name) ?? 1);
  const offset = `u32(${indexText(p.e, at).text})`;
  return stride === undefined ? offset : `${offset}, ${strideText(p, name, stride)}`;
}
