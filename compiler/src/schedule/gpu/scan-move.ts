/**
 * The move that gives a line of a scan to a workgroup, tile by tile. An invocation takes a few
 * neighbouring elements, scans them by themselves, learns from the others what comes before them
 * (`prefix`), and then runs its steps with that. Sums and products are joined in another order.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  floorDiv,
  keyOfDim,
  maxOfDim,
  minOfDim,
  modDim,
  mulDim,
  type Reducer,
  subDim,
  substitute,
} from "@kiln-ml/ir";
import type { Loop as GroupLoop } from "../../fuse/group.ts";
import { isBelow, onlyIf } from "../../kernel/conditions.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../../kernel/kernel.ts";
import { mapStmts, substituteIn } from "../../kernel/map.ts";
import { accessesIn } from "../../kernel/walk.ts";
import { startOf } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { inDtype, sumDtype } from "../../lower/value.ts";
import { changes, mentions } from "../accumulator-moves.ts";
import { withoutUnused } from "../keep.ts";
import { count, freshLoop, refuse, variableOf } from "../loop-moves.ts";
import { once } from "./gpu.ts";
import { checkMemory, checkStart, loopIn, spread } from "./spread.ts";

type Loop = Of<"loop">;

/** Elements that an invocation takes of a tile: one access where memory lines up. */
const each = 4;

/** What joins two parts of a line. */
const joins: Partial<Record<Reducer, string>> = {
  sum: "add",
  prod: "mul",
  max: "maximum",
  min: "minimum",
};

/**
 * A workgroup of `size` for each iteration of a loop; its invocations share the serial loop in it.
 * With `held` all of a line is on its way before the first element is needed.
 */
export function scan(
  body: readonly Stmt[],
  row: string,
  name: string,
  size: string,
  held?: string,
): readonly Stmt[] {
  return spread(body, row, (l) => {
    const axis = loopIn(l.body, name);
    if (axis.loop !== "serial") refuse(`${name} is ${axis.loop}, not serial`);
    checkMemory(l.body);
    checkStores(axis);
    const t = tilesOf(body, axis, count(size), held !== undefined);
    const at = l.body.indexOf(axis);
    const step = substituteIn(axis.body, new Map([[axis.name, t.at]]));
    const running = runningIn(l.body.slice(0, at), step, l.body.slice(at + 1));
    // What came before a tile, and after the last one the whole.
    const carries = new Map(running.map((r) => [r.acc.name, r.carry]));
    const beside = mapStmts(l.body, {
      expr: (e) => (e.kind === "ref" ? { ...e, name: carries.get(e.name) ?? e.name } : e),
      stmt: (s) => (s.kind === "acc" ? { ...s, name: carries.get(s.name) ?? s.name } : s),
    });
    const line: Stmt[] = [
      { kind: "letInvocation", name: t.lid.name },
      ...beside.slice(0, at),
      ...running.flatMap((r) => [
        own(r.held, r.value, t.held),
        ...(r.read ? [own(r.made, r.acc, each)] : []),
      ]),
      ...walked(t, takenIn(t, step, running), scannedIn(t, step, running)),
      ...(beside.length > at + 1 ? once(beside.slice(at + 1)) : []),
    ];
    return [{ ...l, loop: "workgroup", body: line }];
  });
}

const own = (name: string, { dtype }: Expr | Of<"acc">, size: Dim): Stmt => ({
  kind: "array",
  name,
  dtype,
  size,
  space: "private",
  width: each,
});

/**
 * Steps may be taken in any order, and in parts: each writes elements of its own, and reads none
 * that it has written.
 */
function checkStores(axis: Loop): void {
  const next = new Map([[axis.name, addDim(variableOf(axis), 1)]]);
  const stores = new Map<string, Dim>();
  for (const s of axis.body) {
    for (const [name, how] of accessesIn([s]))
      if (how !== "write" && stores.has(name)) refuse(`${name} is read after it is written`);
    if (s.kind !== "store") continue;
    const far = subDim(substitute(s.index, next), s.index);
    const known = stores.get(s.to) ?? s.index;
    if ((minOfDim(far) <= 0 && maxOfDim(far) >= 0) || keyOfDim(known) !== keyOfDim(s.index))
      refuse(`several steps may write an element of ${s.to}`);
    stores.set(s.to, s.index);
  }
}

/** How the invocations of a workgroup walk a line. */
interface Tiles {
  readonly tile: GroupLoop;
  readonly lid: GroupLoop;
  readonly lane: GroupLoop;
  /** Where on the line a lane is, and the condition that it is on it, if any. */
  readonly at: Dim;
  readonly inside: Of<"if">["when"];
  /** Elements that an invocation holds, those of a tile or of all, and which is a lane's. */
  readonly held: Dim;
  readonly place: Dim;
}

function tilesOf(body: readonly Stmt[], { extent }: Loop, size: number, all: boolean): Tiles {
  const lid = freshLoop(body, "lid", size);
  const tile = freshLoop(body, "tile", ceilDiv(extent, size * each));
  const lane = freshLoop(body, "lane", each);
  const four = addDim(mulDim(tile.at, size), lid.at);
  const at = addDim(mulDim(four, each), lane.at);
  const whole = modDim(extent, size * each) === 0;
  // Lanes that end together stay one access.
  const fours = modDim(extent, each) === 0;
  const end = fours ? isBelow(four, floorDiv(extent, each)) : isBelow(at, extent);
  if (all && maxOfDim(extent) === Infinity) refuse("a line may be of any length");
  const [held, place] = all
    ? [mulDim(tile.extent, each), addDim(mulDim(tile.at, each), lane.at)]
    : [each, lane.at];
  return { tile, lid, lane, at, inside: whole ? [] : [end], held, place };
}

/** An accumulator that runs along a line. */
interface Running {
  readonly acc: Of<"acc">;
  readonly take: Of<"accumulate">;
  /** What it takes in; of halves, before they are converted. */
  readonly value: Expr;
  /** Whether steps read it, and whether they do so before that. */
  readonly read: boolean;
  readonly exclusive: boolean;
  /** What came before a tile; an invocation's elements, and what they come to. */
  readonly carry: string;
  readonly held: string;
  readonly made: string;
}

function runningIn(
  head: readonly Stmt[],
  step: readonly Stmt[],
  tail: readonly Stmt[],
): readonly Running[] {
  for (const s of head)
    if (!isValue(s) && s.kind !== "acc") refuse(`a ${s.kind} stands before the line`);
  const running = step.flatMap((s, i): Running[] => {
    if (isValue(s) || s.kind === "store") return [];
    if (s.kind !== "accumulate") return refuse(`a ${s.kind} stands on the line`);
    const { name } = s;
    const acc = head.find((a): a is Of<"acc"> => a.kind === "acc" && a.name === name);
    checkStart(name, acc, s.reducer);
    if (!acc || !joins[s.reducer]) return refuse(`parts of ${name} are not joined`);
    const [before, after] = [step.slice(0, i), step.slice(i + 1)];
    if ([...before, ...after, ...tail].some((t) => changes(t, name)))
      refuse(`${name} is changed elsewhere`);
    const exclusive = before.some((t) => mentions(t, name));
    const read = exclusive || after.some((t) => mentions(t, name));
    if (exclusive && after.some((t) => mentions(t, name))) refuse(`${name} is read on both sides`);
    const value = boundTo(halfOf(s.value, acc), before);
    const [carry, held, made] = [`${name}Carry`, `${name}Held`, `${name}Made`];
    return [{ acc, take: s, value, read, exclusive, carry, held, made }];
  });
  return running.length > 0 ? running : refuse("nothing runs along the line");
}

/** A half that is converted where it is taken in. */
function halfOf(e: Expr, { dtype }: Of<"acc">): Expr {
  const [half] = e.kind === "call" && e.op === "convert" ? e.args : [];
  return half && half.dtype !== dtype && sumDtype(half.dtype) === dtype ? half : e;
}

/** What a name is bound to. */
function boundTo(e: Expr, before: readonly Stmt[]): Expr {
  const bound = before.find((s) => s.kind === "let" && e.kind === "ref" && s.name === e.name);
  return bound?.kind === "let" ? bound.value : e;
}

const isValue = (s: Stmt): boolean =>
  s.kind === "let" || s.kind === "letIndex" || s.kind === "letDynamic";

/** Lanes keep what they take in, or what changes nothing beyond the end of a line. */
function takenIn(t: Tiles, step: readonly Stmt[], running: readonly Running[]): Stmt[] {
  const hold = ({ held: to }: Running, value: Expr): Stmt => ({
    kind: "store",
    to,
    index: t.place,
    value,
  });
  const none = running.map((r) =>
    hold(r, constant(r.value.dtype, startOf(r.take.reducer, r.value.dtype))),
  );
  const kept = step.flatMap((s): Stmt[] => {
    const r = running.find(({ take }) => take === s);
    return r ? [hold(r, r.value)] : isValue(s) ? [s] : [];
  });
  const taken = withoutUnused(kept);
  for (const { acc } of running)
    if (taken.some((s) => mentions(s, acc.name))) refuse(`${acc.name} is taken in by a step`);
  return [...(t.inside.length > 0 ? none : []), ...onlyIf(t.inside, taken)];
}

/** An invocation's elements are scanned, then its steps run with what came before. */
function scannedIn(t: Tiles, step: readonly Stmt[], running: readonly Running[]): Stmt[] {
  const sofar = new Map(
    running.map(({ acc: { name, dtype }, take, made }) => {
      const own = load(made, dtype, t.lane.at);
      return [name, call(joins[take.reducer]!, dtype, ref(name, dtype), own)];
    }),
  );
  const steps = mapStmts(
    step.filter((s) => s.kind !== "accumulate"),
    { expr: (e) => (e.kind === "ref" && sofar.get(e.name)) || e },
  );
  return [
    ...running.map(({ acc }) => acc),
    ...running.flatMap((r) => nest([t.lane], "unrolled", ownScan(t, r))),
    {
      kind: "prefix",
      names: running.map((r) => r.acc.name),
      carries: running.map((r) => r.carry),
      reducers: running.map((r) => r.take.reducer),
    },
    ...nest([t.lane], "vector", onlyIf(t.inside, withoutUnused(steps))),
  ];
}

/** An element of an invocation's own is taken in, and kept what that comes to. */
function ownScan(t: Tiles, { acc: { name, dtype }, take, value, ...r }: Running): Stmt[] {
  const next: Stmt = { ...take, value: inDtype(load(r.held, value.dtype, t.place), dtype) };
  const keep: Stmt = { kind: "store", to: r.made, index: t.lane.at, value: ref(name, dtype) };
  if (!r.read) return [next];
  return r.exclusive ? [keep, next] : [next, keep];
}

/** Tile by tile; where all are held, all are taken first. */
function walked(t: Tiles, taken: readonly Stmt[], scanned: readonly Stmt[]): Stmt[] {
  const take = nest([t.lane], "vector", taken);
  if (t.held === each) return nest([t.tile], "serial", [...take, ...scanned]);
  return [...nest([t.tile], "unrolled", take), ...nest([t.tile], "unrolled", scanned)];
}
