/**
 * Scan groups on a GPU. A line is one invocation's, which walks the axis in order, where lines are
 * short or lie side by side in memory, since loads are then coalesced across lines; a long line is
 * a workgroup's: tile by tile, each invocation first takes in a few neighbouring elements, learns
 * from the others the sum of all before it, and then steps through its own. A line is not shared
 * among workgroups, which cannot wait for each other; very long ones are split in the graph
 * (`split-scan`).
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  type Dtype,
  floorDiv,
  modDim,
  mulDim,
  opRecord,
  scanAttrs,
  type Tensor,
} from "@kiln-ml/ir";
import { isScan } from "../../access.ts";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { extentGuess } from "../../fuse/state.ts";
import { call, load, ref } from "../../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { dimsIn } from "../../kernel/walk.ts";
import {
  identityOf,
  type LoweringContext,
  membersOf,
  openBlock,
  storeMember,
} from "../../lower/context.ts";
import { collapse, decode, nest, renamed, renamedAt, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { accName, declareAcc } from "../../lower/rows.ts";
import { emitAfter, lineOf, runningOf } from "../../lower/scans.ts";
import { inDtype, sumDtype } from "../../lower/value.ts";
import { vectorisedParams } from "../vector.ts";
import { below, groupSize, once, onlyIf, perInvocation } from "./gpu.ts";

const size = 64;
/** Shorter lines do not pay for what a workgroup says to itself. */
const leastLine = 128;
/** So many lines side by side keep the device busy, and are read together. */
const manyLines = 4096;

export function gpuScan(context: LoweringContext): Scheduled {
  const line = (rename: Rename, inner = context.group.inner) =>
    lineOf(context, rename, (step) => nest(inner, "serial", step));
  const outer = collapse(context.group.outer, new Map(), (r) => dimsIn(line(r, [])));
  const [inner] = context.group.inner as [Loop];
  const length = extentGuess([inner]);
  const aside = !dimsIn(line(outer.rename, [])).some((d) => isAlong(d, inner));
  const many = aside && extentGuess(outer.loops) >= manyLines;
  if (length >= leastLine && !many && inTiles(context))
    return tiles(context, inner, outer.loops, outer.rename, length);
  return { body: perInvocation(outer.loops, size, line(outer.rename)), workgroupSize: size };
}

const isAlong = (d: Dim, loop: Loop): boolean => {
  const stride = strideOf(d, loop.name);
  return stride === 1 || stride === -1;
};

const joined = new Set(["sum", "prod", "max", "min"]);

/**
 * True if every accumulator is a scan's that needs no other's, so that parts of a line can be taken
 * in before it is walked.
 */
function inTiles(context: LoweringContext): boolean {
  const running = runningOf(context);
  const without = new Set<Tensor>();
  const needsOther = (t: Tensor): boolean => {
    if (without.has(t)) return false;
    const needs = running.includes(t) || (!context.outside(t) && t.operands.some(needsOther));
    if (!needs) without.add(t);
    return needs;
  };
  return running.every(
    (t) =>
      isScan(t) && joined.has(opRecord(t.op).reducer!) && !t.operands.some((o) => needsOther(o)),
  );
}

/** Elements an invocation takes of a tile: one access where memory lines up. */
const each = 4;

/** The loops of a workgroup over one line, and where they have come to. */
interface Walk {
  readonly line: Loop;
  readonly tile: Loop;
  readonly lid: Loop;
  readonly lane: Loop;
  /** What the axis stands for at a lane. */
  readonly rename: Rename;
  /** That there is such an element. */
  readonly inside: readonly Condition[];
  /**
   * Elements that an invocation holds: those of a tile, or of a whole line, all on their way before
   * the first is needed.
   */
  readonly held: number;
  /** Where a lane's element is among them. */
  readonly place: Dim;
}

/** Tiles of a line that an invocation has registers for. */
const mostHeld = 8;

function walkOf(inner: Loop, outer: readonly Loop[], rename: Rename, invocations: number): Walk {
  const tile = makeLoop("tile", ceilDiv(inner.extent, invocations * each));
  const [lid, lane] = [makeLoop("lid", invocations), makeLoop("lane", each)];
  const four = addDim(mulDim(tile.at, invocations), lid.at);
  const at = addDim(mulDim(four, each), lane.at);
  const whole = modDim(inner.extent, invocations * each) === 0;
  // Lanes that end together stay one access.
  const fours = modDim(inner.extent, each) === 0;
  const end = fours ? below(four, floorDiv(inner.extent, each)) : below(at, inner.extent);
  const count = tile.extent;
  const allHeld = typeof count === "number" && count <= mostHeld;
  return {
    line: makeLoop("line", totalOf(outer)),
    tile,
    lid,
    lane,
    rename: renamedAt(rename, new Map([[inner.name, at]])),
    inside: whole ? [] : [end],
    held: allHeld ? count * each : each,
    place: allHeld ? addDim(mulDim(tile.at, each), lane.at) : lane.at,
  };
}

/**
 * One workgroup a line. An invocation reads its elements of a tile once, scans them by themselves,
 * learns what comes before them, and then stores.
 */
function tiles(
  context: LoweringContext,
  inner: Loop,
  outer: readonly Loop[],
  rename: Rename,
  length: number,
): Scheduled {
  const invocations = length >= groupSize * each ? groupSize : size;
  const w = walkOf(inner, outer, rename, invocations);
  const running = runningOf(context);
  const names = running.map((t) => accName(context, t));
  const carries = names.map((name) => `${name}Carry`);
  const reducers = running.map((t) => opRecord(t.op).reducer!);
  const held = running.map((t, i) => hold(context, t, heldBy(names[i]!), w));
  const taken = held.flatMap(({ body }) => body);
  const stored = storeScanned(context, w);
  const after = openBlock(context);
  emitAfter(context, after, rename);
  const wide = vectorisedParams([...taken, ...stored], w.lane.name);
  const lanes = (body: readonly Stmt[]): Stmt[] => nest([w.lane], "vector", body);
  const scanned = [
    ...running.flatMap((t, i) => scanOwn(t, names[i]!, held[i]!.dtype, w)),
    { kind: "prefix", names, carries, reducers } as const,
    ...lanes(stored),
  ];
  const start = running.map((t) => wideAcc(context, t));
  const body = nest([w.line], "workgroup", [
    { kind: "letInvocation", name: w.lid.name },
    ...decode(outer, w.line.at),
    ...running.map((t, i) => ({ ...wideAcc(context, t), name: carries[i]! })),
    ...running.flatMap((t, i) => [
      own(heldBy(names[i]!), held[i]!.dtype, w.held),
      own(madeBy(names[i]!), sumDtype(t.dtype), each),
    ]),
    ...walked(w, lanes(taken), [...start, ...scanned]),
    ...(after.body.length > 0 ? once(after.body) : []),
  ]);
  return { body, workgroupSize: invocations, vectorised: wide };
}

/** Tile by tile; where a whole line is held, all of it is taken first. */
const walked = ({ tile, held }: Walk, taken: readonly Stmt[], scanned: readonly Stmt[]): Stmt[] =>
  held > each
    ? [...nest([tile], "unrolled", taken), ...nest([tile], "unrolled", scanned)]
    : nest([tile], "serial", [...taken, ...scanned]);

/** A half's parts are not rounded before they are joined. */
const wideAcc = (context: LoweringContext, t: Tensor): Of<"acc"> => {
  const dtype = sumDtype(t.dtype);
  return { ...declareAcc(context, t), dtype, init: identityOf(t, dtype) };
};

const heldBy = (name: string): string => `${name}Held`;
const madeBy = (name: string): string => `${name}Made`;

const own = (name: string, dtype: Dtype, size: number): Stmt => ({
  kind: "array",
  name,
  dtype,
  size,
  space: "private",
  width: each,
});

/**
 * Statements that keep a lane's element, or what changes nothing where there is none; and its
 * dtype.
 */
function hold(
  context: LoweringContext,
  scan: Tensor,
  to: string,
  w: Walk,
): { dtype: Dtype; body: Stmt[] } {
  const block = openBlock(context);
  const coords = renamed(context.group.members.get(scan)!.coords, w.rename);
  const value = block.at(scan.operands[0]!, coords);
  const { dtype } = value;
  const store = (value: Expr): Stmt => ({ kind: "store", to, index: w.place, value });
  block.body.push(store(value));
  if (w.inside.length === 0) return { dtype, body: block.body };
  return { dtype, body: [store(identityOf(scan, dtype)), ...onlyIf(w.inside, block.body)] };
}

/**
 * The elements of an invocation scanned one after the other; the accumulator is what they come to.
 */
function scanOwn(scan: Tensor, name: string, dtype: Dtype, { lane, place }: Walk): Stmt[] {
  const value = inDtype(load(heldBy(name), dtype, place), sumDtype(scan.dtype));
  const take: Stmt = { kind: "accumulate", name, reducer: opRecord(scan.op).reducer!, value };
  const keep: Stmt = {
    kind: "store",
    to: madeBy(name),
    index: lane.at,
    value: ref(name, sumDtype(scan.dtype)),
  };
  return nest([lane], "unrolled", scanAttrs(scan).exclusive ? [keep, take] : [take, keep]);
}

const joins = { sum: "add", prod: "mul", max: "maximum", min: "minimum" } as const;

/** The stores of a lane, of what is scanned joined with what came before. */
function storeScanned(context: LoweringContext, w: Walk): Stmt[] {
  const block = openBlock(context);
  for (const t of runningOf(context)) {
    const name = accName(context, t);
    const reducer = opRecord(t.op).reducer as keyof typeof joins;
    const dtype = sumDtype(t.dtype);
    const made = load(madeBy(name), dtype, w.lane.at);
    const value = call(joins[reducer], dtype, ref(name, dtype), made);
    block.bind(t, t.dtype === dtype ? value : call("convert", t.dtype, value));
  }
  const stores = membersOf(context.group)
    .filter(([t, p]) => p.level === "full" && context.stored.has(t))
    .map(([t]) => storeMember(context, block, t, w.rename));
  return onlyIf(w.inside, [...block.body, ...stores]);
}
