/**
 * Gather and scatter: reading and writing places that are given by tensors of indices, one for each
 * indexed axis. As ops they take places: gather clamps one that is out of range, scatter drops the
 * update. As functions they take indices, of which negative ones count from the end (`places.ts`).
 */

import type { UpdateMode } from "../attributes.ts";
import { claimIndices } from "../claim.ts";
import { addDim, type Dim, maxDim, negDim, sameDim, subDim } from "../dim.ts";
import { isHalf, isInteger, minOf } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import { checkList } from "../kind.ts";
import type { Attrs, Tensor } from "../node.ts";
import { defineOp } from "../op.ts";
import { requireAtLeast } from "../requirement.ts";
import { checkAxis, dropAxes, printShape, type Shape, sameShape, sizeOf } from "../shape.ts";
import { currentValue } from "../trace.ts";
import { apply, checkTensor, filled, inDtype, metFloats, numbersOf, range } from "./apply.ts";
import { sliceAxis, squeeze, transpose } from "./movement.ts";
import { placesOf } from "./places.ts";
import { lastIndex, scatterVjp } from "./scatter-gradient.ts";

function checkIndex(op: string, i: Tensor): void {
  checkTensor(op, i);
  if (!isInteger(i.dtype))
    throw new DtypeError(
      `${op}: indices are ${i.dtype}, not an integer\n  give them as an Int32Array, or a tensor or input of dtype i32`,
    );
}

function checkLists(op: string, indices: unknown, axes: unknown): void {
  checkList(op, "indices", indices);
  checkList(op, "axes", axes);
}

/** The common shape of the indices. */
function checkIndices(op: string, x: Tensor, indices: readonly Tensor[], attrs: Attrs): Shape {
  const axes = numbersOf(attrs.axes).map((a) => checkAxis(op, a, x.rank));
  if (axes.length !== indices.length || axes.length === 0 || new Set(axes).size !== axes.length)
    throw new ShapeError(
      `${op}: ${indices.length} index tensors do not name one axis each: [${axes.join(",")}]`,
    );
  for (const i of indices) {
    checkIndex(op, i);
    if (!sameShape(i.shape, indices[0]!.shape))
      throw new ShapeError(
        `${op}: index shapes differ: ${printShape(indices[0]!.shape)} and ${printShape(i.shape)}`,
      );
  }
  return indices[0]!.shape;
}

defineOp({
  name: "gather",
  family: "gather",
  infer([x, ...indices], attrs) {
    if (!x) throw new GraphError("gather: no operands");
    const shape = checkIndices("gather", x, indices, attrs);
    return { dtype: x.dtype, shape: [...shape, ...dropAxes(x.shape, numbersOf(attrs.axes))] };
  },
  vjp(g, y, x, ...indices) {
    const axes = y.attrs.axes;
    const clamped = indices.map((v, k) => clampIndex(v, x!.shape[axes[k]!]!));
    const zeros = filled(0, g.dtype, x!.shape);
    const gx = combined(zeros, g, clamped, { axes: [...axes], mode: "add" });
    return [gx, ...indices.map(() => undefined)];
  },
});

function clampIndex(index: Tensor, extent: Dim): Tensor {
  const low = minOf(index.dtype) < 0 ? filled(0, index.dtype, index.shape) : undefined;
  const high = apply("minimum", [index, lastIndex(index, extent)]);
  return low ? apply("maximum", [high, low]) : high;
}

const modes: readonly UpdateMode[] = ["add", "mul", "max", "min", "set"];

defineOp({
  name: "scatter",
  family: "scatter",
  infer([x, updates, ...indices], attrs) {
    if (!x || !updates) throw new GraphError("scatter: takes x, updates and indices");
    const shape = checkIndices("scatter", x, indices, attrs);
    const mode = attrs.mode as UpdateMode;
    if (!modes.includes(mode))
      throw new GraphError(
        `scatter: mode "${mode}" is not add, mul, max, min or set\n  take one of these; a mean is a sum by add, divided by the counts`,
      );
    if (updates.dtype !== x.dtype)
      throw new DtypeError(`scatter: updates are ${updates.dtype}, operand is ${x.dtype}`);
    if (x.dtype === "bool" && mode !== "set")
      throw new DtypeError(
        `scatter: mode ${mode} does not combine bool\n  use mode "set", or convert to i32 first`,
      );
    const wanted = [...shape, ...dropAxes(x.shape, numbersOf(attrs.axes))];
    if (!sameShape(wanted, updates.shape))
      throw new ShapeError(
        `scatter: updates are ${printShape(updates.shape)}, indices and operand ask for ${printShape(wanted)}`,
      );
    return { dtype: x.dtype, shape: x.shape };
  },
  vjp: (g, y) => scatterVjp(g, y),
});

const checked = (op: string, x: Tensor, axes: readonly number[]): number[] =>
  axes.map((a) => checkAxis(op, a, x.rank));

export interface IndexOptions {
  /**
   * What an index below 0 means: a place counted from the end, by default, or one that is out of
   * range.
   */
  readonly negative?: "fromEnd" | "outside";
}

const indexOptions: OptionNames<IndexOptions> = { negative: 1 };

/** The indices as places, each along its axis. */
function placesAlong(
  op: string,
  x: Tensor,
  indices: readonly Tensor[],
  axes: readonly number[],
  options: IndexOptions,
): readonly Tensor[] {
  const { negative = "fromEnd" } = checkOptions(op, options, indexOptions);
  if (negative === "outside" || indices.length !== axes.length) return indices;
  return indices.map((index, k) => {
    checkIndex(op, index);
    const whole = `axis ${axes[k]} of ${printShape(x.shape)}`;
    return placesOf(op, currentValue(index), x.shape[axes[k]!]!, whole);
  });
}

const outside = (x: Tensor, axes: readonly number[]): string =>
  `an index is outside axis ${axes.join(" or ")} of ${printShape(x.shape)}`;

/** An axis without elements has no places to read. */
function checkFilled(op: string, x: Tensor, indices: readonly Tensor[], axes: readonly number[]) {
  const reads = indices[0] ? sizeOf(indices[0].shape) : 0;
  for (const a of axes)
    requireAtLeast(
      maxDim(subDim(x.shape[a]!, 1), negDim(reads)),
      0,
      () => new ShapeError(`${op}: axis ${a} of ${printShape(x.shape)} is empty, it has no places`),
    );
}

function read(
  op: string,
  x: Tensor,
  indices: readonly Tensor[],
  axes: readonly number[],
  options: IndexOptions,
): Tensor {
  const places = placesAlong(op, x, indices, axes, options);
  const y = apply("gather", [x, ...places], { axes: [...axes] });
  checkFilled(op, x, indices, axes);
  return claimIndices(y, { op, holds: "places", wrong: outside(x, axes) });
}

/** A scatter whose sums and products of halves are f32 until they are whole. */
function combined(
  x: Tensor,
  updates: Tensor,
  indices: readonly Tensor[],
  attrs: { readonly axes: readonly number[]; readonly mode: UpdateMode },
): Tensor {
  const wide = isHalf(x.dtype) && (attrs.mode === "add" || attrs.mode === "mul");
  const [to, from] = wide ? [inDtype(x, "f32"), inDtype(updates, "f32")] : [x, updates];
  return inDtype(apply("scatter", [to, from, ...indices], attrs), x.dtype);
}

/**
 * Elements of x at places given by one index tensor for each of `axes`. An index counts from the
 * end if it is negative, and is clamped if it is out of range; throws ShapeError for one that is,
 * where the graph holds its value.
 *
 * Indices of one shape S, integers → S ++ (extents of x not in axes). `jax.lax.gather`;
 * `torch.take_along_dim` is `takeAlongAxis`.
 *
 * @param x [D…].
 * @param indices Integers of one shape S, a tensor for each axis of `axes`.
 * @example
 *   const x = tensor([[1, 2], [3, 4]]);
 *   const at = tensor([1, 0], { dtype: "i32" });
 *   gather(x, [at], [0]) // [[3, 4], [1, 2]]; rows
 *   gather(x, [at, at], [0, 1]) // [4, 1]; x[1, 1], x[0, 0]
 */
export function gather(
  x: Tensor,
  indices: readonly Tensor[],
  axes: readonly number[],
  options: IndexOptions = {},
): Tensor {
  checkTensor("gather", x);
  checkLists("gather", indices, axes);
  return read("gather", x, indices, checked("gather", x, axes), options);
}

/**
 * x with `updates` combined into the places given by one index tensor for each of `axes`. An index
 * counts from the end if it is negative, as in `gather`; updates out of range are dropped. With
 * mode "set", of several updates to one place the last in row-major order counts.
 *
 * Indices of one shape S, updates S ++ (extents of x not in axes) → the shape of x.
 * `torch.index_put`, `jax.lax.scatter_add`.
 *
 * @param x [D…].
 * @param indices Integers of one shape S, a tensor for each axis of `axes`.
 * @param mode How an update is combined: "add", "mul", "max", "min" or "set".
 * @example
 *   const at = tensor([1, 1], { dtype: "i32" });
 *   scatter(tensor([10, 20, 30]), tensor([1, 2]), [at], [0]) // [10, 23, 30]
 *   scatter(tensor([10, 20, 30]), tensor([1, 2]), [at], [0], "set") // [10, 2, 30]
 */
export function scatter(
  x: Tensor,
  updates: Tensor,
  indices: readonly Tensor[],
  axes: readonly number[],
  mode: UpdateMode = "add",
  options: IndexOptions = {},
): Tensor {
  checkTensor("scatter", x);
  checkLists("scatter", indices, axes);
  const [to, from] = metFloats([x, updates]) as [Tensor, Tensor];
  const list = checked("scatter", x, axes);
  const places = placesAlong("scatter", x, indices, list, options);
  const y = combined(to, from, places, { axes: list, mode });
  return claimIndices(y, { op: "scatter", holds: "places", wrong: outside(x, list) });
}

/**
 * The slices of x at `indices` along `axis`: x[D…, n, E…], indices S → [D…, S…, E…]. A number picks
 * one slice. Negative ones count from the end. Indices out of range are clamped; numbers that are,
 * and tensors whose values the graph holds, throw ShapeError. `torch.index_select`, `numpy.take`.
 *
 * @example
 *   const x = tensor([[1, 2], [3, 4], [5, 6]]);
 *   take(x, tensor([2, 0], { dtype: "i32" })) // [[5, 6], [1, 2]]
 *   take(x, -1, 1) // [2, 4, 6]; the last column
 */
export function take(
  x: Tensor,
  indices: Tensor | number,
  axis = 0,
  options: IndexOptions = {},
): Tensor {
  checkTensor("take", x);
  checkOptions("take", options, indexOptions);
  const a = checkAxis("take", axis, x.rank);
  if (typeof indices === "number") return pick(x, indices, a);
  checkIndex("take", indices);
  const picked = read("take", x, [indices], [a], options);
  const [s, lead] = [indices.rank, range(a).map((i) => indices.rank + i)];
  const order = [...lead, ...range(s), ...range(picked.rank).slice(s + a)];
  return order.every((p, i) => p === i) ? picked : transpose(picked, order);
}

/** One slice, as a view, whose gradient is simple. */
function pick(x: Tensor, index: number, axis: number): Tensor {
  const extent = x.shape[axis]!;
  const at = index < 0 ? addDim(extent, index) : index;
  const refuse = () =>
    new ShapeError(
      `take: ${index} is not a place on axis ${axis} of ${printShape(x.shape)}\n  indices are integers from 0 to the extent less 1, or from the end, -1 the last`,
    );
  if (!Number.isInteger(index)) throw refuse();
  for (const d of [at, subDim(extent, addDim(at, 1))]) requireAtLeast(d, 0, refuse);
  return squeeze(sliceAxis(x, axis, at, addDim(at, 1)), axis);
}

/**
 * y[…, i, …] = x[…, indices[…, i, …], …] along `axis`: indices have the rank of x and its extents
 * on the other axes. Negative ones count from the end. `torch.take_along_dim`,
 * `numpy.take_along_axis`.
 *
 * @param indices Integers of the rank of x.
 * @example
 *   const x = tensor([[10, 20], [30, 40]]);
 *   takeAlongAxis(x, tensor([[1], [0]], { dtype: "i32" }), 1) // [[20], [30]]
 */
export function takeAlongAxis(
  x: Tensor,
  indices: Tensor,
  axis = -1,
  options: IndexOptions = {},
): Tensor {
  checkTensor("takeAlongAxis", x);
  const a = checkAxis("takeAlongAxis", axis, x.rank);
  checkIndex("takeAlongAxis", indices);
  const differs = (d: Dim, i: number) => i !== a && !sameDim(d, x.shape[i]!);
  if (indices.rank !== x.rank || indices.shape.some(differs))
    throw new ShapeError(
      `takeAlongAxis: shapes differ off axis ${a}: x ${printShape(x.shape)}, indices ${printShape(indices.shape)}`,
    );
  const { shape } = indices;
  const all = range(x.rank).map((i) =>
    i === a ? indices : apply("iota", [], { axis: i }, { dtype: "i32", shape }),
  );
  return read("takeAlongAxis", x, all, range(x.rank), options);
}
