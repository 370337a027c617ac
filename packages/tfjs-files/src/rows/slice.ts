/**
 * Slice and StridedSlice. Bounds may be symbolic where their signs are known; a place that only a
 * run can tell is read by index.
 */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Row } from "@kiln-ml/onnx";
import { asIndex, extents, range } from "./operand.ts";
import { asValue, standard, tf } from "./row.ts";

/** A size of −1 is all that follows. */
function sliced(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const size = n.dims(2);
  // What follows a place that is not known has no extent that is.
  const begin = size.includes(-1) ? n.dims(1) : n.peek(n.typed(1));
  if (size.length !== x.rank) n.fail(`${size.length} sizes for a tensor of rank ${x.rank}`);
  if (!begin) return slicedAt(n, x, size);
  const limit = size.map((d, i) => (d === -1 ? x.shape[i]! : ir.addDim(begin[i]!, d)));
  return ir.slice(x, begin, limit);
}

/** From places of the run, by index along each axis that is cut. */
function slicedAt(n: NodeContext, x: Tensor, size: readonly Dim[]): Tensor {
  const begin = asIndex(n.tensor(1));
  return size.reduce<Tensor>((t, d, axis) => {
    if (ir.sameDim(d, t.shape[axis]!)) return t;
    const at = ir.take(begin, axis, 0);
    return ir.take(t, ir.iota([d], 0).add(at), axis, { negative: "outside" });
  }, x);
}

const end = 2 ** 31 - 1;

/** One axis of x as the masks have it. */
interface Cut {
  /** Its entry among the bounds; undefined where all of the axis stays. */
  readonly entry: number | undefined;
  readonly shrinks: boolean;
}

/** The axes of x in order, and where new ones stand in the result before others are dropped. */
function layout(n: NodeContext, entries: number, rank: number) {
  const has = (name: string, i: number) => (n.int(name, 0) & (1 << i)) !== 0;
  const fresh = range(entries).filter((i) => has("new_axis_mask", i) && !has("ellipsis_mask", i));
  const ellipsis = range(entries).find((i) => has("ellipsis_mask", i));
  const named = entries - fresh.length - (ellipsis === undefined ? 0 : 1);
  if (named > rank) n.fail(`${named} axes are sliced of a tensor of rank ${rank}`);
  const cuts: (Cut | "new")[] = [];
  const whole = () => {
    for (let i = named; i < rank; i++) cuts.push({ entry: undefined, shrinks: false });
  };
  for (const i of range(entries)) {
    if (i === ellipsis) whole();
    else if (fresh.includes(i)) cuts.push("new");
    else cuts.push({ entry: i, shrinks: has("shrink_axis_mask", i) });
  }
  if (ellipsis === undefined) whole();
  return { cuts, has };
}

function stridedSlice(n: NodeContext): Tensor {
  let x = n.tensor(0);
  const strides = n.numbers(3);
  if (strides.length > 32) n.fail(`${strides.length} strides, more than 32`);
  const { cuts, has } = layout(n, strides.length, x.rank);
  const begin = n.peek(n.typed(1));
  const starts: Dim[] = [];
  const ends: Dim[] = [];
  const axes: number[] = [];
  const steps: number[] = [];
  const own = cuts.filter((c): c is Cut => c !== "new");
  for (const [axis, { entry, shrinks }] of own.entries()) {
    if (entry === undefined) continue;
    const step = shrinks ? 1 : strides[entry]!;
    if (shrinks && !begin) {
      const at = ir.reshape(ir.take(asIndex(n.tensor(1)), entry, 0), [1]);
      x = ir.take(x, ir.select(at.less(0), at.add(ir.dimValue(x.shape[axis]!)), at), axis);
      continue;
    }
    const open = has("begin_mask", entry) && !shrinks;
    const from = open ? (step < 0 ? end : 0) : (begin ?? n.dims(1))[entry]!;
    const closed = has("end_mask", entry);
    starts.push(from);
    if (shrinks) ends.push(from === -1 ? end : ir.addDim(from, 1));
    else ends.push(closed ? (step < 0 ? -(2 ** 31) : end) : n.dims(2)[entry]!);
    axes.push(axis);
    steps.push(step);
  }
  const y = axes.length ? cut(n, x, starts, ends, axes, steps) : x;
  return reshapedBy(n, y, cuts);
}

function cut(
  n: NodeContext,
  x: Tensor,
  starts: readonly Dim[],
  ends: readonly Dim[],
  axes: readonly number[],
  steps: readonly number[],
): Tensor {
  const lists = [starts, ends, axes, steps].map((list) => asValue(extents(list)));
  return standard(n, "Slice", [asValue(x), ...lists])[0]!;
}

/** New axes of extent 1 put in, and those that shrink taken out, which must have one element. */
function reshapedBy(n: NodeContext, y: Tensor, cuts: readonly (Cut | "new")[]): Tensor {
  const shape: Dim[] = [];
  let axis = 0;
  for (const c of cuts) {
    if (c === "new") shape.push(1);
    else {
      const d = y.shape[axis++]!;
      if (!c.shrinks) shape.push(d);
      else if (d !== 1)
        n.fail(`place ${c.entry} is outside of ${ir.printShape(n.tensor(0).shape)}`);
    }
  }
  return ir.reshape(y, shape);
}

export const sliceRows: readonly Row[] = [
  tf("Slice", "", sliced),
  tf(
    "StridedSlice",
    "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask",
    stridedSlice,
  ),
];
