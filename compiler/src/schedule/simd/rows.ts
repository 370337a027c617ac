/**
 * The loops of map and rows groups for a CPU with lanes and threads: one parallel loop outside,
 * one loop in lanes inside, which runs along memory. Long sums are taken in blocks, so that f32 is
 * enough to keep them.
 *
 * Why this shape: memory bandwidth bounds nearly all of these kernels, so that the loop in lanes
 * is the one along which loads and stores are contiguous, whichever loop of the group that is.
 * Where two sides run across each other (a transposing map) a square is walked: a cache line of
 * the side that jumps by rows whose lines stay in L1. Work items are 4,096 elements, so that their
 * hand-over costs nothing beside them; short inner loops are unrolled, as long as the text stays
 * small enough to compile quickly.
 */
import { type Dim, isStatic, maxOfDim, opRecord, sizeOf } from "@kiln-ml/ir";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import { plainName } from "../../kernel/names.ts";
import { bindingOf } from "../../kernel/parts.ts";
import { strideOf } from "../../kernel/stride.ts";
import { eachStmt, walkStmts } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { naiveRows } from "../../lower/naive.ts";
import { accName, phasesOf, rootReduces } from "../../lower/rows.ts";
import { sumDtype } from "../../lower/value.ts";
import { columns, loops as limits, squares } from "../../machine/wasm.ts";
import { inColumns, keptIn, readsByColumn } from "../columns.ts";
import { compensated } from "../compensate.ts";
import { type Extent, loopsOf } from "../loop-moves.ts";
import { type Moved, naive, type Step } from "../recipe.ts";
import { apply } from "./recipe.ts";

/**
 * `ofAnyLength`: sums that are known to be short are added up in the order of those that are not.
 */
export function simdRows(context: LoweringContext, ofAnyLength = false): Moved {
  const { group } = context;
  const small = !ofAnyLength && isSmall(group.inner);
  const merged = apply(naive(naiveRows(context)), ["merge"]);
  const [outer, inner] = [loopsOf(merged.body, group.outer), loopsOf(merged.body, group.inner)];
  const line = outer.at(-1)?.body ?? merged.body;
  const across = inner.length > 0 && runsAcross(outer, inner, line);
  if (across && !small && readsByColumn(context, outer, inner, line))
    return apply(merged, ...columnRecipe(context, outer.at(-1)!, inner));
  const rows = rootReduces(context).length > 0 ? outer.map(serial) : [];
  if (inner.length > 0 && !small && !across) {
    // Without phases there is nothing to keep from one to the next.
    const kept: Step[] =
      phasesOf(context).length > 1 ? [["keep", ...inner.map((l) => l.name)]] : [];
    const runs = [...inner.slice(0, -1).map(serial), ...(rows.length ? rows : flat(outer))];
    return apply(merged, ...kept, ...runs, ["prefetch"], ["blockSums"]);
  }
  const written = small && isShort(inner, line) ? "unrolled" : "serial";
  const runs = inner.map(({ name }): Step => ["mark", name, written]);
  return apply(merged, ...runs, ...mapRecipe(outer, line, rows), ["blockSums"]);
}

const serial = ({ name }: Extent): Step => ["mark", name, "serial"];
const inLanes = (name: string): Step => ["mark", name, "simd"];

/** Outer loops as one parallel loop. */
const flat = (outer: readonly Extent[]): Step[] =>
  outer.length < 2 ? [] : [["flatten", "row", ...outer.map((l) => l.name)]];

const isSmall = (loops: readonly Extent[]): boolean =>
  loops.reduce((n, l) => n * maxOfDim(l.extent), 1) <= limits.unrolled;

/**
 * True if the statements stay readable, and quick to compile, when they are repeated for each
 * iteration.
 */
function isShort(loops: readonly Extent[], body: readonly Stmt[]): boolean {
  let parts = 0;
  walkStmts(body, {
    expr: () => {
      parts++;
    },
  });
  return parts * maxOfDim(sizeOf(loops.map((l) => l.extent))) <= limits.mostParts;
}

/**
 * Loads and stores that step by one element along a loop, and those that move with it otherwise.
 */
function stepsAlong(loop: Extent, body: readonly Stmt[]): { unit: number; other: number } {
  let [unit, other] = [0, 0];
  const see = (_: string, index: Dim = 0): void => {
    const stride = strideOf(index, loop.name);
    if (stride === 1) unit++;
    else if (stride !== 0) other++;
  };
  walkStmts(body, { memory: see });
  return { unit, other };
}

/** True if lanes should lie along the last outer loop although there is an inner one. */
function runsAcross(
  outer: readonly Extent[],
  inner: readonly Extent[],
  body: readonly Stmt[],
): boolean {
  const [o, i] = [outer.at(-1), inner.at(-1)!];
  if (!o || maxOfDim(o.extent) < 4) return false;
  return stepsAlong(o, body).unit > stepsAlong(i, body).unit;
}

/** Groups whose lanes lie along the last outer loop. `rows`: how loops with sums over them run. */
function mapRecipe(
  outer: readonly Extent[],
  line: readonly Stmt[],
  rows: readonly Step[],
): readonly Step[] {
  const last = outer.at(-1);
  if (!last) return [];
  const rest = outer.slice(0, -1);
  if (rows.length > 0) return rows.slice(0, -1);
  const jump = rest.at(-1);
  if (jump && jumps(jump, last, line)) return inSquares(rest.slice(0, -1), jump, last);
  const few =
    isStatic(sizeOf(rest.map((l) => l.extent))) &&
    (sizeOf(rest.map((l) => l.extent)) as number) < limits.unrolled;
  if (few && maxOfDim(last.extent) > limits.mapBlock)
    return [
      ["split", last.name, limits.mapBlock],
      ...(rest[0] ? [["reorder", blockOf(last), rest[0].name] as const] : []),
      ...rest.map(serial),
      inLanes(within(last)),
    ];
  return [...flat(rest), inLanes(last.name)];
}

const blockOf = ({ name }: Extent): string => `${plainName(name)}Block`;
const within = ({ name }: Extent): string => `${plainName(name)}In`;

/** True if some loads run along `jump` while the stores run along `last`: a transposition. */
function jumps(jump: Extent, last: Extent, body: readonly Stmt[]): boolean {
  if (maxOfDim(jump.extent) < squares.jump || maxOfDim(last.extent) < squares.run) return false;
  return stepsAlong(jump, body).unit > 0 && stepsAlong(last, body).other > 0;
}

/** Squares of both loops, so that cache lines are used up before they are lost. */
const inSquares = (outer: readonly Extent[], jump: Extent, last: Extent): Step[] => [
  ["split", jump.name, squares.jump],
  ["split", last.name, squares.run],
  ["reorder", blockOf(last), within(jump)],
  ...[within(jump), blockOf(last), ...(outer.length > 0 ? [blockOf(jump)] : [])].map(
    (name): Step => ["mark", name, "serial"],
  ),
  inLanes(within(last)),
  ...flat(outer),
];

/**
 * Columns summed side by side. Sums of many rows are taken in parts; a few rows are added at once
 * to what is kept of a column.
 */
function columnRecipe(
  context: LoweringContext,
  { name, extent, body }: Of<"loop">,
  inner: readonly Extent[],
): Step[] {
  const sums = phasesOf(context)[0]!
    .reduces.filter((t) => opRecord(t.op).reducer === "sum" && compensated(t.dtype) !== undefined)
    .map((t) => accName(context, t));
  const { cut, size, rows } = partOf(inner, sums.length > 0);
  const parts: Step[] = size
    ? [
        ["split", cut.name, size, "part", "r"],
        ["inline", cut.name],
        ["splitSum", "part", ...sums],
      ]
    : [];
  // A row at a time where the other inner loops would come between rows.
  const several = cut === inner.at(-1) && rows >= columns.together;
  const inFours: Step[] = several ? [["unroll", size ? "r" : cut.name, columns.together]] : [];
  // Lanes are printed several at a time where their statements are few; a loop counts as many.
  if (several && !bindsIn(body, cut.name)) inFours.push(["writeOut", "e"]);
  // Fewer of few columns at once, so that threads find work; wide blocks are read faster.
  const width = isStatic(extent) && extent >= columns.many ? columns.wide : columns.width;
  return [
    ...inner.map(serial),
    ...keptIn(body, (a) => sumDtype(a.dtype)),
    ...parts,
    ...inFours,
    ...inColumns({ name }, width, "simd"),
  ];
}

/** Whether statements in a loop bind names, which are bound once. */
function bindsIn(body: readonly Stmt[], loop: string): boolean {
  let binds = false;
  eachStmt(body, (s) => {
    if (s.kind === "loop" && s.name === loop)
      eachStmt(s.body, (t) => {
        binds ||= bindingOf(t) !== undefined;
      });
  });
  return binds;
}

/**
 * The loop that is split into parts of about `columns.rows` rows, and how many iterations a part
 * has.
 */
function partOf(inner: readonly Extent[], parted: boolean) {
  const most = inner.map((l) => maxOfDim(l.extent));
  if (!parted || most.reduce((n, m) => n * m, 1) <= columns.rows)
    return { cut: inner[0]!, size: undefined, rows: most[0]! };
  let [at, below] = [inner.length - 1, 1];
  for (; at > 0 && below * most[at]! <= columns.rows; at--) below *= Math.max(1, most[at]!);
  const size = Math.max(1, Math.floor(columns.rows / below));
  return { cut: inner[at]!, size, rows: Math.min(size, most[at]!) };
}
