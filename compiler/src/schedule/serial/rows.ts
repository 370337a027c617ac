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
import { maxOfDim, modDim, opRecord } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkStmts } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { naiveRows } from "../../lower/naive.ts";
import { phasesOf, rootReduces } from "../../lower/rows.ts";
import { doubled } from "../../lower/value.ts";
import { columns, maps } from "../../machine/js.ts";
import { texts } from "../../sizes.ts";
import { inColumns, keptIn, readsByColumn } from "../columns.ts";
import { type Extent, loopsOf } from "../loop-moves.ts";
import { apply, type Moved, naive, type Step } from "../recipe.ts";

export function serialRows(context: LoweringContext): Moved {
  const { group } = context;
  const small = isSmall(group.inner);
  const merged = apply(naive(naiveRows(context)), ["merge"]);
  const [outer, inner] = [loopsOf(merged.body, group.outer), loopsOf(merged.body, group.inner)];
  const last = outer.at(-1);
  const steps: Step[] = inner.map(
    ({ name }): Step => ["mark", name, small ? "unrolled" : "serial"],
  );
  if (!small && phasesOf(context).length > 1)
    steps.unshift(["keep", "double", ...inner.map((l) => l.name)]);
  if (!last) return apply(merged, ...steps);
  if (rootReduces(context).length > 0)
    steps.push(...outer.map(({ name }): Step => ["mark", name, "serial"]));
  else if (readsByColumn(context, outer, inner, last.body))
    // Few rows need no array, but the same rounding as many: symbols have any extent.
    steps.push(
      ...keptIn(last.body, (a) => doubled(a.dtype)),
      ...(small ? [] : inColumns(last, columns.width, "serial")),
    );
  else if (pays(outer, last)) steps.push(["unroll", last.name, maps.repeated]);
  return apply(merged, ...steps);
}

/**
 * True if a map is large, computes little, and every access walks memory by a plain stride: then
 * an iteration has four elements.
 */
function pays(outer: readonly Extent[], last: Of<"loop">): boolean {
  const total = outer.reduce((n, l) => n * maxOfDim(l.extent), 1);
  if (total < maps.large || modDim(last.extent, maps.repeated) !== 0) return false;
  let ops = 0;
  let plain = last.body.every((s) => s.kind === "store");
  walkStmts(last.body, {
    expr: (e) => {
      if (e.kind === "call") ops += opRecord(e.op).costly ? maps.cheap : 1;
      if (e.kind === "test" || (e.kind === "load" && e.guard.length > 0)) plain = false;
    },
    dim: (index) => {
      plain &&= strideOf(index, last.name) !== undefined;
    },
  });
  return plain && ops < maps.cheap;
}

const isSmall = (loops: readonly Extent[]): boolean =>
  loops.reduce((n, l) => n * maxOfDim(l.extent), 1) <= texts.written;
