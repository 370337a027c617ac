/**
 * The loops of scan groups for a CPU with lanes and threads. Across memory, blocks of neighbouring
 * lines with lanes along memory; along a contiguous axis, four lines at a time, one in each lane.
 * Long sums are taken in parts, so that f32 is enough to keep them. Why this shape: a step waits
 * for the one before it, so that the lanes must be independent lines. Along a contiguous axis a
 * vector load becomes four scalar ones for it.
 */
import { maxOfDim, opRecord, type Tensor } from "@kiln-ml/ir";
import type { LoweringContext } from "../../lower/context.ts";
import { naiveScan } from "../../lower/naive.ts";
import { accName } from "../../lower/rows.ts";
import { runningOf } from "../../lower/scans.ts";
import { sumDtype } from "../../lower/value.ts";
import { columns, sums as limits, loops } from "../../machine/wasm.ts";
import { inColumns, keptIn, scansByColumn } from "../columns.ts";
import { compensated } from "../compensate.ts";
import { loopsOf } from "../loop-moves.ts";
import { type Moved, naive, type Step } from "../recipe.ts";
import { apply } from "./recipe.ts";

export function simdScan(context: LoweringContext): Moved {
  const axis = context.group.inner[0]!;
  const merged = apply(naive(naiveScan(context)), ["merge"]);
  const outer = loopsOf(merged.body, context.group.outer);
  const last = outer.at(-1);
  const line = last?.body ?? merged.body;
  const sums = runningOf(context)
    .filter(isSum)
    .map((t) => accName(context, t));
  const long = maxOfDim(axis.extent) > limits.chain && sums.length > 0;
  const blocks: Step[] = long
    ? [
        ["split", axis.name, limits.chain, "part", "r"],
        ["inline", axis.name],
        ["splitSum", "part", ...sums],
      ]
    : [];
  if (last && scansByColumn(context, last, axis, line)) {
    const kept = keptIn(line, (a) => (a.widened ? sumDtype(a.dtype) : a.dtype));
    return apply(merged, ...kept, ...blocks, ...inColumns(last, columns.width, "simd"));
  }
  const kept = keptIn(line, (a) => (long && sums.includes(a.name) ? sumDtype(a.dtype) : a.dtype));
  const small = maxOfDim(axis.extent) <= loops.unrolled;
  const along: Step[] = small ? [["mark", axis.name, "unrolled"]] : [];
  return apply(merged, ...kept, ...blocks, ...along, ["inLanes", ...outer.map((l) => l.name)]);
}

const isSum = (t: Tensor): boolean =>
  opRecord(t.op).reducer === "sum" && compensated(t.dtype) !== undefined;
