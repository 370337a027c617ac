/**
 * Recipes for contractions on one thread, in scalar JavaScript. Both operands are staged in panels,
 * a register tile of 4×2 sums runs over all of K, and the tile's epilogue stores. Sums run in the
 * order of K, so that js keeps the reference's bits. Why this shape: registers bound it. An engine
 * loads all that a step of K needs before it adds, and 4×2 sums with their six operands just fit
 * in 16 registers; more sums spill to memory and take longer. A prologue is evaluated where an
 * element is staged, once and not once a tile. Panels of f32 hold f64: the conversion then happens
 * once an element, and not in every tile, which is an eighth of the time. B is staged 64 columns
 * at a time, 256 KB at K = 1024, so that it stays in L2 while rows pass.
 */
import { type Dim, isStatic, maxOfDim } from "@kiln-ml/ir";
import type { Loop } from "../../fuse/group.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { eachStmt } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { totalOf } from "../../lower/loops.ts";
import { loopsAlong, naiveContraction } from "../../lower/naive.ts";
import { products } from "../../machine/js.ts";
import { type Moved, naive, type Step } from "../recipe.ts";
import { apply, where } from "./recipe.ts";
import { serialRows } from "./rows.ts";

/** The register tile, smaller where an extent is. */
const tileOf = (m: Dim, n: Dim): { rows: number; columns: number } => ({
  rows: Math.min(4, Math.max(1, maxOfDim(m))),
  columns: Math.min(2, Math.max(1, maxOfDim(n))),
});

export function serialContraction(context: LoweringContext): Moved {
  const product = naive(naiveContraction(context));
  const [rows, columns, depth] = (["m", "n", "k"] as const).map((x) => loopsAlong(context, x)) as [
    readonly Loop[],
    readonly Loop[],
    readonly Loop[],
  ];
  const [m, n, k] = [rows, columns, depth].map(totalOf) as [Dim, Dim, Dim];
  const tile = tileOf(m, n);
  const whole = isStatic(m) && isStatic(k) && m * k <= products.wholeLimit;
  const block = Math.min(
    products.columnBlock,
    Math.ceil(maxOfDim(n) / tile.columns) * tile.columns,
  );
  const names = (loops: readonly Loop[]): string[] => loops.map((l) => l.name);
  const panel = (value: string, name: string, before: string, ...layout: string[]): Step => {
    return ["stage", "double", value, name, before, ...layout];
  };
  const blocks = apply(
    product,
    ["flatten", "column", ...names(columns)],
    ["flatten", "row", ...names(rows)],
    ["split", "row", tile.rows, "i", "r"],
    ["inline", "row"],
    ["split", "column", tile.columns, "tile", "s"],
    ["inline", "column"],
    ["split", "tile", Math.max(block, tile.columns), "j", "jj"],
    ["inline", "tile"],
    ["reorder", "j", "i"],
    ["reorder", "jj", "r"],
    ["mark", "j", "i", "jj", "serial"],
  );
  const panels = [
    whole
      ? panel("a", "packedA", "j", "i", ...names(depth), "r")
      : panel("a", "packedA", "jj", ...names(depth), "r"),
    panel("b", "packedB", "i", "jj", ...names(depth), "s"),
  ];
  // An operand in the buffer that the product writes, as the states of an unrolled recurrence are,
  // is read where it is; register tiles read panels.
  let [staged, inPanels] = [blocks, true];
  for (const step of panels) {
    const next = where(staged, step);
    inPanels &&= next !== staged;
    staged = next;
  }
  const tiles = apply(
    staged,
    ["flatten", "k", ...names(depth)],
    ...depth.map((l): Step => ["inline", l.name]),
    ...(rowsInside(rows, columns, product.body) ? [["reorder", "s", "r"] as const] : []),
  );
  const { body, recipe } = apply(tiles, ...(inPanels ? [["registers", "r", "s"] as const] : []), [
    "mark",
    "r",
    "s",
    "serial",
  ]);
  const sums = context.group.operandReductions.map(({ group }) =>
    serialRows({ ...context, group }),
  );
  return { body: [...sums.flatMap((s) => s.body), ...panelsInScratch(context, body)], recipe };
}

/** Panels as memory of the plan, which an artifact has once for all kernels and runs. */
function panelsInScratch({ buffers }: LoweringContext, body: readonly Stmt[]): Stmt[] {
  const names = new Map<string, string>();
  eachStmt(body, (s) => {
    if (s.kind === "array" && /^packed/.test(s.name))
      names.set(s.name, buffers.scratch(s.name, s.dtype, s.size, { widened: true }));
  });
  const without = (stmts: readonly Stmt[]): Stmt[] =>
    stmts.flatMap((s) => (s.kind === "array" && names.has(s.name) ? [] : [mapBlock(s, without)]));
  return mapStmts(without(body), { memory: (name) => names.get(name) ?? name });
}

/**
 * True if stores step by one element along the rows, or if columns take divisions to find and rows
 * do not.
 */
function rowsInside(
  rows: readonly Loop[],
  columns: readonly Loop[],
  body: readonly Stmt[],
): boolean {
  if (rows.length === 1 && columns.length > 1) return true;
  const along = ({ name }: Loop): number => {
    let stores = 0;
    eachStmt(body, (s) => {
      if (s.kind === "store" && strideOf(s.index, name) === 1) stores++;
    });
    return stores;
  };
  return along(rows.at(-1)!) > along(columns.at(-1)!);
}
