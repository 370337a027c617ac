/**
 * Packing: the lines of one panel side by side, packed[k·width + line], so that a tile reads both
 * operands in order. Whole panels are packed four lines at a time where their indices are affine;
 * past the last line a panel repeats it, since what comes of it is never stored.
 *
 * Why this shape: the inner loop has no cycle left for an address or a guard, so that all of both
 * is paid here, once an element. Neighbouring panels of rows that lie side by side are packed
 * together, eight streams at a time: a weight gradient went from 17.4 to 16.2 ms. The same for
 * panels of columns gained nothing and is left out.
 */
import {
  addDim,
  type Dim,
  floorDiv,
  isStatic,
  maxOfDim,
  minDim,
  modDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import { simplifyConditions } from "../../access.ts";
import { makeLoop } from "../../fuse/group.ts";
import { either, isAtLeast0, isBelow, onlyIf } from "../../kernel/conditions.ts";
import type { LoopKind, Stmt } from "../../kernel/kernel.ts";
import { lanesOf } from "../../kernel/lanes.ts";
import type { Rename } from "../../kernel/map.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { texts } from "../../sizes.ts";
import { isAffine, stepsBy } from "./affine.ts";
import type { Lines, Run } from "./lines.ts";
import { packChunks } from "./pack-chunks.ts";

/** The elements of a vector. */
export const lanesIn = ({ features }: LoweringContext): number => lanesOf(features);

/** Where the elements of a panel go. */
export interface Panel {
  readonly name: string;
  readonly width: number;
  /** The first line, and the place of the panel's first element. */
  readonly first: Dim;
  readonly base: Dim;
}

/** Neighbouring lines of a panel: all of them, or a quarter that lies together. */
interface Slice {
  readonly start: number;
  readonly count: number;
  /** True if all of its lines exist. */
  readonly whole: boolean;
}

interface Packing {
  readonly context: LoweringContext;
  readonly lines: Lines;
  readonly panel: Panel;
  readonly run: Run;
}

/**
 * The statements that pack one panel over a run of depth, whose cuts are multiples of a chunk if
 * all of it is `total`.
 */
export function packPanel(
  context: LoweringContext,
  lines: Lines,
  panel: Panel,
  run: Run,
  total?: Dim,
): Stmt[] {
  const p: Packing = { context, lines, panel, run };
  const chunks = total === undefined ? undefined : byChunks(p, total);
  const many = panel.width >= lanesIn(context) ? (chunks ?? byLanes(p)) : undefined;
  const one = byLine(p, { start: 0, count: panel.width, whole: false });
  return many ? ifWhole(lines, panel, many, one) : one;
}

/** Whether panels of so many lines can be packed in chunks of depth. */
export function liesInChunks(
  context: LoweringContext,
  lines: Lines,
  width: number,
  run: Run,
): boolean {
  const panel = { name: "trial", width, first: 0, base: 0 };
  const [only] = run.loops;
  return only !== undefined && byChunks({ context, lines, panel, run }, only.extent) !== undefined;
}

/** All vectors of a panel in chunks of depth, where it has no other lines. */
function byChunks({ context, lines, panel, run }: Packing, total: Dim): Stmt[] | undefined {
  const lanes = lanesIn(context);
  if (panel.width % lanes !== 0) return undefined;
  const lane = makeLoop("lane", lanes);
  const vectors = Array.from({ length: panel.width / lanes }, (_, q) => {
    const within = addDim(q * lanes, lane.at);
    const at = (step: Dim) => addDim(addDim(panel.base, mulDim(step, panel.width)), within);
    return { line: addDim(panel.first, within), at };
  });
  return packChunks({ context, lines, run, total, vectors, to: panel.name, lane });
}

/** Panels that follow each other. */
export interface Panels {
  readonly name: string;
  readonly width: number;
  /** The first panel, and how many at most. */
  readonly first: Dim;
  readonly count: number;
  /** The place of a panel's first element. */
  base(panel: Dim): Dim;
}

/**
 * The statements that pack neighbouring panels over a run of depth, all of them step by step, so
 * that what lies side by side is read together; undefined unless lines do. Vectors overlap where
 * the width is no multiple of theirs.
 */
export function packPanels(
  context: LoweringContext,
  lines: Lines,
  to: Panels,
  run: Run,
): Stmt[] | undefined {
  const { name, width, first, count, base } = to;
  const lanes = lanesIn(context);
  if (width < lanes) return undefined;
  const lane = makeLoop("lane", lanes);
  const next = makeLoop("next", count);
  const whole = floorDiv(lines.total, width);
  const panelAt = (at: Dim): Packing => {
    const panel = { name, width, first: mulDim(at, width), base: base(at) };
    return { context, lines, panel, run };
  };
  const p = panelAt(addDim(first, next.at));
  const starts = Array.from({ length: Math.ceil(width / lanes) }, (_, q) =>
    Math.min(q * lanes, width - lanes),
  );
  const statements = starts.flatMap((start) => {
    const within = addDim(start, lane.at);
    return storeAt(p, lines.at(addDim(p.panel.first, within)), within);
  });
  if (!isAffine(statements, lane.name) || !stepsBy(statements, lane.name, 1)) return undefined;
  const extent = minDim(count, subDim(whole, first));
  const each = nest([{ ...next, extent }], "serial", statements);
  const all = nest([lane], "vector", overRun(run, "serial", each));
  if (modDim(lines.total, width) === 0) return all;
  const last = byLine(panelAt(whole), { start: 0, count: width, whole: false });
  // Beyond the last whole panel there is one more only where lines are left over, and it is packed
  // by the unit it falls to.
  const here = isAtLeast0(subDim(addDim(first, count - 1), whole));
  const when = simplifyConditions([here, isBelow(0, modDim(lines.total, width))]);
  return [...all, ...(when ? onlyIf(when, last) : [])];
}

/** `whole` for a panel all of whose lines exist, `partial` for another. */
export function ifWhole(
  lines: Lines,
  panel: Panel,
  whole: readonly Stmt[],
  partial: readonly Stmt[],
): Stmt[] {
  if (modDim(lines.total, panel.width) === 0) return [...whole];
  return either(subDim(lines.total, addDim(panel.first, panel.width)), whole, partial);
}

/** The statements that store the element at a line's renaming and a place in the panel. */
function storeAt({ context, lines, panel, run }: Packing, at: Rename, within: Dim): Stmt[] {
  const block = openBlock(context);
  const value = lines.value(block, new Map([...at, ...run.rename]));
  const index = addDim(addDim(panel.base, mulDim(run.flat, panel.width)), within);
  return [...block.body, { kind: "store", to: panel.name, index, value }];
}

/**
 * The loops of a run around a body, short inner ones written out; a last one that is longer runs as
 * `last`.
 */
function overRun(run: Run, last: LoopKind, body: readonly Stmt[]): Stmt[] {
  let [at, product] = [run.loops.length, 1];
  for (; at > 0; at--) {
    const { extent } = run.loops[at - 1]!;
    if (!isStatic(extent) || extent * product > texts.written) break;
    product *= extent;
  }
  const inner = nest(run.loops.slice(at), "unrolled", body);
  if (at < run.loops.length) return nest(run.loops.slice(0, at), "serial", inner);
  return nest(run.loops.slice(0, -1), "serial", nest(run.loops.slice(-1), last, inner));
}

/** Each line by itself; four steps of depth at a time where memory runs along depth. */
function byLine(p: Packing, { start, count, whole }: Slice): Stmt[] {
  const { lines, panel, run } = p;
  const s = makeLoop("s", count);
  const line = makeLoop("line", lines.total);
  const within = addDim(start, s.at);
  const here = addDim(panel.first, within);
  const statements = storeAt(p, lines.at(line.at), within);
  const last = run.loops.at(-1)!;
  const vector = isAffine(statements, last.name) && stepsBy(statements, last.name, 1);
  const value = whole ? here : minDim(here, subDim(lines.total, 1));
  return nest([s], "serial", [
    { kind: "letIndex", name: line.name, value },
    ...overRun(run, vector ? "simd" : "serial", statements),
  ]);
}

/**
 * Four lines at a time: all quarters of the panel together if their places are even, else each by
 * itself.
 */
function byLanes(p: Packing): Stmt[] | undefined {
  const { lines, panel, run } = p;
  const lanes = lanesIn(p.context);
  const lane = makeLoop("lane", lanes);
  const quarters = Math.floor(panel.width / lanes);
  const starts = Array.from({ length: quarters }, (_, q) => q * lanes);
  const start = quarters * lanes;
  const left = panel.width - start;
  const rest = left > 0 ? byLine(p, { start, count: left, whole: true }) : [];
  const made = starts.map((start) => {
    const within = addDim(start, lane.at);
    return storeAt(p, lines.at(addDim(panel.first, within)), within);
  });
  if (made.every((m) => isAffine(m, lane.name)))
    return [...nest([lane], "vector", overRun(run, "serial", made.flat())), ...rest];
  const parts = starts.map((start) => inOneRow(p, start));
  return parts.every((q) => q !== undefined) ? [...parts.flat(), ...rest] : undefined;
}

/** Four lines that lie in one iteration of the outer loops, as one vector; else each by itself. */
function inOneRow(p: Packing, start: number): Stmt[] | undefined {
  const { lines, panel, run } = p;
  const lanes = lanesIn(p.context);
  const row = lines.innermost;
  if (!row || maxOfDim(row.extent) < lanes) return undefined;
  const lane = makeLoop("lane", lanes);
  // Quarters stand side by side, each around lines of its own.
  const line = makeLoop(`quarter${start / lanes}`, lines.total);
  const base = lines.at(line.at);
  const x = base.get(row.name)!;
  const at = new Map([...base, [row.name, addDim(x, lane.at)] as const]);
  const statements = storeAt(p, at, addDim(start, lane.at));
  if (!isAffine(statements, lane.name)) return undefined;
  const together = nest([lane], "vector", overRun(run, "serial", statements));
  const apart = byLine(p, { start, count: lanes, whole: true });
  return [
    { kind: "letIndex", name: line.name, value: addDim(panel.first, start) },
    ...either(subDim(row.extent, addDim(x, lanes)), together, apart),
  ];
}
