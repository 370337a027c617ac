/**
 * Column reductions on a GPU where there are too few columns for an invocation each: a workgroup
 * takes neighbouring columns, and a team of invocations shares one, each with every n-th row of
 * it. The team combines its sums at the end of each phase.
 *
 * Why teams: occupancy bounds it. One invocation a column leaves most of the device idle, and each
 * would wait for one load at a time; with teams neighbours still read neighbouring columns,
 * coalesced.
 */
import { printDim } from "@kiln-ml/ir";
import { extentGuess } from "../../fuse/state.ts";
import type { LoweringContext } from "../../lower/context.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { columnTeams as prefers } from "../../machine/webgpu.ts";
import { groupSize } from "./gpu.ts";
import { apply } from "./recipe.ts";
import { iterations, rowsKey } from "./row-teams.ts";
import type { Rows } from "./rows.ts";

/** Whether a column is worth several invocations. */
export const wantsColumnTeams = ({ outer, inner }: Rows): boolean =>
  extentGuess(outer) < prefers.most && extentGuess(inner) >= prefers.leastRows;

export function gpuColumnTeams(context: LoweringContext, rows: Rows): Scheduled {
  const { short, wide, widths } = prefers;
  const usual = extentGuess(rows.inner) < short ? wide : widths[0]!;
  if (!context.choices) return inTeams(rows, usual);
  const key = rowsKey(`columns of ${printDim(iterations(rows.inner))}`, context, rows);
  const options = [usual, ...widths.filter((w) => w !== usual)];
  const choice = context.choices.among(key, options.map(String));
  return { ...inTeams(rows, Number(choice.chosen)), choice };
}

const inTeams = ({ merged, outer, inner }: Rows, sideBySide: number): Scheduled => ({
  ...apply(
    merged,
    ["flatten", "columns", ...outer.map((l) => l.name)],
    ["flatten", "e", ...inner.map((l) => l.name)],
    ["teams", "columns", "e", groupSize / sideBySide, groupSize, "apart"],
  ),
  workgroupSize: groupSize,
});
