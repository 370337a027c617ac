/**
 * Parts of a tensor by one word an axis, and tensors with such a part changed. Slices and numbers
 * are views; lists and tensors of indices are gathered and scattered.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  DimExpr,
  isStatic,
  maxDim,
  minDim,
  mulDim,
  sameDim,
  subDim,
} from "../../dim.ts";
import { isInteger } from "../../dtype.ts";
import { DtypeError, GraphError, ShapeError } from "../../errors.ts";
import { kindOf } from "../../kind.ts";
import { Tensor } from "../../node.ts";
import { requireAtLeast } from "../../requirement.ts";
import { printShape, sameShape } from "../../shape.ts";
import { checkTensor, range } from "../apply.ts";
import { asTensor, broadcastOperands, broadcastTo, type Operand } from "../broadcast.ts";
import { ones } from "../create.ts";
import { maximum, minimum } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { gather, scatter } from "../gather.ts";
import { pad, reshape, reverse, slice, transpose } from "../movement.ts";
import { spread } from "../slice.ts";
import { tensor } from "../source.ts";

/**
 * One entry of `get` and `at`: a number or extent picks one place and drops the axis, text slices
 * as Python does ("1:5", "::2", "-3:", "::-1", ":"), "..." stands for all axes between, a list or
 * an integer tensor reads those places.
 */
export type Index = number | string | readonly number[] | Tensor | DimExpr;

/** What of one axis is read. */
interface Part {
  readonly start: Dim;
  readonly limit: Dim;
  readonly step: number;
  readonly reversed: boolean;
  /** Only one place, so that the axis goes. */
  readonly single: boolean;
  readonly list?: Tensor;
}

const whole = (extent: Dim): Part => ({ start: 0, limit: extent, step: 1, reversed: false, single: false }); // biome-ignore format: one line

function single(op: string, x: Tensor, axis: number, at: Dim): Part {
  const extent = x.shape[axis]!;
  const place = isStatic(at) && at < 0 ? addDim(extent, at) : at;
  const refuse = () =>
    new ShapeError(
      `${op}: ${String(at)} is not a place on axis ${axis} of ${printShape(x.shape)}\n  places count from 0, or from the end: -1 is the last`,
    );
  if (isStatic(at) && !Number.isInteger(at)) throw refuse();
  for (const d of [place, subDim(extent, addDim(place, 1))]) requireAtLeast(d, 0, refuse);
  return { start: place, limit: addDim(place, 1), step: 1, reversed: false, single: true };
}

/** A bound as Python takes it: from the end where negative, cut to low … high. */
const bound = (text: string, extent: Dim, low: Dim, high: Dim): Dim =>
  maxDim(minDim(Number(text) < 0 ? addDim(extent, Number(text)) : Number(text), high), low);

/** "start:limit:step". */
function sliced(op: string, text: string, extent: Dim): Part {
  const [start = "", limit = "", by = ""] = text.split(":");
  const step = by === "" ? 1 : Number(by);
  if (!/^-?\d*:-?\d*(:-?\d*)?$/.test(text) || step === 0 || [start, limit, by].includes("-"))
    throw new GraphError(
      `${op}: "${text}" is not a slice\n  write start:limit:step of whole numbers, each of which may be left out; the step is not 0`,
    );
  if (step > 0) {
    const from = start === "" ? 0 : bound(start, extent, 0, extent);
    const to = limit === "" ? extent : maxDim(bound(limit, extent, 0, extent), from);
    return { start: from, limit: to, step, reversed: false, single: false };
  }
  // From the last place down; read upwards from the lowest that is reached, and turned.
  const last = subDim(extent, 1);
  const from = start === "" ? last : bound(start, extent, -1, last);
  const below = limit === "" ? -1 : bound(limit, extent, -1, last);
  const count = maxDim(ceilDiv(subDim(from, below), -step), 0);
  const end = addDim(from, 1);
  const lowest = minDim(end, addDim(from, mulDim(subDim(count, 1), step)));
  return { start: lowest, limit: end, step: -step, reversed: true, single: false };
}

function listed(op: string, x: Tensor, axis: number, index: Tensor | readonly number[]): Part {
  if (index instanceof Tensor) {
    if (!isInteger(index.dtype))
      throw new DtypeError(
        `${op}: the index of axis ${axis} is ${index.dtype}, not an integer\n  a mask gives as many as it has: nonzero(mask, { size }), or where(mask, x, 0)`,
      );
    return { ...whole(x.shape[axis]!), list: index };
  }
  const all = index.map((i) => (Number.isSafeInteger(i) ? i : Number.NaN));
  for (const i of all) if (Number.isNaN(i)) throw new ShapeError(`${op}: an index of axis ${axis} is not a whole number`); // biome-ignore format: one line
  for (const i of all) single(op, x, axis, i);
  return {
    ...whole(x.shape[axis]!),
    list: tensor([...all], { dtype: "i32", shape: [all.length] }),
  };
}

/** One part for each axis of x. */
function partsOf(op: string, x: Tensor, given: readonly Index[]): Part[] {
  checkTensor(op, x);
  const dots = given.indexOf("...");
  const named = given.length - (dots < 0 ? 0 : 1);
  if (named > x.rank || given.lastIndexOf("...") !== dots)
    throw new ShapeError(
      `${op}: ${named} indices for ${printShape(x.shape)}\n  one for each axis at most, and "..." once`,
    );
  const rest = new Array<string>(x.rank - named).fill(":");
  const split = dots < 0 ? given.length : dots;
  const entries: Index[] = [...given.slice(0, split), ...rest, ...given.slice(split + 1)];
  return entries.map((index, axis) => {
    if (index === ":") return whole(x.shape[axis]!);
    if (typeof index === "string") return sliced(op, index, x.shape[axis]!);
    if (typeof index === "number" || index instanceof DimExpr) return single(op, x, axis, index);
    if (index instanceof Tensor || Array.isArray(index))
      return listed(op, x, axis, index as Tensor | readonly number[]);
    throw new GraphError(
      `${op}: the index of axis ${axis} must be a number, a slice as text, a list or a tensor, got ${kindOf(index)}`,
    );
  });
}

const isWhole = (part: Part, extent: Dim): boolean =>
  part.step === 1 && !part.reversed && part.start === 0 && sameDim(part.limit, extent);

const reversedAxes = (parts: readonly Part[]): number[] =>
  parts.flatMap((p, i) => (p.reversed ? [i] : []));

/** The slices and single places, as views. */
function viewed(x: Tensor, parts: readonly Part[]): Tensor {
  const all = parts.every((p, i) => isWhole(p, x.shape[i]!));
  const part = all
    ? x
    : slice(x, parts.map((p) => p.start), parts.map((p) => p.limit), parts.map((p) => p.step)); // biome-ignore format: one line
  const turned = reversedAxes(parts).length ? reverse(part, reversedAxes(parts)) : part;
  return reshape(
    turned,
    turned.shape.filter((_, i) => !parts[i]!.single),
  );
}

/** The lists, of one shape, and their axes once single places are gone. */
function listsOf(parts: readonly Part[]): { lists: Tensor[]; axes: number[] } {
  const kept = parts.filter((p) => !p.single);
  const axes = kept.flatMap((p, i) => (p.list ? [i] : []));
  const lists = kept.flatMap((p) => (p.list ? [p.list] : []));
  return { lists: lists.length > 1 ? broadcastOperands("get", lists) : lists, axes };
}

/**
 * Where the axes of the lists stand in the result: at the first of theirs if they are neighbours,
 * else in front.
 */
function orderOf(axes: readonly number[], listRank: number, rank: number): number[] {
  const neighbours = axes.every((a, i) => a === axes[0]! + i);
  const before = neighbours ? axes[0]! : 0;
  const free = range(rank - listRank).map((i) => i + listRank);
  return [...free.slice(0, before), ...range(listRank), ...free.slice(before)];
}

/**
 * The part of x that one index for each axis names: `x.get(":", [0, 4], -1, "::2")`. Axes that are
 * not named are whole.
 *
 * Slices keep an axis, a number or extent drops it, several lists go together and broadcast, as in
 * PyTorch: their axes stand where the first of them is, or in front if a slice is between. Slices
 * are cut to the axis, as Python does; places of tensors are clamped. Throws ShapeError for a
 * number or list entry that is outside, DtypeError for a mask. `x[:, [0, 4], -1, ::2]`,
 * `torch.Tensor.__getitem__`.
 *
 * @param x The tensor.
 * @param indices One for each axis: a number, a slice as text, a list, a tensor, ":" or "...".
 * @example
 *   const x = tensor([[1, 2, 3], [4, 5, 6]]);
 *   x.get(-1) // [4, 5, 6]
 *   x.get(":", [0, 2]) // [[1, 3], [4, 6]]
 *   x.get("...", "::-1") // [[3, 2, 1], [6, 5, 4]]
 */
export function get(x: Tensor, ...indices: Index[]): Tensor {
  const parts = partsOf("get", x, indices);
  const view = viewed(x, parts);
  const { lists, axes } = listsOf(parts);
  if (!lists.length) return view;
  const read = gather(view, lists, axes);
  const order = orderOf(axes, lists[0]!.rank, read.rank);
  return order.every((p, i) => p === i) ? read : transpose(read, order);
}

/** A part of a tensor, to be read or changed; a change gives a new tensor. */
export interface Place {
  /** The part itself, as `get` has it. */
  get(): Tensor;
  /** x with the part replaced; of several values for one place the last counts. */
  set(value: Operand): Tensor;
  /** x with the value added there, once for each time that a place is named. */
  add(value: Operand): Tensor;
  mul(value: Operand): Tensor;
  max(value: Operand): Tensor;
  min(value: Operand): Tensor;
}

type Mode = "set" | "add" | "mul" | "max" | "min";

const combine: Record<Mode, (x: Tensor, value: Tensor) => Tensor> = {
  set: (_x, value) => value,
  add: (x, value) => x.add(value),
  mul: (x, value) => x.mul(value),
  max: (x, value) => maximum(x, value),
  min: (x, value) => minimum(x, value),
};

/** x with the view put back where it was taken from. */
function putBack(x: Tensor, parts: readonly Part[], view: Tensor): Tensor {
  if (parts.every((p, i) => isWhole(p, x.shape[i]!))) return view;
  const kept = [...view.shape];
  const shape = parts.map((p) => (p.single ? 1 : kept.shift()!));
  const part = reshape(view, shape);
  const turned = reversedAxes(parts).length ? reverse(part, reversedAxes(parts)) : part;
  const interior = parts.map((p) => p.step - 1);
  const low = parts.map((p) => p.start);
  const high = x.shape.map((d, i) => subDim(subDim(d, low[i]!), spread(shape[i]!, interior[i]!)));
  const inside = pad(ones(shape, "bool"), 0, low, high, interior);
  return select(inside, pad(turned, 0, low, high, interior), x);
}

function changed(x: Tensor, parts: readonly Part[], mode: Mode, value: Operand): Tensor {
  const op = `at.${mode}`;
  const view = viewed(x, parts);
  const { lists, axes } = listsOf(parts);
  const given = convert(asTensor(value, x.dtype, op), x.dtype);
  if (!lists.length)
    return putBack(x, parts, combine[mode](view, broadcastTo(given, view.shape, op)));
  const rank = lists[0]!.rank;
  const scattered = [...lists[0]!.shape, ...view.shape.filter((_, i) => !axes.includes(i))];
  const order = orderOf(axes, rank, scattered.length);
  const updates = transpose(
    broadcastTo(given, order.map((p) => scattered[p]!), op),
    order.map((_, i) => order.indexOf(i)),
  ); // biome-ignore format: two lines
  return putBack(x, parts, scatter(view, updates, lists, axes, mode));
}

/** A mask as the one index: the value where it holds. */
function masked(x: Tensor, mask: Tensor, mode: Mode, value: Operand): Tensor {
  const given = convert(asTensor(value, x.dtype, `at.${mode}`), x.dtype);
  return select(mask, combine[mode](x, broadcastTo(given, x.shape, `at.${mode}`)), x);
}

/**
 * The part of x that `get` would give, to be changed: `x.at(0, "1:3").set(5)`, `.add(y)`, `.mul`,
 * `.max`, `.min`. Gives new tensors; x stays.
 *
 * The value broadcasts to the part and takes the dtype of x. Slices and numbers cost no kernel of
 * their own, lists are a scatter. A mask of the shape of x may be the one index. Gradients go to x
 * and to the value. Errors as `get`. `x[i] = v`, `torch.Tensor.index_put_`; `x.at[i].set(v)`,
 * `jax.numpy.ndarray.at`.
 *
 * @param x The tensor.
 * @param indices One index for each axis, as of `get`.
 * @example
 *   const x = zeros([3]);
 *   x.at([0, 0, 2]).add(1) // [2, 0, 1]
 *   x.at("1:").set(7) // [0, 7, 7]
 *   x // [0, 0, 0]; stays
 */
export function at(x: Tensor, ...indices: Index[]): Place {
  checkTensor("at", x);
  const [mask] = indices;
  if (indices.length === 1 && mask instanceof Tensor && mask.dtype === "bool") {
    if (!sameShape(mask.shape, x.shape))
      throw new ShapeError(
        `at: the mask is ${printShape(mask.shape)}, x is ${printShape(x.shape)}\n  broadcast it first: mask.broadcastTo(x.shape)`,
      );
    return placeOf((mode, value) => masked(x, mask, mode, value), () => get(x, mask)); // biome-ignore format: one line
  }
  const parts = partsOf("at", x, indices);
  return placeOf((mode, value) => changed(x, parts, mode, value), () => get(x, ...indices)); // biome-ignore format: one line
}

const placeOf = (change: (mode: Mode, value: Operand) => Tensor, read: () => Tensor): Place => ({
  get: read,
  set: (value) => change("set", value),
  add: (value) => change("add", value),
  mul: (value) => change("mul", value),
  max: (value) => change("max", value),
  min: (value) => change("min", value),
});
