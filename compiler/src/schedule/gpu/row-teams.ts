/**
 * Row reductions on a GPU by teams of invocations: a workgroup a row, or several short rows in
 * one. Each invocation takes every n-th element, or every n-th four where memory is aligned, and
 * the team combines its sums at the end of each phase.
 *
 * Why this shape: bytes bound it. Loads of a team are coalesced; what several phases need (softmax
 * reads a row three times) stays in registers where a row fits, so that memory is read once and
 * written once. Longer rows are read again in each phase.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  isStatic,
  modDim,
  mulDim,
  negDim,
  opRecord,
  printDim,
  type Tensor,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { type LoweringContext, membersOf, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { emitRow } from "../../lower/rows.ts";
import { vectorise } from "../vector.ts";
import { below, groupSize, once } from "./gpu.ts";

/** A rows group's loops, merged where memory allows. */
export interface Shape {
  readonly outer: readonly Loop[];
  readonly inner: readonly Loop[];
  readonly rename: Rename;
}

/** A row as steps of one or four elements. */
interface Line {
  readonly loops: readonly Loop[];
  readonly rename: Rename;
  readonly lane: Loop | undefined;
}

export function gpuRowTeams(
  context: LoweringContext,
  shape: Shape,
  plain: (rename: Rename) => Stmt[],
): Scheduled {
  const wide = vectorise(shape.inner.at(-1)!, shape.rename, plain);
  const line: Line = wide
    ? { loops: [...shape.inner.slice(0, -1), wide.loop], rename: wide.rename, lane: wide.lane }
    : { loops: shape.inner, rename: shape.rename, lane: undefined };
  const { team, choice } = teamFor(context, shape, line);
  const scheduled = team ? inRegisters(context, shape, line, team) : striding(context, shape, line);
  return {
    ...scheduled,
    ...(wide ? { vectorised: wide.params } : {}),
    ...(choice ? { choice } : {}),
  };
}

/** The team for rows of a length, or of the sizes around it the one that a table names. */
function teamFor(context: LoweringContext, shape: Shape, { loops, lane }: Line) {
  const [total, wide] = [totalOf(loops), lane !== undefined];
  const own = teamOf(total, wide);
  if (!context.choices) return { team: own };
  const teams = new Map([own, ...otherSteps.map((s) => teamOf(total, wide, s))].map(nameTeam));
  const key = rowsKey(`rows of ${printDim(total)}${wide ? "x4" : ""}`, context, shape);
  const choice = context.choices.among(key, [...teams.keys()]);
  return { team: teams.get(choice.chosen), choice };
}

/**
 * What a rows group's speed depends on: how many rows there are, and what is computed; what is
 * stored has a mark.
 */
export const rowsKey = (length: string, context: LoweringContext, { outer }: Shape): string =>
  [
    length,
    `outer=${printDim(totalOf(outer))}`,
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

/**
 * Steps an invocation should take: fewer leave invocations idle while they combine, more wait for
 * one another's loads.
 */
const goodSteps = 4;
const otherSteps = [1, 2, 8, 16];
/** Steps whose values registers hold, of four elements and of one. */
const mostWideSteps = 8;
const mostSteps = 32;
/**
 * A team of at least so many invocations has a workgroup of its own, which is at least one subgroup
 * on most devices.
 */
const ownGroup = 32;
/** Invocations of a workgroup that several teams share. */
const sharedGroup = 128;

/** Undefined where the row's length is not known, or registers do not hold it. */
function teamOf(total: Dim, wide: boolean, good = goodSteps): Team | undefined {
  if (!isStatic(total)) return undefined;
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, total / good)));
  const team = total >= ownGroup && wide ? Math.max(ownGroup, wanted) : wanted;
  const members = Math.min(groupSize, team);
  const steps = Math.ceil(total / members);
  if (steps > (wide ? mostWideSteps : mostSteps)) return undefined;
  return { size: members < ownGroup ? sharedGroup : members, team: members, steps };
}

/** Combines the partial results of a phase over a team. */
export const combineAll = (
  reduces: readonly Tensor[],
  names: readonly string[],
  team: { readonly team?: number; readonly apart?: true } = {},
): Stmt[] => [
  {
    kind: "combine",
    names,
    reducers: reduces.map((r) => opRecord(r.op).reducer!),
    ...team,
  },
];

/** A workgroup a row, which is read anew in each phase. */
function striding(
  context: LoweringContext,
  shape: Shape,
  { loops, rename, lane }: Line,
): Scheduled {
  const group = makeLoop("row", totalOf(shape.outer));
  const flat = makeLoop("e", totalOf(loops));
  const block = openBlock(context);
  emitRow(context, block, {
    rename,
    inner: (body) => nest([flat], "local", [...decode(loops, flat.at), ...inLanes(lane, body)]),
    combine: (reduces, names) => combineAll(reduces, names),
    once,
  });
  const body = nest([group], "workgroup", [...decode(shape.outer, group.at), ...block.body]);
  return { body, workgroupSize: groupSize };
}

const inLanes = (lane: Loop | undefined, body: readonly Stmt[]): readonly Stmt[] =>
  lane ? nest([lane], "vector", body) : body;

/** The steps of an invocation written out, so that arrays of what is kept are registers. */
function inRegisters(context: LoweringContext, shape: Shape, line: Line, t: Team): Scheduled {
  const width = line.lane ? 4 : 1;
  const [rows, total] = [totalOf(shape.outer), totalOf(line.loops)];
  const perGroup = t.size / t.team;
  const lid = makeLoop("lid", t.size);
  const group = makeLoop("rows", ceilDiv(rows, perGroup));
  const row = addDim(mulDim(group.at, perGroup), floorDiv(lid.at, t.team));
  const member = modDim(lid.at, t.team);
  const step = makeLoop("step", t.steps);
  const flat = addDim(mulDim(step.at, t.team), member);
  const rowWithin = modDim(rows, perGroup) === 0 ? [] : [below(row, rows)];
  const stepWithin = modDim(total, t.team) === 0 ? [] : [below(flat, total)];
  const block = openBlock(context);
  emitRow(context, block, {
    rename: line.rename,
    inner: (body) =>
      nest(
        [step],
        "unrolled",
        onlyIf(
          [...rowWithin, ...stepWithin],
          [...decode(line.loops, flat), ...inLanes(line.lane, body)],
        ),
      ),
    combine: (reduces, names) =>
      combineAll(reduces, names, t.team === t.size ? {} : { team: t.team }),
    once: (body) => onlyIf([...rowWithin, { value: negDim(member), test: "nonnegative" }], body),
    keep: {
      index: addDim(mulDim(step.at, width), line.lane?.at ?? 0),
      size: t.steps * width,
      double: false,
      loads: true,
      width,
    },
  });
  const body = nest([group], "workgroup", [
    { kind: "letInvocation", name: lid.name },
    ...decode(shape.outer, row),
    ...block.body,
  ]);
  return { body, workgroupSize: t.size };
}

export const onlyIf = (when: readonly Condition[], body: readonly Stmt[]): Stmt[] =>
  when.length === 0 ? [...body] : [{ kind: "if", when, then: body }];
