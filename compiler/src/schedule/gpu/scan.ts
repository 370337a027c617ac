/**
 * Recipes for scan groups on a GPU. A line is one invocation's, which walks the axis in order,
 * where lines are short or lie side by side in memory, since loads are then coalesced across lines;
 * a long line is a workgroup's, tile by tile.
 *
 * Why this shape: a step waits for the one before it, so that lines must be many or be joined from
 * parts. A line is not shared among workgroups, which cannot wait for each other; very long ones
 * are split in the graph (`split-scan`).
 */
import { ceilDiv, type Dim } from "@kiln-ml/ir";
import { extentGuess } from "../../fuse/state.ts";
import type { Of } from "../../kernel/kernel.ts";
import { indexName } from "../../kernel/names.ts";
import { strideOf } from "../../kernel/stride.ts";
import { dimsIn } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { naiveScan } from "../../lower/naive.ts";
import { sumDtype } from "../../lower/value.ts";
import { scans as prefers } from "../../machine/webgpu.ts";
import { keptIn } from "../columns.ts";
import { loopsOf } from "../loop-moves.ts";
import { type Moved, naive } from "../recipe.ts";
import { vectorisedParams } from "../vector.ts";
import { groupSize } from "./gpu.ts";
import { apply, attempt } from "./recipe.ts";

export function gpuScan(context: LoweringContext): Scheduled {
  const merged = apply(naive(naiveScan(context)), ["merge"]);
  const outer = loopsOf(merged.body, context.group.outer);
  const axis = loopsOf(merged.body, context.group.inner)[0]!;
  const aside = !dimsIn(axis.body).some((d) => isAlong(d, axis.name));
  const many = aside && extentGuess(outer) >= prefers.manyLines;
  const tiled = extentGuess([axis]) >= prefers.leastLine && !many && inTiles(merged, outer, axis);
  if (tiled) return tiled;
  return {
    ...apply(merged, ["grid", prefers.group, ...outer.map((l) => l.name)]),
    workgroupSize: prefers.group,
  };
}

const isAlong = (d: Dim, name: string): boolean => Math.abs(strideOf(d, name) ?? 0) === 1;

/** A workgroup a line, where parts of it can be joined. */
function inTiles(
  merged: Moved,
  outer: readonly Of<"loop">[],
  { name, extent }: Of<"loop">,
): Scheduled | undefined {
  const workgroupSize = extentGuess([{ extent }]) >= prefers.wide ? groupSize : prefers.group;
  const tiles = ceilDiv(extent, 4 * workgroupSize);
  const held = typeof tiles === "number" && tiles > 1 && tiles <= prefers.mostHeld;
  const made = attempt(
    merged,
    ...keptIn(outer.at(-1)?.body ?? merged.body, (a) => sumDtype(a.dtype)),
    ["flatten", "line", ...outer.map((l) => l.name)],
    ["scan", "line", name, workgroupSize, ...(held ? ["held"] : [])],
  );
  if ("why" in made) return undefined;
  return { ...made, workgroupSize, vectorised: vectorisedParams(made.body, indexName("lane")) };
}
