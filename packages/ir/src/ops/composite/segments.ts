/**
 * Scatter along one axis, and sums, means and extremes of rows by the number of the group they
 * belong to, as graphs and packed sequences have them.
 */
import { type Dim, sameDim } from "../../dim.ts";
import { isFloat, isInteger, maxOf, minOf } from "../../dtype.ts";
import { DtypeError, GraphError, ShapeError } from "../../errors.ts";
import { checkExtentKind } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis, printShape } from "../../shape.ts";
import { checkTensor, range } from "../apply.ts";
import { full, ones, zeros } from "../create.ts";
import { maximum } from "../elementwise/binary.ts";
import { convert } from "../elementwise/convert.ts";
import { scatter, take } from "../gather.ts";
import { broadcastInDim } from "../movement.ts";
import { iota } from "../source.ts";
import { inFloat32 } from "./in-float32.ts";

const modes = ["set", "add", "mul", "max", "min", "mean"] as const;

/** How updates meet what is there; "mean" is that of it and all updates. */
export type ScatterMode = (typeof modes)[number];

/**
 * x with updates combined into the places along one axis: y[…, indices[…, i, …], …] ∘= updates[…,
 * i, …], the reverse of `takeAlongAxis`.
 *
 * indices, integers, and updates of one shape: the rank of x and its extents on the other axes →
 * the shape of x. Negative indices count from the end, updates outside are dropped; with "set" the
 * last one counts. "mean" is (x + Σ)/(1 + count). Throws ShapeError where shapes do not fit,
 * DtypeError for indices that are no integers. `torch.scatter`, `scatter_add`, `scatter_reduce`.
 *
 * @param x The tensor.
 * @param mode How an update is combined: "set", "add", "mul", "max", "min" or "mean".
 * @example
 *   const at = tensor([2, 2], { dtype: "i32" });
 *   scatterAlongAxis(zeros([3]), at, ones([2]), 0, "add") // [0, 0, 2]
 */
export function scatterAlongAxis(
  x: Tensor,
  indices: Tensor,
  updates: Tensor,
  axis = -1,
  mode: ScatterMode = "set",
): Tensor {
  for (const t of [x, indices, updates]) checkTensor("scatterAlongAxis", t);
  const a = checkAxis("scatterAlongAxis", axis, x.rank);
  const fits = (t: Tensor, of: Tensor, but?: number) =>
    t.rank === of.rank && t.shape.every((d, i) => i === but || sameDim(d, of.shape[i]!));
  if (!fits(indices, x, a) || !fits(updates, indices))
    throw new ShapeError(
      `scatterAlongAxis: x is ${printShape(x.shape)}, indices are ${printShape(indices.shape)}, updates ${printShape(updates.shape)}\n  indices and updates have one shape, and that of x but along axis ${a}`,
    );
  if (!modes.includes(mode))
    throw new GraphError(
      `scatterAlongAxis: mode is ${String(mode)}\n  it is one of ${modes.join(", ")}`,
    );
  if (!isInteger(indices.dtype))
    throw new DtypeError(`scatterAlongAxis: indices are ${indices.dtype}, not an integer`);
  const places = range(x.rank).map((i) => (i === a ? indices : iota(indices.shape, i)));
  const put = (into: Tensor, of: Tensor, how: Exclude<ScatterMode, "mean">) =>
    scatter(into, of, places, range(x.rank), how);
  if (mode !== "mean") return put(x, updates, mode);
  return inFloat32([x, updates], (into, of) => {
    const counts = put(ones(x.shape, "i32"), ones(indices.shape, "i32"), "add");
    return put(into, of, "add").div(convert(counts, into.dtype));
  });
}

function checkSegments(op: string, x: Tensor, ids: Tensor, count: Dim): void {
  for (const t of [x, ids]) checkTensor(op, t);
  if (count === undefined) throw new ShapeError(`${op}: the number of segments is missing`);
  checkExtentKind(op, "the number of segments", count);
  if (!isInteger(ids.dtype)) throw new DtypeError(`${op}: ids are ${ids.dtype}, not an integer`);
  if (x.rank < 1 || ids.rank !== 1 || !sameDim(ids.shape[0]!, x.shape[0]!))
    throw new ShapeError(
      `${op}: x is ${printShape(x.shape)}, ids are ${printShape(ids.shape)}\n  one id for each row of x: [n,...] and [n]`,
    );
}

const segmentShape = (x: Tensor, count: Dim): Dim[] => [count, ...x.shape.slice(1)];

/**
 * Sums of rows by segment: y[s] = Σ x[i] over ids[i] = s; 0 for a segment without rows. Rows of ids
 * outside 0 … count − 1 are dropped.
 *
 * x[n, D…], ids: integers [n], in any order → [count, D…]. Throws ShapeError unless there is an id
 * for each row. `jax.ops.segment_sum`, `torch_geometric.utils.scatter`.
 *
 * @param x [n, …], a row an element.
 * @param count How many segments.
 * @example
 *   segmentSum(tensor([1, 2, 3]), tensor([0, 0, 1], { dtype: "i32" }), 2) // [3, 3]
 */
export function segmentSum(x: Tensor, ids: Tensor, count: Dim): Tensor {
  checkSegments("segmentSum", x, ids, count);
  return scatter(zeros(segmentShape(x, count), x.dtype), x, [ids], [0], "add", {
    negative: "outside",
  });
}

/** The rows of each segment, 1 or more, beside what is summed over them. */
function rowsOf(x: Tensor, ids: Tensor, count: Dim): Tensor {
  const n = segmentSum(ones([x.shape[0]!], "i32"), ids, count);
  return broadcastInDim(convert(maximum(n, 1), x.dtype), segmentShape(x, count), [0]);
}

/**
 * Means of rows by segment, 0 for a segment without rows. Shapes and errors as `segmentSum`;
 * integers become f32. `torch.segment_reduce`.
 *
 * @param x [n, …], a row an element.
 * @param ids Integers [n]: the segment of each row.
 * @param count How many segments.
 * @example
 *   segmentMean(tensor([3, 1, 2]), tensor([0, 0, 1], { dtype: "i32" }), 2) // [2, 2]
 */
export function segmentMean(x: Tensor, ids: Tensor, count: Dim): Tensor {
  checkSegments("segmentMean", x, ids, count);
  return inFloat32([isFloat(x.dtype) ? x : convert(x, "f32")], (wide) =>
    segmentSum(wide, ids, count).div(rowsOf(wide, ids, count)),
  );
}

const extreme = (op: string, mode: "max" | "min") => (x: Tensor, ids: Tensor, count: Dim): Tensor => {
  checkSegments(op, x, ids, count);
  const ends = mode === "max" ? [Number.NEGATIVE_INFINITY, minOf] : [Number.POSITIVE_INFINITY, maxOf];
  const worst = isFloat(x.dtype) ? (ends[0] as number) : (ends[1] as typeof minOf)(x.dtype);
  const start = full(segmentShape(x, count), worst, x.dtype);
  return scatter(start, x, [ids], [0], mode, { negative: "outside" });
}; // biome-ignore format: short

/**
 * The largest of rows by segment; −∞, or the least integer, for a segment without rows. Shapes and
 * errors as `segmentSum`. `jax.ops.segment_max`.
 *
 * @param x [n, …], a row an element.
 * @param ids Integers [n]: the segment of each row.
 * @param count How many segments.
 * @example
 *   segmentMax(tensor([3, 1, 2]), tensor([0, 0, 1], { dtype: "i32" }), 2) // [3, 2]
 */
export const segmentMax: (x: Tensor, ids: Tensor, count: Dim) => Tensor = /* @__PURE__ */ extreme("segmentMax", "max"); // biome-ignore format: one line
/**
 * The smallest of rows by segment; ∞, or the greatest integer, for a segment without rows.
 * `jax.ops.segment_min`.
 *
 * @param x [n, …], a row an element.
 * @param ids Integers [n]: the segment of each row.
 * @param count How many segments.
 * @example
 *   const ids = tensor([0, 0, 1], { dtype: "i32" });
 *   segmentMin(tensor([3, 1, 2]), ids, 2) // [1, 2]
 */
export const segmentMin: (x: Tensor, ids: Tensor, count: Dim) => Tensor = /* @__PURE__ */ extreme("segmentMin", "min"); // biome-ignore format: one line

/**
 * Softmax over the rows of each segment: e^(x[i] − max)/Σ e^(x[j] − max) over the rows j of its
 * segment.
 *
 * x: float[n, D…], ids: integers [n] in 0 … count − 1 → [n, D…]. Integers become f32. Errors as
 * `segmentSum`. `torch_geometric.utils.softmax`.
 *
 * @param count How many segments.
 * @example
 *   const ids = tensor([0, 0, 1], { dtype: "i32" });
 *   segmentSoftmax(tensor([5, 5, 9]), ids, 2) // [½, ½, 1]; as attention over edges into a node
 */
export function segmentSoftmax(x: Tensor, ids: Tensor, count: Dim): Tensor {
  checkSegments("segmentSoftmax", x, ids, count);
  return inFloat32([isFloat(x.dtype) ? x : convert(x, "f32")], (wide) => {
    const back = (t: Tensor) => take(t, ids, 0, { negative: "outside" });
    const top = back(segmentMax(wide, ids, count)).stopGradient();
    const e = wide.sub(top).exp();
    return e.div(back(segmentSum(e, ids, count)));
  });
}
