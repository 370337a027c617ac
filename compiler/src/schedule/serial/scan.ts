/**
 * Recipes for scan groups on one thread. Along a contiguous axis, a line at a time; across memory,
 * a block of neighbouring lines at a time.
 *
 * Why this shape: each step waits for the one before it, so that a line cannot be split without
 * other bits. Lines that lie side by side share cache lines: a block of them reads each line of
 * memory once.
 */
import { maxOfDim } from "@kiln-ml/ir";
import type { LoweringContext } from "../../lower/context.ts";
import { naiveScan } from "../../lower/naive.ts";
import { doubled } from "../../lower/value.ts";
import { columns as prefers } from "../../machine/js.ts";
import { texts } from "../../sizes.ts";
import { inColumns, keptIn, scansByColumn } from "../columns.ts";
import { loopsOf } from "../loop-moves.ts";
import { apply, type Moved, naive } from "../recipe.ts";

export function serialScan(context: LoweringContext): Moved {
  const [axis] = context.group.inner;
  const merged = apply(naive(naiveScan(context)), ["merge"]);
  const last = loopsOf(merged.body, context.group.outer).at(-1);
  const columns = last && scansByColumn(context, last, axis!, last.body) ? last : undefined;
  // Short lines need no array, but the same rounding as long ones: symbols have any extent.
  const kept = columns
    ? apply(merged, ...keptIn(columns.body, (a) => (a.widened ? doubled(a.dtype) : a.dtype)))
    : merged;
  if (maxOfDim(axis!.extent) <= texts.written) return apply(kept, ["mark", axis!.name, "unrolled"]);
  return columns ? apply(kept, ...inColumns(columns, prefers.width, "serial")) : kept;
}
