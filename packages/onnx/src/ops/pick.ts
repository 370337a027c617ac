/**
 * Ops that sort and that pick elements. Where the number of results depends on values, that number is computed first and demanded; the
 * results are then of that extent.
 */
import {
  checkAxis,
  type Dim,
  isNonNegative,
  minDim,
  nonzero,
  placesOfTrue,
  slice,
  subDim,
  type Tensor,
  take,
  topK,
  transpose,
  unique,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { flat } from "./shape.ts";

/** The k greatest or least, and their places. */
function topped(n: NodeContext): Result {
  const x = n.tensor(0);
  const k = n.opset < 10 ? n.int("k") : n.dims(1)[0]!;
  const axis = checkAxis("topK", n.int("axis", -1), x.rank);
  const largest = n.flag("largest", true);
  const { values, indices } = topK(x, k, axis, { largest });
  return [typed(values, n.type(0)), typed(indices, "int64")];
}

/** The number of true elements, as import must know it. */
export function countOf(n: NodeContext, mask: Tensor, what: string): Dim {
  const count = typed(mask.convert("i32").sum(), "int64");
  return n.knownOf(count, what)[0]!;
}

/** Coordinates of all elements that are not 0, an axis a row. */
function nonZero(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const mask = flat(x.dtype === "bool" ? x : x.notEqual(0));
  const size = countOf(n, mask, "the number of elements that are not 0");
  return transpose(nonzero(x, { size }), [1, 0]);
}

/** The slices for which the condition holds; it may be shorter than the axis. */
function compressed(n: NodeContext): Tensor {
  const x = n.hasAttribute("axis") ? n.tensor(0) : flat(n.tensor(0));
  const axis = checkAxis("compress", n.int("axis", 0), x.rank);
  const [given, extent] = [n.tensor(1), x.shape[axis]!];
  const length = given.shape[0]!;
  const longer = !isNonNegative(subDim(extent, length));
  const mask = longer ? slice(given, [0], [minDim(length, extent)]) : given;
  const count = countOf(n, mask, "the number of slices kept");
  return take(x, placesOfTrue(mask, count), axis);
}

/** Distinct elements or slices, the places of their first and the number of all; sorted, or as they come. */
function distinct(n: NodeContext): Result {
  const size = (count: Tensor): Dim =>
    n.knownOf(typed(count, "int64"), "the number of distinct values")[0]!;
  const axis = n.hasAttribute("axis") ? { axis: n.int("axis") } : {};
  const found = unique(n.tensor(0), { ...axis, size, sorted: n.flag("sorted", true) });
  return [
    typed(found.values, n.type(0)),
    ...[found.indices, found.inverse, found.counts].map((t) => typed(t, "int64")),
  ];
}

export const pickRows: readonly Row[] = [
  row("TopK", topped),
  row("NonZero", nonZero, { type: "int64" }),
  row("Compress", compressed),
  row("Unique", distinct),
];
