/**
 * The loops of scan groups on one thread. Along a contiguous axis, a line at a time; across
 * memory, a block of neighbouring lines at a time.
 *
 * Why this shape: each step waits for the one before it, so that a line cannot be split without
 * other bits. Lines that lie side by side share cache lines: a block of them reads each line of
 * memory once.
 */
import { maxOfDim } from "@kiln-ml/ir";
import type { Loop } from "../../fuse/group.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { dimsIn } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { collapse, nest } from "../../lower/loops.ts";
import { lineOf } from "../../lower/scans.ts";
import type { ColumnBlocks } from "../columns.ts";
import { scanColumns, scansByColumn } from "../scan-columns.ts";

/** Loops of at most this many iterations are written out. */
const unrollLimit = 9;

/** As for sums of columns: two cache lines of f32. */
const columnBlocks: ColumnBlocks = { width: 32, loop: "serial", double: true };

export function serialScan(context: LoweringContext): Stmt[] {
  const [inner] = context.group.inner as [Loop];
  const plain = (rename: Rename) => lineOf(context, rename, (step) => [...step]);
  const outer = collapse(context.group.outer, new Map(), (r) => dimsIn(plain(r)));
  const small = maxOfDim(inner.extent) <= unrollLimit;
  if (!small && scansByColumn(context, outer.loops, inner, plain(outer.rename)))
    return scanColumns(context, outer.loops, inner, outer.rename, columnBlocks);
  const along = (step: readonly Stmt[]) => nest([inner], small ? "unrolled" : "serial", step);
  return nest(outer.loops, "parallel", lineOf(context, outer.rename, along));
}
