/**
 * Scan groups on a GPU. A line is one invocation's, which walks the axis in order, where lines are short or lie side by side in
 * memory; a long line is a workgroup's: tile by tile, each invocation first takes in a few neighbouring elements, learns from the
 * others what comes before them, and then steps through them.
 */
import { addDim, ceilDiv, type Dim, mulDim, opRecord, subDim, type Tensor } from "@kiln-ml/ir";
import { isScan } from "../access.ts";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { collapse, decode, nest, type Rename, totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { accName, declareAcc } from "../lower/rows.ts";
import { emitAfter, emitStep, emitTake, lineOf, runningOf } from "../lower/scans.ts";
import { dimsIn } from "../lower/walk.ts";
import { groupSize, once, perInvocation } from "./gpu.ts";
import { strideOf } from "./stride.ts";

const size = 64;
/** Shorter lines do not pay for what a workgroup says to itself. */
const leastLine = 128;
/** So many lines side by side keep the device busy, and are read together. */
const manyLines = 4096;

export function gpuScan(job: Job): Scheduled {
  const line = (rename: Rename, inner = job.group.inner) =>
    lineOf(job, rename, (step) => nest(inner, "serial", step));
  const outer = collapse(job.group.outer, new Map(), (r) => dimsIn(line(r, [])));
  const [inner] = job.group.inner as [Loop];
  const length = extentGuess([inner]);
  const aside = !dimsIn(line(outer.rename, [])).some((d) => isAlong(d, inner));
  const many = aside && extentGuess(outer.loops) >= manyLines;
  if (length >= leastLine && !many && inTiles(job))
    return tiles(job, inner, outer.loops, outer.rename, length);
  return { body: perInvocation(outer.loops, size, line(outer.rename)), workgroupSize: size };
}

const isAlong = (d: Dim, loop: Loop): boolean => {
  const stride = strideOf(d, loop.name);
  return stride === 1 || stride === -1;
};

const joined = new Set(["sum", "prod", "max", "min"]);

/** True if every accumulator is a scan's that needs no other's, so that parts of a line can be taken in before it is walked. */
function inTiles(job: Job): boolean {
  const running = runningOf(job);
  const without = new Set<Tensor>();
  const needsOther = (t: Tensor): boolean => {
    if (without.has(t)) return false;
    const needs = running.includes(t) || (!job.outside(t) && t.operands.some(needsOther));
    if (!needs) without.add(t);
    return needs;
  };
  return running.every(
    (t) =>
      isScan(t) && joined.has(opRecord(t.op).reducer!) && !t.operands.some((o) => needsOther(o)),
  );
}

/** Elements an invocation takes of a tile. */
const each = 4;

/** One workgroup a line. */
function tiles(
  job: Job,
  inner: Loop,
  outer: readonly Loop[],
  rename: Rename,
  length: number,
): Scheduled {
  const invocations = length >= groupSize * each ? groupSize : size;
  const group = makeLoop("line", totalOf(outer));
  const tile = makeLoop("tile", ceilDiv(inner.extent, invocations * each));
  const lid = makeLoop("lid", invocations);
  const element = makeLoop("element", each);
  const at = addDim(addDim(mulDim(tile.at, invocations * each), mulDim(lid.at, each)), element.at);
  const along = (body: readonly Stmt[]): Stmt[] =>
    nest([element], "unrolled", [
      {
        kind: "if",
        when: [{ value: subDim(subDim(inner.extent, 1), at), test: "nonnegative" }],
        then: [{ kind: "letIndex", name: inner.name, value: at }, ...body],
      },
    ]);
  const block = openBlock(job);
  const running = runningOf(job);
  const names = running.map((t) => accName(job, t));
  const carries = names.map((name) => `${name}Carry`);
  block.body.push(...running.map((t, i) => ({ ...declareAcc(job, t), name: carries[i]! })));
  const [taken, stepped] = [block.inner(), block.inner()];
  emitTake(job, taken, rename);
  emitStep(job, stepped, rename);
  const reducers = running.map((t) => opRecord(t.op).reducer!);
  block.body.push(
    ...nest([tile], "serial", [
      ...running.map((t) => declareAcc(job, t)),
      ...along(taken.body),
      { kind: "prefix", names, carries, reducers },
      ...along(stepped.body),
    ]),
  );
  const after = openBlock(job);
  emitAfter(job, after, rename);
  if (after.body.length > 0) block.body.push(...once(after.body));
  const body = nest([group], "workgroup", [
    { kind: "letInvocation", name: lid.name },
    ...decode(outer, group.at),
    ...block.body,
  ]);
  return { body, workgroupSize: invocations };
}
