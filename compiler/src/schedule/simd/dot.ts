/**
 * A contraction of up to four rows whose operands both lie along K: dot products, four terms at a
 * time, without packing. A product of a matrix and a vector is one (GEMV), and so is the gradient
 * of the weights of a depthwise convolution.
 *
 * Why this shape: memory bandwidth bounds it, for each element of the large operand is used at
 * most four times. To pack it would write and read again what is used once. About eight sums are
 * in flight, enough to hide the four cycles of an FMA, of which two start in each. Runs along
 * memory of fewer than 16 elements are left to panels, as adding up the lanes at the end would
 * cost more than it saves.
 */
import { addDim, isStatic, maxOfDim, minDim, subDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { constant, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkStmts } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { dots as limits } from "../../machine/wasm.ts";
import { isAffine } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import { type Depth, depthOf, type Lines, overBlocks, type Run } from "./lines.ts";
import type { Operand } from "./operand.ts";
import { type Added, addToSums } from "./tile.ts";
import {
  addedOf,
  type Block,
  blockOf,
  clearSums,
  dtypeOf,
  finish,
  inBlock,
  overWorkItems,
  sumArrays,
  type WorkItem,
} from "./work-items.ts";

export function dotPhases(
  context: LoweringContext,
  operands: { a: Operand; b: Operand },
  sides: Sides,
) {
  const { rows, columns } = sides;
  if (!isStatic(rows.total) || rows.total > limits.mostRows || rows.total === 0) return undefined;
  const alone = maxOfDim(columns.total) * rows.total === 1;
  const depth = depthOf(
    context,
    [operands.a, operands.b, ...sides.others.map(({ value }) => ({ value, before: [] }))],
    alone ? limits.depthOfOne : limits.depthOfMany,
  );
  const products = [columns, ...sides.others];
  if (!alongDepth(context, rows, depth, true)) return undefined;
  if (!products.every((lines) => alongDepth(context, lines, depth, false))) return undefined;
  const tile = { rows: rows.total, columns: columnsAtOnce(rows.total, columns, products.length) };
  const block = blockOf(context, sides, tile, { rows: tile.rows, columns: limits.columns });
  return [
    overWorkItems(context, sides, block, (unit) => ({
      arrays: sumArrays(context, block, depth),
      body: [
        ...clearSums(context, block, { name: "sums", base: 0, ...addedOf(depth) }),
        ...columnsOf(context, sides, depth, tile, block, unit),
        ...finish(context, sides, block, unit),
      ],
    })),
  ];
}

/** The sums of a unit, some columns at once. */
function columnsOf(
  context: LoweringContext,
  sides: Sides,
  depth: Depth,
  tile: Block,
  block: Block,
  unit: WorkItem,
): Stmt[] {
  const { total, at } = sides.columns;
  const q = makeLoop("q", block.columns);
  const whole = isStatic(total) && total % tile.columns === 0;
  const lines = Array.from({ length: tile.columns }, (_, j) => makeLoop(`line${j}`, total));
  const bind = lines.map(({ name }, j): Stmt => {
    const line = addDim(addDim(unit.column, q.at), j);
    return { kind: "letIndex", name, value: whole ? line : minDim(line, subDim(total, 1)) };
  });
  const own = lines.map((l) => at(l.at));
  const body = overBlocks(depth, ({ run }) =>
    dots(context, sides, run, {
      lines: [sides.columns, ...sides.others].flatMap(({ value }) =>
        own.map((at) => ({ at, value })),
      ),
      index: (r, j) => inBlock(r, addDim(q.at, j % own.length), block, Math.floor(j / own.length)),
      ...addedOf(depth),
    }),
  );
  return [
    {
      kind: "loop",
      name: q.name,
      extent: unit.breadth,
      step: tile.columns,
      loop: "serial",
      body: [...bind, ...body],
    },
  ];
}

/**
 * About eight sums in flight, of all products; columns are few enough to be taken at once, or a
 * power of two.
 */
function columnsAtOnce(rows: number, columns: Lines, products: number): number {
  const sums = rows * products;
  const most = sums === 1 ? 8 : sums === 2 ? 4 : sums <= 4 ? 2 : 1;
  const all = maxOfDim(columns.total);
  if (all * sums <= limits.sumsInFlight) return Math.max(1, all);
  return most;
}

/**
 * True if the operand lies along the last loop of a run; rows, read once for every column, must be
 * plain.
 */
function alongDepth(context: LoweringContext, lines: Lines, depth: Depth, plain: boolean): boolean {
  const { run } = depth.block(0);
  const last = run.loops.at(-1)!;
  if (maxOfDim(last.extent) < limits.leastRun) return false;
  const line = makeLoop("line", lines.total);
  const block = openBlock(context);
  const value = lines.value(block, new Map([...lines.at(line.at), ...run.rename]));
  const body: Stmt[] = [...block.body, { kind: "let", name: "x", value }];
  if (!isAffine(body, last.name) || (plain && value.kind !== "load")) return false;
  const strides = new Set<number | undefined>();
  walkStmts(body, {
    expr: (e) => {
      if (e.kind === "load") strides.add(strideOf(e.index, last.name));
    },
  });
  return strides.has(1) && [...strides].every((s) => s === 0 || s === 1);
}

interface Dots {
  /** The contraction's loops at each column, and its element. */
  readonly lines: readonly { readonly at: Rename; readonly value: Lines["value"] }[];
  index(r: number, j: number): ReturnType<typeof inBlock>;
  readonly add?: Added;
}

/** The dot products of all rows with some columns over one run of depth. */
function dots(context: LoweringContext, { rows }: Sides, run: Run, d: Dots): Stmt[] {
  const dtype = dtypeOf(context);
  const count = maxOfDim(rows.total);
  const block = openBlock(context);
  const each = <T>(n: number, f: (i: number) => T): T[] =>
    Array.from({ length: n }, (_, i) => f(i));
  const a = each(count, (r) => rows.value(block, new Map([...rows.at(r), ...run.rename])));
  const b = d.lines.map(({ at, value }) => value(block, new Map([...at, ...run.rename])));
  const lets = (name: string, values: readonly Expr[]): Stmt[] =>
    values.map((value, i) => ({ kind: "let", name: `${name}${i}`, value }));
  const grid = a.flatMap((_, r) => b.map((_, j) => ({ name: `c${r}${j}`, r, j })));
  const terms = grid.map(({ name, r, j }) => ({ name, index: d.index(r, j) }));
  const inner: Stmt[] = [
    ...block.body,
    ...lets("a", a),
    ...lets("b", b),
    ...grid.map(({ name, r, j }): Stmt => {
      return { kind: "fma", name, a: ref(`a${r}`, dtype), b: ref(`b${j}`, dtype) };
    }),
  ];
  return [
    ...grid.map(({ name }): Stmt => {
      return { kind: "acc", name, dtype, init: constant(dtype, 0), widened: false };
    }),
    ...nest(run.loops.slice(0, -1), "serial", nest([run.loops.at(-1)!], "simd", inner)),
    ...(d.add
      ? addToSums(dtype, "sums", d.add, terms)
      : terms.map(({ name, index }): Stmt => {
          return { kind: "store", to: "sums", index, value: ref(name, dtype) };
        })),
  ];
}
