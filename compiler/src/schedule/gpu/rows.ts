/**
 * Map and rows groups on a GPU. A map runs one invocation for each four elements where memory is
 * aligned, else for each one. A short row, or a column, is one invocation's serial loop; a long
 * row is a team's; a reduction over the outer loops as well runs in a single workgroup, whose
 * invocations can combine at a barrier: workgroups of one launch cannot wait for each other.
 */
import { type Dim, isStatic } from "@kiln-ml/ir";
import { extentGuess } from "../../fuse/state.ts";
import type { Of } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { dimsIn } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { naiveRows } from "../../lower/naive.ts";
import { rootReduces } from "../../lower/rows.ts";
import { rows as prefers } from "../../machine/webgpu.ts";
import { type Extent, loopsOf } from "../loop-moves.ts";
import { type Moved, naive, type Step } from "../recipe.ts";
import { inFours } from "../vector.ts";
import { gpuColumnTeams, wantsColumnTeams } from "./column-teams.ts";
import { groupSize } from "./gpu.ts";
import { apply } from "./recipe.ts";
import { gpuRowTeams } from "./row-teams.ts";

/** A row or map in the group's loops, neighbours merged where memory allows. */
export interface Rows {
  readonly merged: Moved;
  readonly outer: readonly Of<"loop">[];
  readonly inner: readonly Of<"loop">[];
}

export function gpuRows(context: LoweringContext): Scheduled {
  const { group } = context;
  const merged = apply(naive(naiveRows(context)), ["merge"]);
  const [outer, inner] = [loopsOf(merged.body, group.outer), loopsOf(merged.body, group.inner)];
  const rows: Rows = { merged, outer, inner };
  if (rootReduces(context).length > 0) return single(rows);
  if (inner.length === 0) return spread(inFours(merged, outer.at(-1)), outer, groupSize);
  const byColumn = readsByColumn(outer, inner);
  if (byColumn && wantsColumnTeams(rows)) return gpuColumnTeams(context, rows);
  if (byColumn && extentGuess(group.outer) >= prefers.leastColumns)
    return serial(rows, inFours(merged, outer.at(-1)));
  if (extentGuess(group.inner) <= prefers.short) return serial(rows, merged);
  return gpuRowTeams(context, rows);
}

function readsByColumn(outer: readonly Of<"loop">[], inner: readonly Extent[]): boolean {
  const [o, i] = [outer.at(-1), inner.at(-1)];
  if (!o || !i) return false;
  const indices = dimsIn(o.body);
  const count = (name: string) => indices.filter((d: Dim) => strideOf(d, name) === 1).length;
  return count(o.name) > count(i.name);
}

/** Workgroups of `size` invocations, one for each iteration of the outer loops. */
const spread = (
  { vectorised, ...moved }: Moved & Pick<Scheduled, "vectorised">,
  outer: readonly Extent[],
  size: number,
): Scheduled => ({
  ...apply(moved, ["grid", size, ...outer.map((l) => l.name)]),
  workgroupSize: size,
  ...(vectorised ? { vectorised } : {}),
});

/** One invocation a row; or a column, or for each four columns where memory lines up. */
const serial = (
  { inner, outer }: Rows,
  { vectorised, ...from }: Moved & Pick<Scheduled, "vectorised">,
): Scheduled =>
  spread(
    { ...apply(from, ...alone(inner)), ...(vectorised ? { vectorised } : {}) },
    outer,
    prefers.group,
  );

/** The inner loops run by one invocation. */
function alone(inner: readonly Extent[]): Step[] {
  const small = inner.every((l) => isStatic(l.extent)) && extentGuess(inner) <= prefers.unrolled;
  return inner.map((l) => ["mark", l.name, small ? "unrolled" : "serial"]);
}

/** Everything in one workgroup: each invocation takes every n-th row. */
const single = ({ merged, outer, inner }: Rows): Scheduled => ({
  ...apply(
    merged,
    ...alone(inner),
    ["flatten", "row", ...outer.map((l) => l.name)],
    ["flatten", "chunk"],
    ["cooperate", "chunk", "row"],
  ),
  workgroupSize: groupSize,
});
