/**
 * Row reductions on a GPU by teams of invocations: a workgroup a row, or several short rows in
 * one. Each invocation takes every n-th element, or every n-th four where memory is aligned, and
 * the team combines its sums at the end of each phase.
 *
 * Why this shape: bytes bound it. Loads of a team are coalesced; what several phases need (softmax
 * reads a row three times) stays in registers where a row fits, so that memory is read once and
 * written once. Longer rows are read again in each phase.
 */
import { type Dim, isStatic, printDim, sizeOf } from "@kiln-ml/ir";
import { type LoweringContext, membersOf } from "../../lower/context.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { rowTeams as prefers } from "../../machine/webgpu.ts";
import { type Extent, loopsOf } from "../loop-moves.ts";
import type { Step } from "../recipe.ts";
import { inFours } from "../vector.ts";
import { groupSize } from "./gpu.ts";
import { apply } from "./recipe.ts";
import type { Rows } from "./rows.ts";

export function gpuRowTeams(context: LoweringContext, rows: Rows): Scheduled {
  const { vectorised, ...line } = inFours(rows.merged, rows.inner.at(-1));
  const loops = loopsOf(line.body, context.group.inner);
  const { team, choice } = teamFor(context, rows, iterations(loops), vectorised !== undefined);
  const names = (list: readonly Extent[]) => list.map((l) => l.name);
  const row = team ? "rows" : "row";
  const steps: Step[] = [
    ["flatten", row, ...names(rows.outer)],
    ["flatten", "e", ...names(loops)],
  ];
  // A row is read anew in each phase where registers do not hold it.
  if (!team) steps.push(["cooperate", row, "e"]);
  // The steps of an invocation written out, so that arrays of what is kept are registers.
  else
    steps.push(
      ["keep", "loads", "e"],
      ["teams", row, "e", team.team, team.size],
      ["mark", "step", "unrolled"],
    );
  return {
    ...apply(line, ...steps),
    workgroupSize: team?.size ?? groupSize,
    ...(vectorised ? { vectorised } : {}),
    ...(choice ? { choice } : {}),
  };
}

export const iterations = (loops: readonly Extent[]): Dim => sizeOf(loops.map((l) => l.extent));

/** The team for rows of a length, or of the sizes around it the one that a table names. */
function teamFor(context: LoweringContext, rows: Rows, total: Dim, wide: boolean) {
  const own = teamOf(total, wide);
  if (!context.choices) return { team: own };
  const teams = new Map(prefers.steps.map((s) => nameTeam(teamOf(total, wide, s))));
  const key = rowsKey(`rows of ${printDim(total)}${wide ? "x4" : ""}`, context, rows);
  const choice = context.choices.among(key, [...teams.keys()]);
  return { team: teams.get(choice.chosen), choice };
}

/**
 * What a rows group's speed depends on: how many rows there are, and what is computed; what is
 * stored has a mark.
 */
export const rowsKey = (length: string, context: LoweringContext, { outer }: Rows): string =>
  [
    length,
    `outer=${printDim(iterations(outer))}`,
    ...membersOf(context.group).map(
      ([t]) => `${t.op}${context.stored.has(t) ? "!" : ""}:${t.dtype}`,
    ),
  ].join(" ");

const nameTeam = (team: Team | undefined): [string, Team | undefined] => [
  team ? `${team.team} of ${team.size} by ${team.steps}` : "striding",
  team,
];

interface Team {
  /** Invocations of the workgroup, and of a team. */
  readonly size: number;
  readonly team: number;
  /** What each of them takes of a row. */
  readonly steps: number;
}

/** Undefined where the row's length is not known, or registers do not hold it. */
function teamOf(total: Dim, wide: boolean, good = prefers.steps[0]!): Team | undefined {
  if (!isStatic(total)) return undefined;
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, total / good)));
  const team = total >= prefers.ownGroup && wide ? Math.max(prefers.ownGroup, wanted) : wanted;
  const members = Math.min(groupSize, team);
  const steps = Math.ceil(total / members);
  if (steps > (wide ? prefers.mostWideSteps : prefers.mostSteps)) return undefined;
  return { size: members < prefers.ownGroup ? prefers.sharedGroup : members, team: members, steps };
}
