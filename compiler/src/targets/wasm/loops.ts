/**
 * Loops of WebAssembly. A `simd` loop becomes a loop over vectors of four elements, several at a
 * time where that hides latency, and a loop over the rest one element at a time; its accumulators
 * get lanes of their own meanwhile. The rest runs with the same instructions, on lane 0 of
 * vectors: an element's bits then do not depend on where in a vector it stands, and a function has
 * one spelling. To count and branch takes as long as a short body, so that such bodies take
 * several vectors an iteration.
 */
import {
  addDim,
  type Dim,
  floorDiv,
  hasOp,
  isStatic,
  loopVar,
  maxOfDim,
  mulDim,
  opRecord,
  subDim,
} from "@kiln-ml/ir";
import type { Expr, Of, Stmt } from "../../kernel/kernel.ts";
import { bodyOf, exprsOf } from "../../kernel/parts.ts";
import { changedBy } from "../../kernel/uses.ts";
import { dimVaries, exprVaries, type Varying } from "../../kernel/varies.ts";
import { eachStmt } from "../../kernel/walk.ts";
import { indexText } from "../index-text.ts";
import { setValue } from "../scope.ts";
import { branchIf, type Code, get, i32Const, isCheap, loop, op, set, tee, when } from "./code.ts";
import { interiorOf } from "./interior.ts";
import { runsInLanes } from "./lanes.ts";
import { openLane } from "./language.ts";
import { closePartials, type LaneAcc, openPartials } from "./partial.ts";
import { freshLocal, laneAt, newLocal, type Printer } from "./printer.ts";
import { openRunning, printRunning, runs, scheduleBarrier } from "./running.ts";

type PrintAll = (p: Printer, body: readonly Stmt[]) => void;

/** Loops of at most this many iterations are written out if they say so. */
const mostRepetitions = 64;

/**
 * A loop by its kind and by what is known of it: lanes of one vector, vectors along memory,
 * written out, or counted. A loop within a vector is never one over vectors itself.
 */
export function printLoop(p: Printer, s: Of<"loop">, print: PrintAll): void {
  const extent = p.e.resolved(s.extent);
  const start = p.e.resolved(s.start ?? 0);
  if (s.loop === "vector" && extent === p.width && !p.lanes && runsInLanes(s, false)) {
    printVector(p, s, print);
    return;
  }
  if (s.loop === "simd" && !p.lanes && (s.step ?? 1) === 1 && runsInLanes(s, true)) {
    printSimd(p, s, start, extent, print);
    return;
  }
  const written = s.loop === "unrolled" || s.loop === "vector";
  if (written && isStatic(extent) && isStatic(start) && extent - start <= mostRepetitions) {
    for (let i = start; i < extent; i += s.step ?? 1) repeat(p, s, i, () => print(p, s.body));
    return;
  }
  printCounted(p, s, { from: indexText(p.e, start), extent, count: subDim(extent, start) }, () =>
    print(p, bodyOf(s)),
  );
}

/** One iteration with the loop variable standing for `at`, in the lines of the present block. */
export function repeat(p: Printer, s: Of<"loop">, at: Dim, print: () => void): void {
  p.e.inside(
    s,
    (scope) => {
      setValue(scope, s.name, at);
      print();
    },
    { inline: true },
  );
}

export interface Bounds {
  readonly from: Code;
  /** The first value that the variable no longer takes; `to` is the parameter of every function. */
  readonly extent: Dim | "to";
  /** The iterations, if the step is 1 and they are known. */
  readonly count?: Dim;
}

/** `print` in a loop that counts in a local, to which the loop's variable is bound. */
export function printCounted(p: Printer, s: Of<"loop">, bounds: Bounds, print: () => void): void {
  const { e } = p;
  const { from, extent, count } = bounds;
  const step = s.step ?? 1;
  const known = count !== undefined && isStatic(count);
  if (known && count <= 0) return;
  const end = extent === "to" ? get("to") : named(p, `${s.name}End`, indexText(e, extent));
  const local = freshLocal(p, s.name, "i32");
  const running = runs(s) && count !== undefined ? openRunning(p, s, local) : undefined;
  if (!running) e.line(set(local, from));
  const lines = e.inside(s, () => {
    e.bindName(s.name, get(local));
    print();
  });
  if (running) {
    p.running = undefined;
    printRunning(p, running, count!, end, lines);
    return;
  }
  printWhile(p, local, step, end, lines, known);
}

/**
 * The loop itself: counts after each iteration; asked before the first one unless it surely `runs`.
 */
function printWhile(
  p: Printer,
  local: string,
  step: number,
  end: Code,
  body: readonly Code[],
  runs: boolean,
): void {
  const next = tee(local, op("i32.add", get(local), i32Const(step)));
  const label = `${local}.loop`;
  const counted = loop(label, [...body, branchIf(label, op("i32.lt_s", next, end))]);
  p.e.line(runs ? counted : when(op("i32.lt_s", get(local), end), [counted]));
}

export const printFence = (p: Printer): void => {
  if (p.running) p.e.line(scheduleBarrier(p.running));
};

export const named = (p: Printer, wanted: string, value: Code): Code =>
  isCheap(value) ? value : newLocal(p, wanted, "i32", value);

/** A loop over the lanes of one vector: its statements once, with lanes. */
function printVector(p: Printer, s: Of<"loop">, print: PrintAll): void {
  repeat(p, s, laneAt(p), () => inLanes(p, () => print(p, s.body)));
}

/** Prints with an open lane: index expressions may then differ by it. */
export function inLanes(p: Printer, print: () => void): void {
  openLane(p.e);
  p.lanes = true;
  print();
  p.lanes = false;
}

/** How many vectors an iteration takes, and from how many places far apart. */
interface Group {
  readonly streams: number;
  /** Neighbours in each stream. */
  readonly vectors: number;
}

/** Loops of fewer iterations than this run along one stream. */
const leastStreamed = 256;

/**
 * Several vectors where accumulators would wait for each other, or counting would take as long as
 * the body. A long loop that does little but load is bound by memory, and waits for several lines
 * at once if it runs along several parts of the range.
 */
function groupOf(p: Printer, s: Of<"loop">, accs: number, count: Dim): Group {
  const most = maxOfDim(count);
  const size = sizeOf(p, s);
  let vectors = size <= (accs === 0 ? 4 : 8) ? 4 : size <= (accs === 0 ? 8 : 24) ? 2 : 1;
  if (accs > 2 || (accs === 0 && most < 64)) vectors = 1;
  if (size <= 8 && accs === 1 && most >= leastStreamed) return { streams: 4, vectors: 2 };
  while (vectors > 1 && most < p.width * vectors) vectors /= 2;
  return { streams: 1, vectors };
}

/**
 * Instructions of an iteration, roughly; what is the same in all of them is taken out of the loop.
 */
function sizeOf(p: Printer, s: Of<"loop">): number {
  const changes = changedBy(s, p.e.facts);
  const bound = new Set<string>();
  const symbols = new Set([s.name]);
  const by: Varying = { symbols, name: (name) => bound.has(name) || changes.has(name) };
  let size = 0;
  const seen = new Map<Expr, boolean>();
  const cost = (x: Expr): boolean => {
    const known = seen.get(x);
    if (known !== undefined) return known;
    const differs = x.kind === "call" ? x.args.map(cost).includes(true) : exprVaries(x, by);
    seen.set(x, differs);
    if (differs && x.kind === "load") size += 1;
    if (differs && x.kind === "call") size += hasOp(x.op) && opRecord(x.op).costly ? 20 : 1;
    return differs;
  };
  eachStmt(s.body, (t) => {
    size += t.kind === "loop" ? 100 : 0;
    if (t.kind === "let" || t.kind === "acc") bound.add(t.name);
    if (t.kind === "loop" || (t.kind === "letIndex" && dimVaries(t.value, by))) symbols.add(t.name);
    exprsOf(t).forEach(cost);
  });
  return size;
}

/**
 * A loop in lanes: in its interior without the guards that hold there, at its ends one iteration at
 * a time.
 */
function printSimd(p: Printer, s: Of<"loop">, start: Dim, extent: Dim, print: PrintAll): void {
  const interior = interiorOf(p.e, s, start, extent);
  if (!interior) {
    printRange(p, s, start, extent, print);
    return;
  }
  const { from, to, holds } = interior;
  const singly = (first: Dim, end: Dim): void => {
    const count = subDim(end, first);
    printCounted(p, s, { from: indexText(p.e, first), extent: end, count }, () => print(p, s.body));
  };
  singly(start, from);
  for (const c of holds) p.e.held.add(c);
  printRange(p, s, from, to, print);
  for (const c of holds) p.e.held.delete(c);
  singly(to, extent);
}

/**
 * Groups of vectors, then single vectors, then elements. The partial accumulators of all streams
 * are joined before the last elements, so that the order of a sum depends on its length alone.
 */
function printRange(p: Printer, s: Of<"loop">, start: Dim, extent: Dim, print: PrintAll): void {
  const count = subDim(extent, start);
  const accs = outerAccs(p, s);
  if (maxOfDim(count) < p.width) {
    printRest(p, s, start, extent, !accs.length, print);
    return;
  }
  const group = groupOf(p, s, accs.length, count);
  const each = group.streams * group.vectors;
  // Whole groups of vectors, then the vectors that are left, then the elements.
  const groups = floorDiv(count, p.width * each);
  const length = mulDim(groups, p.width * group.vectors);
  const lanes = accs.map((name) => openPartials(p, name, group, length));
  printVectors(p, s, { start, first: 0, count: groups, length, ...group }, lanes, print);
  if (each > 1) {
    const [first, all] = [mulDim(groups, each), floorDiv(count, p.width)];
    const rest = { start, first, count: all, length: 0, streams: 1, vectors: 1 };
    printVectors(p, s, rest, lanes, print);
  }
  for (const partials of lanes) closePartials(p, partials);
  const done = mulDim(floorDiv(count, p.width), p.width);
  printRest(p, s, addDim(start, done), extent, !accs.length, print);
}

/**
 * Fewer elements than a vector has: one by one, or as a vector of which some lanes are stored.
 * `alone`: no accumulator is filled that the loop does not declare.
 */
function printRest(
  p: Printer,
  s: Of<"loop">,
  start: Dim,
  extent: Dim,
  alone: boolean,
  print: PrintAll,
): void {
  const count = subDim(extent, start);
  if (alone && p.past?.(p, s, start, count, print)) return;
  printCounted(p, s, { from: indexText(p.e, start), extent, count }, () => print(p, s.body));
}

/** Accumulators that the loop fills and does not declare. */
function outerAccs(p: Printer, s: Of<"loop">): string[] {
  const inner = new Set<string>();
  eachStmt(s.body, (t) => {
    if (t.kind === "acc") inner.add(t.name);
  });
  return [...changedBy(s, p.e.facts)].filter((n) => p.e.facts.accs.has(n) && !inner.has(n));
}

interface Vectors extends Group {
  readonly start: Dim;
  /** The first vector or group of them, and the one to stop before. */
  readonly first: Dim;
  readonly count: Dim;
  /** Elements of a stream. */
  readonly length: Dim;
}

function printVectors(
  p: Printer,
  s: Of<"loop">,
  { start, first, count, length, streams, vectors }: Vectors,
  lanes: readonly (readonly LaneAcc[])[],
  print: PrintAll,
): void {
  const { e } = p;
  const left = subDim(count, first);
  if (isStatic(left) && left <= 0) return;
  const local = freshLocal(p, `${s.name}4`, "i32");
  const end = named(p, `${s.name}4End`, indexText(e, count));
  e.line(set(local, indexText(e, first)));
  const q = loopVar(`=${local}`, count);
  const lines = e.inside(s, () => {
    e.bindName(`=${local}`, get(local));
    for (let u = 0; u < streams * vectors; u++) {
      const [stream, vector] = [Math.floor(u / vectors), u % vectors];
      const within = addDim(mulDim(q, p.width * vectors), addDim(p.width * vector, laneAt(p)));
      const element = addDim(mulDim(length, stream), within);
      repeat(p, s, addDim(start, element), () => {
        for (const partials of lanes)
          fillIn(p, partials[Math.floor((u * partials.length) / (streams * vectors))]!);
        p.within = vector > 0;
        inLanes(p, () => print(p, s.body));
      });
    }
  });
  p.within = false;
  p.partials.clear();
  printWhile(p, local, 1, end, lines, isStatic(left));
}

/** Until the next call, what is accumulated goes there. */
function fillIn(p: Printer, to: LaneAcc): void {
  p.e.bindName(to.name, to.values[0]!);
  p.partials.set(to.name, to);
}
