/**
 * Slices whose place changes: a loop over batches takes another part of its data each step, and
 * would compile a program for each. After a few places of one form, the place is an operand, and
 * one program serves all of them.
 */
import { type NamedAttrMap, slice_util, type TensorInfo } from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Row } from "./row.ts";

/** Places of one form that are programs of their own, which read faster. */
const mostFixed = 4;

const seen = new Map<string, Set<string>>();
const mostKept = 4096;

/** A slice as a call of `movingSlice`. */
export interface MovingSlice {
  readonly begin: Int32Array;
  readonly attrs: { readonly size: readonly number[] };
}

/** The slice with its place as an operand; undefined where it is the attribute. */
export function movingSliceOf(x: TensorInfo, attrs: NamedAttrMap): MovingSlice | undefined {
  const { begin, size } = attrs as { begin: number | number[]; size: number | number[] };
  const [start = [], extents = []] = slice_util.parseSliceParams(x as never, begin, size);
  // Errors are those of the row, and what is empty reads nothing.
  const inside = start.every((s, i) => s >= 0 && s + extents[i]! <= x.shape[i]!);
  if (!inside || extents.includes(0) || start.length !== x.shape.length) return undefined;
  const form = `${x.dtype}[${x.shape}] ${extents}`;
  const places = seen.get(form) ?? new Set();
  if (seen.size >= mostKept) seen.clear();
  seen.set(form, places);
  if (places.size < mostFixed) places.add(`${start}`);
  if (places.has(`${start}`)) return undefined;
  return { begin: Int32Array.from(start), attrs: { size: extents } };
}

/** x from `begin` on, along each axis of which it is a part. */
export const movingSlice: Row = (operands, { size }: MovingSlice["attrs"]) => {
  const { x, begin } = operands as { x: Tensor; begin: Tensor };
  return size.reduce((part, extent, axis) => {
    if (extent === x.shape[axis]) return part;
    const places = ir.add(ir.iota([extent]), ir.take(begin, axis));
    return ir.take(part, places, axis, { negative: "outside" });
  }, x);
};
