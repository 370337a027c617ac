/** Ops that read and write by index, sort, search and pick. */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Result, Row } from "@kiln-ml/onnx";
import { asIndex, axisOf, fixed, range } from "./operand.ts";
import { alike, asValue, int, standard, tf } from "./row.ts";

/** Indices below zero are out of range, as in TensorFlow.js. */
const places = { negative: "outside" } as const;

function gathered(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const index = asIndex(n.tensor(1));
  const axis = n.has(2) ? axisOf(n, n.number(2), x.rank) : 0;
  const given = n.int("batch_dims", 0);
  const batch = given < 0 ? index.rank + given : given;
  if (batch === 0) return ir.take(x, index, axis, places);
  if (!(batch > 0 && batch <= axis && batch <= index.rank))
    n.fail(`batch_dims is ${given} for axis ${axis} and indices of rank ${index.rank}`);
  // Axes of the batch are indexed by their own places; they come first, then the rest of x.
  const own = range(batch).map((i) => ir.iota(index.shape, i));
  const picked = ir.gather(x, [...own, index], [...range(batch), axis], places);
  const [s, rest] = [index.rank, axis - batch];
  return ir.transpose(picked, [
    ...range(batch),
    ...range(rest).map((i) => s + i),
    ...range(s - batch).map((i) => batch + i),
    ...range(picked.rank - s - rest).map((i) => s + rest + i),
  ]);
}

/** The columns of indices [S…, k], each a tensor of shape S. */
function columns(n: NodeContext, indices: Tensor): Tensor[] {
  const count = fixed(n, indices.shape.at(-1) ?? 1, "the length of index tuples");
  return range(count).map((i) => ir.take(asIndex(indices), i, -1));
}

function gatherNd(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const list = columns(n, n.tensor(1));
  if (!list.length) return ir.broadcastTo(x, [...n.tensor(1).shape.slice(0, -1), ...x.shape]);
  return ir.gather(x, list, range(list.length), places);
}

function scattered(n: NodeContext, onto: Tensor, at: number, mode: "add" | "set" | "max" | "min") {
  const [indices, updates] = [n.tensor(at), n.tensor(at + 1)];
  // Indices of a vector are one number each.
  const pairs = indices.rank < 2 ? ir.reshape(indices, [ir.sizeOf(indices.shape), 1]) : indices;
  const list = columns(n, pairs);
  const wanted = [...list[0]!.shape, ...onto.shape.slice(list.length)];
  const values = ir.broadcastTo(updates, wanted);
  return ir.scatter(onto, values, list, range(list.length), mode, places);
}

function sparseToDense(n: NodeContext): Tensor {
  const values = n.tensor(2);
  const fill = n.has(3) ? n.tensor(3).convert(values.dtype) : ir.constant(0).convert(values.dtype);
  const onto = ir.broadcastTo(ir.reshape(fill, []), n.dims(1));
  const indices = asIndex(n.tensor(0));
  const pairs = indices.rank < 2 ? ir.reshape(indices, [ir.sizeOf(indices.shape), 1]) : indices;
  const list = columns(n, pairs);
  const updates = ir.broadcastTo(values, list[0]!.shape);
  return ir.scatter(onto, updates, list, range(list.length), "set", places);
}

/**
 * The sum, or another extreme, of the rows of each segment; of none it is `empty`, or the bound of
 * the dtype where that is infinite.
 */
function segments(n: NodeContext, mode: "add" | "mul" | "max" | "min", empty: number): Tensor {
  const [x, ids] = [n.tensor(0), asIndex(n.tensor(1))];
  const sorted = n.node.op.startsWith("Segment");
  const last = () => n.knownOf(asValue(ir.max(ids, 0).add(1)), "the number of segments")[0]!;
  const count = sorted ? last() : n.dims(2)[0]!;
  const bound = empty < 0 ? ir.minOf(x.dtype) : ir.maxOf(x.dtype);
  const own = Number.isFinite(empty) ? empty : bound;
  const onto = ir.full([count, ...x.shape.slice(ids.rank)], own, x.dtype);
  return ir.scatter(onto, x, [ids], [0], mode, places);
}

function segmentMean(n: NodeContext): Tensor {
  const total = segments(n, "add", 0);
  const [x, ids] = [n.tensor(0), asIndex(n.tensor(1))];
  const none = ir.zeros([total.shape[0]!], "f32");
  const count = ir.scatter(none, ir.ones(ids.shape), [ids], [0], "add", places);
  const each = ir.reshape(count, [count.shape[0]!, ...x.shape.slice(ids.rank).map(() => 1)]);
  return ir.div(total, ir.maximum(each, 1));
}

function topK(n: NodeContext): Tensor[] {
  const x = n.tensor(0);
  const k = n.has(1) ? n.dims(1)[0]! : n.int("k");
  const { values, indices } = ir.topK(x, k, -1);
  return [values, indices];
}

/** Coordinates of all that is not 0, one a row. */
const coordinates = (n: NodeContext): Tensor =>
  ir.transpose(standard(n, "NonZero", [n.value(0)])[0]!, [1, 0]);

/** Distinct elements in the order of their first places, and which of them each element is. */
const unique = (n: NodeContext): Result => {
  const x = n.tensor(0);
  // In the second version the axis is a list, empty for a vector.
  const [axis] = n.has(1) ? n.numbers(1) : [];
  const how = {
    sorted: int(0),
    ...(axis === undefined ? {} : { axis: int(axisOf(n, axis, x.rank)) }),
  };
  const [values, , inverse, counts] = standard(n, "Unique", [n.value(0)], how, 4);
  return [values!, inverse!, counts!].map(asValue);
};

/** The elements of x that are not in y, and their places. */
function listDiff(n: NodeContext): Result {
  const [x, y] = [n.tensor(0), n.tensor(1)];
  const kept = ir.not(ir.isIn(x, y));
  const count = n.knownOf(asValue(kept.convert("i32").sum()), "the number of elements kept")[0]!;
  const at = ir.placesOfTrue(kept, count);
  return [asValue(ir.take(x, at)), asValue(at)];
}

/** How often each number below `size` appears in x, in each row of a matrix by itself. */
function counted(n: NodeContext): Tensor {
  const x = asIndex(n.tensor(0));
  const size = n.dims(1)[0]!;
  const binary = n.flag("binary_output");
  const given = n.has(2) && ir.sizeOf(n.tensor(2).shape) !== 0 && !binary;
  const dtype = n.has(2) ? n.tensor(2).dtype : "i32";
  const flat = n.node.op === "Bincount" && x.rank !== 1 ? ir.flatten(x) : x;
  const each = given ? ir.reshape(n.tensor(2), flat.shape) : ir.ones(flat.shape, dtype);
  const mode = binary ? "max" : "add";
  if (flat.rank === 1) return ir.scatter(ir.zeros([size], dtype), each, [flat], [0], mode, places);
  const onto = ir.zeros([flat.shape[0]!, size] as Dim[], dtype);
  return ir.scatter(onto, each, [ir.iota(flat.shape, 0), flat], [0, 1], mode, places);
}

const search =
  (right: boolean) =>
  (n: NodeContext): Tensor =>
    ir.searchsorted(n.tensor(0), n.tensor(1), { right });

/** Whether a target is among the k best of its row, counting those that are greater. */
function inTopK(n: NodeContext): Tensor {
  const [x, targets] = [n.tensor(0), asIndex(n.tensor(1))];
  const own = ir.takeAlongAxis(x, ir.expandDims(targets, 1), 1);
  const better = ir.greater(x, own).convert("i32").sum(1);
  return ir.less(better, n.has(2) ? ir.reshape(asIndex(n.tensor(2)), []) : n.int("k"));
}

const scatterOnto =
  (mode: "add" | "set" | "max" | "min", sign = 1) =>
  (n: NodeContext): Tensor =>
    sign === 1
      ? scattered(n, n.tensor(0), 1, mode)
      : scattered(n, n.tensor(0).neg(), 1, mode).neg();

export const gatherRows: readonly Row[] = [
  ...alike("Gather GatherV2", "batch_dims", gathered),
  ...alike("GatherNd", "bad_indices_policy", gatherNd),
  tf("ScatterNd", "bad_indices_policy", (n) => {
    const updates = n.tensor(1);
    return scattered(n, ir.zeros(n.dims(2), updates.dtype), 0, "add");
  }),
  tf("TensorScatterUpdate", "bad_indices_policy", scatterOnto("set")),
  tf("TensorScatterAdd", "bad_indices_policy", scatterOnto("add")),
  tf("TensorScatterSub", "bad_indices_policy", scatterOnto("add", -1)),
  tf("TensorScatterMax", "bad_indices_policy", scatterOnto("max")),
  tf("TensorScatterMin", "bad_indices_policy", scatterOnto("min")),
  tf("SparseToDense", "", sparseToDense),
  ...alike("UnsortedSegmentSum SegmentSum", "", (n) => segments(n, "add", 0)),
  ...alike("UnsortedSegmentProd SegmentProd", "", (n) => segments(n, "mul", 1)),
  tf("UnsortedSegmentMax", "", (n) => segments(n, "max", -Infinity)),
  tf("UnsortedSegmentMin", "", (n) => segments(n, "min", Infinity)),
  tf("SegmentMean", "", segmentMean),
  ...alike("TopK TopKV2", "sorted k", topK),
  tf("Where", "", coordinates),
  ...alike("Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2", "", unique),
  tf("ListDiff", "", listDiff),
  tf("Bincount", "", counted),
  tf("DenseBincount", "binary_output", counted),
  tf("LowerBound", "", search(false)),
  tf("UpperBound", "", search(true)),
  ...alike("InTopK InTopKV2", "k", inTopK),
  tf("InvertPermutation", "", (n) => ir.argSort(n.tensor(0), 0)),
];
