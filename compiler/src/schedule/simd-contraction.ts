/**
 * A contraction on a CPU with vectors and threads: which operand's lines are rows and which are columns, and in which way it
 * is computed: window sums, dot products, or packed panels, split along depth or not. Columns are the direction in which the results lie
 * in memory. No sum depends on how the units are shared out among threads.
 */
import { type Dim, maxOfDim, minOfDim } from "@kiln-ml/ir";
import { makeLoop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import type { Job } from "../lower/job.ts";
import { collapse, type Rename, totalOf } from "../lower/loops.ts";
import { load } from "../lower/value.ts";
import { dimsIn } from "../lower/walk.ts";
import { dotPhases } from "./simd-dot.ts";
import { type Lines, linesOf } from "./simd-lines.ts";
import { type Operand, operandsOf } from "./simd-operand.ts";
import { packedPhases } from "./simd-packed.ts";
import { sidePhases } from "./simd-side.ts";
import { splitPhases } from "./simd-split.ts";
import { results } from "./simd-tile.ts";
import { dtypeOf } from "./simd-units.ts";
import { windowPhases } from "./simd-window.ts";
import { strideOf } from "./stride.ts";

export function simdContraction(job: Job): Stmt[] {
  const operands = operandsOf(job);
  const sides = orient(job, operands);
  const before = [operands.a.before, operands.b.before];
  const own = windowPhases(job, sides) ?? [
    ...before,
    ...(dotPhases(job, operands, sides) ??
      splitPhases(job, operands, sides) ??
      packedPhases(job, operands, sides)),
  ];
  return [...sidePhases(job, operands), ...own]
    .filter((phase) => phase.length > 0)
    .flatMap((phase, i) => (i === 0 ? phase : [{ kind: "barrier" }, ...phase]));
}

/** Rows and columns of the result. */
export interface Sides {
  readonly rows: Lines;
  readonly columns: Lines;
}

/** Columns are the lines along which most stores step by one element; b's where neither's do. */
function orient(job: Job, operands: { a: Operand; b: Operand }): Sides {
  const { m, n } = job.group.contraction!;
  const sum = load("sums", dtypeOf(job), 0);
  const indices = (rename: Rename): Dim[] => dimsIn(results(job, rename, sum));
  const merged = { a: collapse(m, new Map(), indices), b: collapse(n, new Map(), indices) };
  const of = (which: "a" | "b", spread: boolean): Lines =>
    linesOf(which, which === "a" ? m : n, operands[which], merged[which], spread);
  const stores = (which: "a" | "b"): number => {
    const lines = of(which, true);
    const { at, name } = makeLoop("q", lines.total);
    if (at === 0) return 0;
    return results(job, lines.at(at), sum).filter(
      (s) => s.kind === "store" && strideOf(s.index, name) === 1,
    ).length;
  };
  const [a, b] = [stores("a"), stores("b")];
  const narrow = a === b && maxOfDim(totalOf(n)) < 4 && minOfDim(totalOf(m)) >= 4;
  return a > b || narrow
    ? { rows: of("b", false), columns: of("a", true) }
    : { rows: of("a", false), columns: of("b", true) };
}
