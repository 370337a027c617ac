/**
 * Elements moved and repeated: rolls, tiles, axes in other places, windows of one axis, grids.
 */
import { type Dim, isStatic, modDim, mulDim, subDim } from "../../dim.ts";
import { checkOptions, GraphError, type OptionNames, ShapeError } from "../../errors.ts";
import { checkExtentKind, checkList } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis, checkNumbers, printShape } from "../../shape.ts";
import { checkTensor, range } from "../apply.ts";
import { concat } from "../join.ts";
import { broadcastInDim, flatten, reshape, reverse, sliceAxis, swapAxes, transpose, windows } from "../movement.ts"; // biome-ignore format: one line

/**
 * Elements moved along an axis, what leaves at one end entering at the other: y[i] = x[(i − shift)
 * mod n].
 *
 * x of any shape → the same. Without an axis x counts as one row. A negative shift moves to the
 * front. Throws ShapeError unless shift is a whole number. `torch.roll`, `numpy.roll`.
 *
 * @param shift Places towards the end.
 * @param axis The axis; x as one row by default.
 * @example
 *   roll(tensor([1, 2, 3]), 1) // [3, 1, 2]
 */
export function roll(x: Tensor, shift: number, axis?: number): Tensor {
  checkTensor("roll", x);
  if (!Number.isSafeInteger(shift)) throw new ShapeError(`roll: shift must be a whole number, got ${String(shift)}`); // biome-ignore format: one line
  if (axis === undefined) return reshape(rolled(flatten(x), shift, 0), x.shape);
  return rolled(x, shift, checkAxis("roll", axis, x.rank));
}

function rolled(x: Tensor, shift: number, axis: number): Tensor {
  const extent = x.shape[axis]!;
  const first = modDim(-shift, extent);
  if (first === 0) return reshape(x, x.shape);
  return concat([sliceAxis(x, axis, first, extent), sliceAxis(x, axis, 0, first)], axis);
}

/** x repeated `counts[i]` times along each axis of a shape of as many axes as there are counts. */
function tiled(x: Tensor, counts: readonly Dim[]): Tensor {
  const lead = counts.length - x.rank;
  const wide = counts.flatMap((r, i) => (i < lead ? [r] : [r, x.shape[i - lead]!]));
  const spread = broadcastInDim(x, wide, range(x.rank).map((i) => lead + 2 * i + 1)); // biome-ignore format: one line
  return reshape(
    spread,
    counts.map((r, i) => (i < lead ? r : mulDim(r, x.shape[i - lead]!))),
  );
}

function countsOf(op: string, counts: unknown): readonly Dim[] {
  const list = typeof counts === "number" ? [counts] : counts;
  checkList(op, "the counts", list);
  for (const r of list as readonly unknown[]) checkExtentKind(op, "a count", r);
  checkNumbers(op, list as readonly Dim[]);
  return list as readonly Dim[];
}

/**
 * x repeated as a whole, counts[i] times along axis i; the shorter of shape and counts is filled up
 * with 1 in front.
 *
 * x[D…] → [counts·D…]. Throws ShapeError for counts below 0. `torch.tile`, `numpy.tile`.
 *
 * @example
 *   tile(tensor([1, 2]), [2, 2]) // [[1,2,1,2],[1,2,1,2]]
 */
export function tile(x: Tensor, counts: Dim | readonly Dim[]): Tensor {
  checkTensor("tile", x);
  const list = countsOf("tile", counts);
  return tiled(x, [...new Array<Dim>(Math.max(0, x.rank - list.length)).fill(1), ...list]);
}

/**
 * x repeated as a whole, as `tile` does, with a count for every axis: `x.repeat([2, 3])`; more
 * counts than axes add axes in front.
 *
 * Throws ShapeError if there are fewer counts than axes. `torch.Tensor.repeat`; `numpy.repeat` is
 * `repeatInterleave`.
 *
 * @param x The tensor.
 * @param counts How often along each axis.
 * @example
 *   repeat(tensor([1, 2]), [3]) // [1,2,1,2,1,2]
 */
export function repeat(x: Tensor, counts: Dim | readonly Dim[]): Tensor {
  checkTensor("repeat", x);
  const list = countsOf("repeat", counts);
  if (list.length < x.rank)
    throw new ShapeError(
      `repeat: ${list.length} counts for the ${x.rank} axes of ${printShape(x.shape)}\n  give one for each axis, or use tile`,
    );
  return tiled(x, list);
}

/**
 * Every element `count` times, one after the other, along an axis; without one, of x as one row.
 *
 * x[…, n, …] → [..., n·count, ...]. Throws ShapeError for a count below 0.
 * `torch.repeat_interleave`, `numpy.repeat`.
 *
 * @param axis The axis; x as one row by default.
 * @example
 *   repeatInterleave(tensor([1, 2]), 2) // [1, 1, 2, 2]
 */
export function repeatInterleave(x: Tensor, count: Dim, axis?: number): Tensor {
  checkTensor("repeatInterleave", x);
  const [by] = countsOf("repeatInterleave", [count]) as [Dim];
  const from = axis === undefined ? flatten(x) : x;
  const a = checkAxis("repeatInterleave", axis ?? 0, from.rank);
  const shape = [...from.shape.slice(0, a + 1), by, ...from.shape.slice(a + 1)];
  const wide = broadcastInDim(from, shape, range(from.rank).map((i) => (i > a ? i + 1 : i))); // biome-ignore format: one line
  return reshape(
    wide,
    from.shape.map((d, i) => (i === a ? mulDim(d, by) : d)),
  );
}

/**
 * Axes moved to other places, the rest in their order. x[…] → the same extents in another order.
 *
 * Throws ShapeError unless source and destination are as many distinct axes. `torch.movedim`,
 * `numpy.moveaxis`.
 *
 * @param source The axes to move.
 * @param destination Where they go, as many.
 * @example
 *   movedim(ones([2, 3, 4, 5]), 1, -1).shape // [2, 4, 5, 3]
 */
export function movedim(
  x: Tensor,
  source: number | readonly number[],
  destination: number | readonly number[],
): Tensor {
  checkTensor("movedim", x);
  const axes = (list: unknown, what: string): number[] => {
    const all = typeof list === "number" ? [list] : list;
    checkList("movedim", what, all);
    return (all as number[]).map((a) => checkAxis("movedim", a, x.rank));
  };
  const [from, to] = [axes(source, "the source"), axes(destination, "the destination")];
  if (from.length !== to.length || new Set(from).size !== from.length || new Set(to).size !== to.length)
    throw new ShapeError(`movedim: axes [${from.join(",")}] do not go to [${to.join(",")}] one by one`); // biome-ignore format: one line
  const rest = range(x.rank).filter((a) => !from.includes(a));
  return transpose(
    x,
    range(x.rank).map((i) => (to.includes(i) ? from[to.indexOf(i)]! : rest.shift()!)),
  );
}

/**
 * Exchanges two axes, as `swapAxes` does. `torch.swapdims`.
 *
 * @param x The tensor.
 * @param a An axis; negative ones count from the end.
 * @param b The other axis.
 * @example
 *   swapDims(tensor([[1, 2], [3, 4]]), 0, 1) // [[1, 3], [2, 4]]
 */
export const swapDims = (x: Tensor, a: number, b: number): Tensor => swapAxes(x, a, b);

/**
 * Windows of one axis, each as a new last axis: y[…, o, …, k] = x[…, o·step + k, …].
 *
 * x[…, n, …] → [..., ⌊(n − size)/step⌋ + 1, ..., size]. Throws ShapeError if the window is larger
 * than the axis. `torch.Tensor.unfold`; `windows` takes several axes.
 *
 * @param size Places of a window.
 * @param step Places from one window to the next.
 * @example
 *   unfold(tensor([1, 2, 3]), 0, 2) // [[1,2],[2,3]]
 */
export function unfold(x: Tensor, axis: number, size: Dim, step = 1): Tensor {
  checkTensor("unfold", x);
  const a = checkAxis("unfold", axis, x.rank);
  checkExtentKind("unfold", "the size", size);
  checkExtentKind("unfold", "the step", step);
  const placed = windows(movedim(x, a, -1), { size: [size], stride: [step] });
  return movedim(placed, -2, a);
}

/**
 * x turned by 90 degrees `times` times, from the first of two axes towards the second.
 * `torch.rot90`, `numpy.rot90`.
 *
 * @param x The tensor.
 * @param axes The plane: from the first axis towards the second.
 * @example
 *   rot90(tensor([[1, 2], [3, 4]])) // [[2,4],[1,3]]
 */
export function rot90(x: Tensor, times = 1, axes: readonly [number, number] = [0, 1]): Tensor {
  checkTensor("rot90", x);
  checkList("rot90", "axes", axes);
  if (!Number.isSafeInteger(times)) throw new ShapeError(`rot90: times must be a whole number, got ${String(times)}`); // biome-ignore format: one line
  const [a, b] = axes.map((i) => checkAxis("rot90", i, x.rank)) as [number, number];
  if (a === b || axes.length !== 2) throw new ShapeError("rot90: the axes must be two different ones"); // biome-ignore format: one line
  const turns = ((times % 4) + 4) % 4;
  if (turns === 2) return reverse(x, [a, b]);
  const turned = turns === 0 ? x : swapAxes(reverse(x, turns === 1 ? b : a), a, b);
  return reshape(turned, turned.shape);
}

/**
 * Differences of neighbours, `times` times over: y[i] = x[i + 1] − x[i]. x[…, n, …] → [..., n −
 * times, ...]. `torch.diff`, `numpy.diff`.
 *
 * @param axis The axis, negative ones from the end; the last by default.
 * @example
 *   diff(tensor([1, 4, 9])) // [3, 5]
 */
export function diff(x: Tensor, times = 1, axis = -1): Tensor {
  checkTensor("diff", x);
  const a = checkAxis("diff", axis, x.rank);
  if (!Number.isSafeInteger(times) || times < 0) throw new ShapeError(`diff: times must be 0 or more, got ${String(times)}`); // biome-ignore format: one line
  let y = x;
  for (let k = 0; k < times; k++) {
    const extent = y.shape[a]!;
    if (isStatic(extent) && extent < 1) return y;
    y = sliceAxis(y, a, 1, extent).sub(sliceAxis(y, a, 0, subDim(extent, 1)));
  }
  return y;
}

export interface MeshgridOptions {
  /** "xy" exchanges the first two axes, as NumPy does by default; default "ij". */
  readonly indexing?: "ij" | "xy";
}

const meshgridOptions: OptionNames<MeshgridOptions> = { indexing: 1 };

/**
 * Vectors as a grid: tensor k has vector k along axis k and repeats it along the others.
 *
 * vectors [n₀], [n₁], … → as many tensors [n₀, n₁, …]. Throws ShapeError unless they are vectors.
 * `torch.meshgrid`, `numpy.meshgrid`.
 *
 * @param vectors Tensors of one axis.
 * @example
 *   const [rows, columns] = meshgrid([arange(2), arange(3)]);
 *   rows // [[0, 0, 0], [1, 1, 1]]
 *   columns // [[0, 1, 2], [0, 1, 2]]
 */
export function meshgrid(vectors: readonly Tensor[], options: MeshgridOptions = {}): Tensor[] {
  checkList("meshgrid", "the vectors", vectors);
  const { indexing = "ij" } = checkOptions("meshgrid", options, meshgridOptions);
  if (indexing !== "ij" && indexing !== "xy") throw new GraphError(`meshgrid: indexing is ${String(indexing)}, not ij or xy`); // biome-ignore format: one line
  for (const v of vectors) {
    checkTensor("meshgrid", v);
    if (v.rank !== 1) throw new ShapeError(`meshgrid: ${printShape(v.shape)} is not a vector`);
  }
  const shape = vectors.map((v) => v.shape[0]!);
  const all = vectors.map((v, k) => broadcastInDim(v, shape, [k]));
  return indexing === "xy" && all.length > 1 ? all.map((t) => swapAxes(t, 0, 1)) : all;
}
