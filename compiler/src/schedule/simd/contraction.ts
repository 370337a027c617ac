/**
 * A contraction on a CPU with vectors and threads: which operand's lines are rows and which are
 * columns, and which of five ways computes it. Columns are the direction in which the results lie
 * in memory, since a vector holds four of them. No sum depends on how work items are shared out
 * among threads: extents alone say which blocks add up to it.
 *
 * The ways, in the order in which they are asked; each refuses what the next does better:
 * - window: a depthwise convolution has one channel of depth, so that packing pays for nothing;
 * - blocks: with up to four rows and weights of few bits, scales are applied once a block;
 * - dot: with up to four rows an element is used at most four times, and bytes bound the kernel;
 * - split: a small result of great depth has no tiles to share out, so that depth is (split-K);
 * - packed: all others. Registers bound the inner loop, L2 the blocks around it.
 */
import { type Dim, maxOfDim, minOfDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { load } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { dimsIn } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { collapse, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { blockPhases } from "./blocks.ts";
import { dotPhases } from "./dot.ts";
import { type Lines, linesOf } from "./lines.ts";
import { type Operand, operandsOf, plain } from "./operand.ts";
import { packedPhases } from "./packed.ts";
import { simdRows } from "./rows.ts";
import { splitPhases } from "./split.ts";
import { results } from "./tile.ts";
import { windowPhases } from "./window.ts";
import { dtypeOf } from "./work-items.ts";

export function simdContraction(context: LoweringContext): Scheduled {
  const body = phasesOf(context);
  if (body) return { body, workgroupSize: 1 };
  return { body: [], workgroupSize: 1, apart: context.group.siblings.map((s) => s.anchor) };
}

/** Undefined where no loops compute the products of a group together. */
function phasesOf(context: LoweringContext): Stmt[] | undefined {
  const operands = operandsOf(context);
  const sides = orient(context, operands);
  const before = [operands.a.before, operands.b.before];
  if (context.group.siblings.length > 0)
    return (blockPhases(context, sides) ?? dotPhases(context, operands, sides))?.flat();
  const own = windowPhases(context, sides) ?? [
    ...before,
    ...(blockPhases(context, sides) ??
      dotPhases(context, operands, sides) ??
      splitPhases(context, operands, sides) ??
      packedPhases(context, operands, sides)),
  ];
  // A bias gradient has the same bits for a batch of 8 as for one of any length.
  const sums = context.group.operandReductions.map(({ group }) =>
    simdRows({ ...context, group }, true),
  );
  return [...sums.map((s) => s.body), ...own]
    .filter((phase) => phase.length > 0)
    .flatMap((phase, i) => (i === 0 ? phase : [{ kind: "barrier" }, ...phase]));
}

/** Rows and columns of the result. */
export interface Sides {
  readonly rows: Lines;
  readonly columns: Lines;
  /** The columns of further products of the same rows. */
  readonly others: readonly Lines[];
}

/** Columns are the lines along which most stores step by one element; b's where neither's do. */
function orient(context: LoweringContext, operands: { a: Operand; b: Operand }): Sides {
  const { m, n } = context.group.contraction!;
  const { siblings } = context.group;
  const sum = Array.from({ length: 1 + siblings.length }, () => load("sums", dtypeOf(context), 0));
  const indices = (rename: Rename): Dim[] => dimsIn(results(context, rename, ...sum));
  const merged = { a: collapse(m, new Map(), indices), b: collapse(n, new Map(), indices) };
  const of = (which: "a" | "b", spread: boolean): Lines =>
    linesOf(which, which === "a" ? m : n, operands[which], merged[which], spread);
  const stores = (which: "a" | "b"): number => {
    const lines = of(which, true);
    const { at, name } = makeLoop("q", lines.total);
    if (at === 0) return 0;
    return results(context, lines.at(at), ...sum).filter(
      (s) => s.kind === "store" && strideOf(s.index, name) === 1,
    ).length;
  };
  if (siblings.length > 0) {
    const columns = of("b", true);
    const others = siblings.map(({ b }) => ({ ...columns, value: plain(b).value }));
    return { rows: of("a", false), columns, others };
  }
  const [a, b] = [stores("a"), stores("b")];
  const narrow = a === b && maxOfDim(totalOf(n)) < 4 && minOfDim(totalOf(m)) >= 4;
  return a > b || narrow
    ? { rows: of("b", false), columns: of("a", true), others: [] }
    : { rows: of("a", false), columns: of("b", true), others: [] };
}
