/**
 * Loads of attention kernels into workgroup memory: terms of the rows and lines of a product, and
 * lines of what is summed. 0 where there is none; unguarded where blocks end where their operand
 * does. One vector of four terms has one address and one store; fetching a step ahead gained
 * nothing here.
 */
import {
  addDim,
  type Condition,
  type Dim,
  floorDiv,
  modDim,
  mulDim,
  type Tensor,
} from "@kiln-ml/ir";
import { rowAxisOf } from "../../fuse/attention-group.ts";
import { readContraction } from "../../fuse/contraction.ts";
import { type ContractionOperand, makeLoop } from "../../fuse/group.ts";
import type { WeightedSum } from "../../fuse/weighted-sum.ts";
import { isBelow, onlyIf } from "../../kernel/conditions.ts";
import { constant } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { openBlock } from "../../lower/context.ts";
import { nest, renamed } from "../../lower/loops.ts";
import { choose } from "../../lower/value.ts";
import { linesPerTile, type Places, type Tile, teams, tileAt } from "./attention-tile.ts";

/** A step of terms of the tile's rows of a product. */
export function stageRows(t: Tile, { row: place }: Places, product: Tensor, step: Dim): Stmt[] {
  const axis = rowAxisOf(t.attention);
  return brought(t, t.perTile, t.depth, (k, row) => {
    const at = addDim(mulDim(tileAt(t), t.perTile), row);
    const guard = ends(at, t.row.extent, t.perTile);
    const value = term(t, product, axis, at, addDim(mulDim(step, t.depth), k), guard);
    return { to: "tiles", index: place(k, row), value };
  });
}

/** A step of terms of a tile's lines of a product. */
export function stageLines(
  t: Tile,
  { line: place }: Places,
  product: Tensor,
  lineTile: Dim,
  step: Dim,
): Stmt[] {
  const { along } = t.attention.sums[0]!;
  return brought(t, linesPerTile, t.depth, (k, line) => {
    const at = addDim(mulDim(lineTile, linesPerTile), line);
    const guard = ends(at, t.line.extent, linesPerTile);
    const value = term(t, product, along, at, addDim(mulDim(step, t.depth), k), guard);
    return { to: "tiles", index: place(k, line), value };
  });
}

/** Some lines of what is summed, from the first. */
export function stageSummed(t: Tile, { column: place }: Places, sum: WeightedSum, first: Dim) {
  const operand = readContraction(sum.result).contraction[sum.otherSide];
  const columns = t.columns * teams;
  return brought(t, t.weightDepth, columns, (column, k) => {
    const at = addDim(first, k);
    const guard = [...ends(at, t.line.extent, linesPerTile), ...ends(column, sum.columns, columns)];
    const value = element(t, operand, summedLoops(t, sum, at, column), guard);
    return { to: "tiles", index: place(k, column), value };
  });
}

/** That a place is below an end which blocks of so many do not always meet. */
const ends = (value: Dim, end: Dim, block: number): Condition[] =>
  modDim(end, block) === 0 ? [] : [isBelow(value, end)];

/**
 * A product's inner term at a place of one axis: scores are queries by keys, so the operand of an
 * axis is known.
 */
function term(
  t: Tile,
  product: Tensor,
  axis: number,
  at: Dim,
  inner: Dim,
  guard: readonly Condition[],
): Value {
  const { a, b, k } = readContraction(product).contraction;
  const by = new Map([
    [k[0]!.name, inner],
    [makeLoop(`i${axis}`, 2).name, at],
  ]);
  const whole = [...guard, ...ends(inner, k[0]!.extent, t.depth)];
  return element(t, axis === product.rank - 2 ? a : b, by, whole);
}

interface Value {
  readonly expr: Expr;
  readonly before: readonly Stmt[];
}

interface Filled {
  readonly to: string;
  readonly index: Dim;
  readonly value: Value;
}

/** Brings `count` lines of so many elements, four neighbours at a time. */
function brought(
  t: Tile,
  count: number,
  each: number,
  make: (k: Dim, line: Dim) => Filled,
): Stmt[] {
  const invocations = t.me.extent as number;
  const quads = each / 4;
  const total = count * quads;
  const u = makeLoop("u", Math.ceil(total / invocations));
  const flat = addDim(t.me.at, mulDim(u.at, invocations));
  const k = addDim(mulDim(modDim(flat, quads), 4), t.lane.at);
  const { to, index, value } = make(k, floorDiv(flat, quads));
  const store: Stmt = { kind: "store", to, index, value: value.expr };
  const lanes = nest([t.lane], "vector", [...value.before, store]);
  const inside = total % invocations === 0 ? [] : [isBelow(flat, total)];
  return nest([u], "unrolled", onlyIf(inside, lanes));
}

/** An operand's element where its loops have these values, 0 where a condition fails. */
function element(
  t: Tile,
  operand: ContractionOperand,
  by: Rename,
  guard: readonly Condition[],
): Value {
  const values = openBlock(t.context);
  const coords = renamed(operand.coords, by);
  const value = values.at(operand.operand, coords, guard);
  return { expr: choose(guard, value, constant(value.dtype, 0)), before: values.body };
}

/**
 * The loops by which a sum's product is read: those of its result by place, and the one that the
 * sum runs along.
 */
function summedLoops(t: Tile, { result, axes }: WeightedSum, line: Dim, column: Dim): Rename {
  const { k } = readContraction(result).contraction;
  const by = new Map<string, Dim>([[k[0]!.name, line]]);
  const rowAxis = rowAxisOf(t.attention);
  for (const [i, axis] of axes.entries()) {
    const { name } = makeLoop(`i${i}`, 2);
    if (axis < 0) by.set(name, column);
    else if (axis !== rowAxis) by.set(name, t.batch[axis]!.at);
  }
  return by;
}
