/**
 * The loops of map and rows groups on one thread: outer loops around inner ones, neighbours merged
 * where memory is contiguous.
 *
 * Why this shape: loop overhead and cache lines bound it. Merged loops have fewer bounds to check;
 * a large map that computes little runs four elements an iteration, which halves its time, since
 * an engine checks more about an iteration than about an element. A reduction down the rows
 * (column sums) keeps the sums of two cache lines of columns, so that every line that is read is
 * used whole.
 */
import { addDim, type Dim, maxOfDim, modDim, offsetOf, opRecord } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { dimsIn, walkStmts } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { collapse, nest, renamedAt, totalOf } from "../../lower/loops.ts";
import { declareAcc, emitRoot, emitRow, rootReduces } from "../../lower/rows.ts";
import { type ColumnBlocks, readsByColumn, sumColumns } from "../columns.ts";

/** Inner loops of at most this many iterations are written out. */
const unrollLimit = 9;

/** Elements an iteration of a large map with fewer ops than this has. */
const [repeated, cheapOps] = [4, 12];
/** Elements from which on a map is large. */
const largeMap = 4096;

/** Two cache lines of f32 at once, in double, as the scalar accumulators of this target are. */
const columnBlocks: ColumnBlocks = { width: 32, loop: "serial", double: true };

export function serialRows(context: LoweringContext): Stmt[] {
  const { group } = context;
  const row = (rename: Rename, inner: readonly Loop[]): Stmt[] => {
    const block = openBlock(context);
    emitRow(context, block, {
      rename,
      inner: (body) => nest(inner, isSmall(inner) ? "unrolled" : "serial", body),
      ...(isSmall(inner) ? {} : { keep: keepIn(inner) }),
      once: (body) => [...body],
    });
    return block.body;
  };
  const inner = collapse(group.inner, new Map(), (r) => dimsIn(row(r, [])));
  const outer = collapse(group.outer, inner.rename, (r) => dimsIn(row(r, [])));
  if (
    !isSmall(inner.loops) &&
    readsByColumn(context, outer.loops, inner.loops, row(outer.rename, []))
  )
    return sumColumns(context, outer.loops, inner.loops, outer.rename, columnBlocks);
  const last = outer.loops.at(-1);
  if (
    last &&
    group.inner.length === 0 &&
    rootReduces(context).length === 0 &&
    pays(outer.loops, row(outer.rename, []))
  )
    return nest(outer.loops.slice(0, -1), "parallel", [
      inFours(last, outer.rename, (rename) => row(rename, [])),
    ]);
  const body = row(outer.rename, inner.loops);
  const root = openBlock(context);
  root.body.push(...rootReduces(context).map((r) => declareAcc(context, r)));
  root.body.push(...nest(outer.loops, "parallel", body));
  emitRoot(context, root);
  return root.body;
}

/**
 * A map four elements an iteration, which halves the time where little is computed: an engine
 * checks more about an iteration than about an element.
 */
function inFours(last: Loop, rename: Rename, body: (rename: Rename) => Stmt[]): Stmt {
  const within = makeLoop("e", repeated);
  const by = renamedAt(rename, new Map([[last.name, addDim(last.at, within.at)]]));
  return {
    kind: "loop",
    name: last.name,
    extent: last.extent,
    step: repeated,
    loop: "parallel",
    body: nest([within], "unrolled", body(by)),
  };
}

/** True if the map is large, computes little, and every access walks memory by a plain stride. */
function pays(outer: readonly Loop[], body: readonly Stmt[]): boolean {
  const last = outer.at(-1)!;
  const total = outer.reduce((n, l) => n * maxOfDim(l.extent), 1);
  if (total < largeMap || modDim(last.extent, repeated) !== 0) return false;
  let ops = 0;
  let plain = body.every((s) => s.kind === "store");
  const walk = (index: Dim) => {
    plain &&= strideOf(index, last.name) !== undefined;
  };
  walkStmts(body, {
    expr: (e) => {
      if (e.kind === "call") ops += opRecord(e.op).costly ? cheapOps : 1;
      if (e.kind === "test" || (e.kind === "load" && e.guard.length > 0)) plain = false;
    },
    dim: walk,
  });
  return plain && ops < cheapOps;
}

/** One element an iteration, in the order of the loops. */
const keepIn = (inner: readonly Loop[]) => ({
  index: offsetOf(
    inner.map((l) => l.extent),
    inner.map((l) => l.at),
  ),
  size: totalOf(inner),
  double: true,
});

const isSmall = (loops: readonly Loop[]): boolean =>
  loops.reduce((n, l) => n * maxOfDim(l.extent), 1) <= unrollLimit;
