/** Rows that read and write by index: gathers, scatters, sorting and searching. */
import {
  type BincountAttrs,
  backend_util,
  type DenseBincountAttrs,
  type GatherV2Attrs,
  type ScatterNdAttrs,
  type SearchSortedAttrs,
  type SparseToDenseAttrs,
  type TopKAttrs,
  type UnsortedSegmentSumAttrs,
  util,
} from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import { asIndex, range, shapeOf } from "./operand.ts";
import { axesOf } from "./reduce.ts";

/** Indices below zero are out of range, as they are in tfjs. */
const places = { negative: "outside" } as const;

function gather({ x, indices }: Operands, { axis, batchDims }: GatherV2Attrs): Tensor {
  const [along] = axesOf(x!, axis);
  // Throws where the axes of the batch do not fit.
  backend_util.segment_util.collectGatherOpShapeInfo(
    x as never,
    indices as never,
    along!,
    batchDims,
  );
  const index = asIndex(indices!);
  const batch = batchDims < 0 ? indices!.rank + batchDims : batchDims;
  if (batch === 0) return ir.take(x!, index, along!, places);
  // Axes of the batch are indexed by their own places; they come first, then the rest of x.
  const shape = shapeOf(index);
  const own = range(batch).map((i) => ir.iota(shape, i));
  const picked = ir.gather(x!, [...own, index], [...range(batch), along!], places);
  const rest = range(along! - batch);
  const order = [
    ...range(batch),
    ...rest.map((i) => shape.length + i),
    ...range(shape.length - batch).map((i) => batch + i),
    ...range(picked.rank - shape.length - rest.length).map((i) => shape.length + rest.length + i),
  ];
  return ir.transpose(picked, order);
}

/** The columns of indices [S…, k], each a tensor of shape S. */
function columns(indices: Tensor): Tensor[] {
  const index = asIndex(indices);
  return range(shapeOf(index).at(-1)!).map((i) => ir.take(index, i, -1));
}

function gatherNd({ params, indices }: Operands): Tensor | undefined {
  const list = columns(indices!);
  if (list.length === 0 || util.sizeFromShape(shapeOf(params!)) === 0) return undefined;
  return ir.gather(params!, list, range(list.length), places);
}

function scattered(
  onto: Tensor,
  indices: Tensor,
  updates: Tensor,
  mode: "add" | "set",
): Tensor | undefined {
  // Indices of a vector are one number each.
  const pairs = indices.rank < 2 ? ir.reshape(indices, [shapeOf(indices)[0] ?? 1, 1]) : indices;
  const list = columns(pairs);
  if (list.length === 0) return undefined;
  const wanted = [...shapeOf(list[0]!), ...shapeOf(onto).slice(list.length)];
  return ir.scatter(onto, ir.broadcastTo(updates, wanted), list, range(list.length), mode, places);
}

function scatterNd({ indices, updates }: Operands, { shape }: ScatterNdAttrs): Tensor | undefined {
  if (updates!.dtype === "bool") return undefined;
  return scattered(ir.zeros(shape, updates!.dtype), indices!, updates!, "add");
}

function sparseToDense(
  { sparseIndices, sparseValues, defaultValue }: Operands,
  { outputShape }: SparseToDenseAttrs,
): Tensor | undefined {
  const onto = ir.broadcastTo(defaultValue!, outputShape);
  return scattered(onto, sparseIndices!, sparseValues!, "set");
}

function segmentSum(
  { x, segmentIds }: Operands,
  { numSegments }: UnsortedSegmentSumAttrs,
): Tensor | undefined {
  if (x!.dtype === "bool" || segmentIds!.rank !== 1) return undefined;
  const onto = ir.zeros([numSegments, ...shapeOf(x!).slice(1)], x!.dtype);
  return ir.scatter(onto, x!, [segmentIds!], [0], "add", places);
}

function topK({ x }: Operands, { k }: TopKAttrs): Tensor[] | undefined {
  if (x!.dtype === "bool" || k === 0) return undefined;
  const { values, indices } = ir.topK(x!, k);
  return [values, indices];
}

function searchSorted({ sortedSequence, values }: Operands, { side }: SearchSortedAttrs): Tensor {
  return ir.searchsorted(sortedSequence!, values!, { right: side === "right" });
}

/** Each row of x counted by itself; elements out of range are left out. */
function bincount({ x, weights }: Operands, attrs: DenseBincountAttrs): Tensor | undefined {
  const { size, binaryOutput } = attrs;
  const index = asIndex(x!);
  if (x!.rank > 2) return undefined;
  const weighted = util.sizeFromShape(shapeOf(weights!)) > 0 && !binaryOutput;
  const shape = shapeOf(x!);
  const each = weighted ? ir.reshape(weights!, shape) : ir.ones(shape, weights!.dtype);
  if (each.dtype === "bool") return undefined;
  const mode = binaryOutput ? "max" : "add";
  if (shape.length === 1)
    return ir.scatter(ir.zeros([size], each.dtype), each, [index], [0], mode, places);
  const onto = ir.zeros([shape[0]!, size], each.dtype);
  return ir.scatter(onto, each, [ir.iota(shape, 0), index], [0, 1], mode, places);
}

export const gathers: Rows = {
  GatherV2: gather,
  GatherNd: gatherNd,
  ScatterNd: scatterNd,
  TensorScatterUpdate: ({ tensor, indices, updates }: Operands) =>
    scattered(tensor!, indices!, updates!, "set"),
  SparseToDense: sparseToDense,
  UnsortedSegmentSum: segmentSum,
  TopK: topK,
  SearchSorted: searchSorted,
  DenseBincount: bincount,
  Bincount: ({ x, weights }: Operands, { size }: BincountAttrs) =>
    bincount({ x: ir.flatten(x!), weights: weights! }, { size }),
};
