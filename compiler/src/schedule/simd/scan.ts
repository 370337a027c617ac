/**
 * The loops of scan groups for a CPU with lanes and threads. Across memory, blocks of neighbouring
 * lines with lanes along memory; along a contiguous axis, four lines at a time, one in each lane.
 * Long sums are taken in parts, so that f32 is enough to keep them. Why this shape: a step waits
 * for the one before it, so that the lanes must be independent lines. Along a contiguous axis a
 * vector load becomes four scalar ones for it.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  type Dtype,
  maxOfDim,
  modDim,
  mulDim,
  negDim,
  opRecord,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { call, ref } from "../../kernel/expr.ts";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { dimsIn } from "../../kernel/walk.ts";
import { identityOf, type LoweringContext, openBlock } from "../../lower/context.ts";
import { collapse, decode, nest, renamedAt, totalOf } from "../../lower/loops.ts";
import { accName, declareAcc } from "../../lower/rows.ts";
import { emitAfter, emitStep, lineOf, runningOf } from "../../lower/scans.ts";
import { inDtype, sumDtype } from "../../lower/value.ts";
import type { ColumnBlocks } from "../columns.ts";
import { compensated } from "../compensate.ts";
import { inParts, scanColumns, scansByColumn } from "../scan-columns.ts";
import { addToTotal, declareRest } from "./sums.ts";

/** Loops of at most this many iterations are written out. */
const unrollLimit = 16;
/** Terms of a sum that are added up before their sum is added to the total. */
const sumBlock = 64;
const lanes = 4;

const columnBlocks: ColumnBlocks = { width: 512, loop: "simd", double: false, rows: 64 };

export function simdScan(context: LoweringContext): Stmt[] {
  const [inner] = context.group.inner as [Loop];
  const plain = (rename: Rename) => lineOf(context, rename, (step) => [...step]);
  const outer = collapse(context.group.outer, new Map(), (r) => dimsIn(plain(r)));
  if (scansByColumn(context, outer.loops, inner, plain(outer.rename)))
    return scanColumns(context, outer.loops, inner, outer.rename, columnBlocks);
  const small = maxOfDim(inner.extent) <= unrollLimit;
  const along = (step: readonly Stmt[]) => nest([inner], small ? "unrolled" : "serial", step);
  const line = isLong(context, inner)
    ? lineInParts(context, inner, outer.rename)
    : lineOf(context, outer.rename, along);
  return inFours(outer.loops, line);
}

const isSum = (t: Tensor): boolean =>
  opRecord(t.op).reducer === "sum" && compensated(t.dtype) !== undefined;

const isLong = (context: LoweringContext, inner: Loop): boolean =>
  maxOfDim(inner.extent) > sumBlock && runningOf(context).some(isSum);

/** The lines four at a time, and those that are left one at a time. */
function inFours(outer: readonly Loop[], line: readonly Stmt[]): Stmt[] {
  const total = totalOf(outer);
  const block = makeLoop("four", ceilDiv(total, lanes));
  const first = mulDim(block.at, lanes);
  const left = subDim(total, first);
  const at = (l: Dim): Stmt[] => [...decode(outer, addDim(first, l)), ...line];
  const lane = makeLoop("lane", lanes);
  const rest = makeLoop("rest", lanes - 1);
  const four = nest([lane], "vector", at(lane.at));
  if (modDim(total, lanes) === 0) return nest([block], "parallel", four);
  const some = nest([{ ...rest, extent: left }], "serial", at(rest.at));
  if (maxOfDim(total) < lanes) return nest([block], "parallel", some);
  const whole: Condition = { value: subDim(left, lanes), test: "nonnegative" };
  const part: Condition = { value: subDim(negDim(left), 1 - lanes), test: "nonnegative" };
  return nest([block], "parallel", [
    { kind: "if", when: [whole], then: four },
    { kind: "if", when: [part], then: some },
  ]);
}

/**
 * A line whose sums start anew in each part; what the parts before came to is added where a sum is
 * used.
 */
function lineInParts(context: LoweringContext, inner: Loop, rename: Rename): Stmt[] {
  const running = runningOf(context);
  const sums = running.filter(isSum);
  const before = (r: Tensor): string => `${accName(context, r)}Before`;
  const kept = (r: Tensor): Dtype => (isSum(r) ? sumDtype(r.dtype) : r.dtype);
  const declared = (r: Tensor): Of<"acc"> => {
    return { ...declareAcc(context, r), dtype: kept(r), init: identityOf(r, kept(r)) };
  };
  const block = openBlock(context);
  for (const r of running)
    block.body.push(
      ...(isSum(r) ? [{ ...declared(r), name: before(r) }, declareRest(before(r))] : [declared(r)]),
    );
  const step = block.inner();
  const parts = inParts(inner, sumBlock, (from, within) => {
    emitStep(context, step, renamedAt(rename, new Map([[inner.name, from]])), (r) => {
      const own = ref(accName(context, r), kept(r));
      return isSum(r) ? inDtype(call("add", kept(r), ref(before(r), kept(r)), own), r.dtype) : own;
    });
    return [
      ...sums.map(declared),
      ...nest([within], "serial", step.body),
      ...sums.flatMap((r) => addToTotal(before(r), ref(accName(context, r), kept(r)))),
    ];
  });
  block.body.push(...parts);
  emitAfter(context, block, rename, (r) =>
    inDtype(ref(isSum(r) ? before(r) : accName(context, r), kept(r)), r.dtype),
  );
  return block.body;
}
