/**
 * Column reductions on a GPU where there are too few columns for an invocation each: a workgroup
 * takes neighbouring columns, and a team of invocations shares one, each with every n-th row of
 * it. The team combines its sums at the end of each phase.
 *
 * Why teams: occupancy bounds it. One invocation a column leaves most of the device idle, and each
 * would wait for one load at a time; with teams neighbours still read neighbouring columns,
 * coalesced.
 */
import { addDim, ceilDiv, floorDiv, modDim, mulDim, negDim, printDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { extentGuess } from "../../fuse/state.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { emitRow } from "../../lower/rows.ts";
import { below, groupSize } from "./gpu.ts";
import { combineAll, onlyIf, rowsKey, type Shape } from "./row-teams.ts";

/** Columns of a workgroup: neighbours, so that a memory access takes whole sectors. */
const widths = [8, 4, 16, 32, 64];
/** A short column's are more, as a few invocations have soon walked it. */
const wide = 32;
const shortColumn = 128;
/** With more columns than this each has a workgroup's worth of neighbours and work for all. */
const mostColumns = 1 << 14;
const leastRows = 64;

/** Whether a column is worth several invocations. */
export const wantsColumnTeams = ({ outer, inner }: Shape): boolean =>
  extentGuess(outer) < mostColumns && extentGuess(inner) >= leastRows;

export function gpuColumnTeams(context: LoweringContext, shape: Shape): Scheduled {
  const usual = extentGuess(shape.inner) < shortColumn ? wide : widths[0]!;
  if (!context.choices) return inTeams(context, shape, usual);
  const key = rowsKey(`columns of ${printDim(totalOf(shape.inner))}`, context, shape);
  const options = [usual, ...widths.filter((w) => w !== usual)];
  const choice = context.choices.among(key, options.map(String));
  return { ...inTeams(context, shape, Number(choice.chosen)), choice };
}

function inTeams(context: LoweringContext, shape: Shape, sideBySide: number): Scheduled {
  const members = groupSize / sideBySide;
  const [columns, rows] = [totalOf(shape.outer), totalOf(shape.inner)];
  const group = makeLoop("columns", ceilDiv(columns, sideBySide));
  const lid = makeLoop("lid", groupSize);
  const column = addDim(mulDim(group.at, sideBySide), modDim(lid.at, sideBySide));
  const member = floorDiv(lid.at, sideBySide);
  const step = makeLoop("step", ceilDiv(rows, members));
  const flat = addDim(mulDim(step.at, members), member);
  const columnWithin = modDim(columns, sideBySide) === 0 ? [] : [below(column, columns)];
  const rowWithin = modDim(rows, members) === 0 ? [] : [below(flat, rows)];
  const block = openBlock(context);
  emitRow(context, block, {
    rename: shape.rename,
    inner: (body) =>
      nest(
        [step],
        "serial",
        onlyIf([...columnWithin, ...rowWithin], [...decode(shape.inner, flat), ...body]),
      ),
    combine: (reduces, names) => combineAll(reduces, names, { team: members, apart: true }),
    once: (body) => onlyIf([...columnWithin, { value: negDim(member), test: "nonnegative" }], body),
  });
  const body = nest([group], "workgroup", [
    { kind: "letInvocation", name: lid.name },
    ...decode(shape.outer, column),
    ...block.body,
  ]);
  return { body, workgroupSize: groupSize };
}
