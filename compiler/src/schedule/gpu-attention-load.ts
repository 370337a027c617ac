/**
 * What attention kernels bring to workgroup memory: terms of the rows and lines of a product, and lines of what is summed. 0 where
 * there is none; without a test where blocks meet the end of what they are part of.
 */
import {
  addDim,
  type Condition,
  type Dim,
  floorDiv,
  modDim,
  mulDim,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { rowAxisOf } from "../fuse/attention-group.ts";
import { readContraction } from "../fuse/contraction.ts";
import { type ContractionOperand, makeLoop } from "../fuse/group.ts";
import type { WeightedSum } from "../fuse/weighted-sum.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { openBlock } from "../lower/job.ts";
import { nest, type Rename, renamed } from "../lower/loops.ts";
import { choose, constant } from "../lower/value.ts";
import { below } from "./gpu.ts";
import { linesPerTile, type Places, type Tile, teams } from "./gpu-attention-tile.ts";

/** A step of terms of the tile's rows of a product. */
export function bringRows(t: Tile, { place }: Places, product: Tensor, step: Dim): Stmt[] {
  const axis = rowAxisOf(t.attention);
  return brought(t, t.perTile, true, (k, row) => {
    const at = addDim(mulDim(t.tile.at, t.perTile), row);
    const guard = ends(at, t.row.extent, t.perTile);
    const value = term(t, product, axis, at, addDim(mulDim(step, t.depth), k), guard);
    return { to: "rowTile", index: place(k, row), value };
  });
}

/** A step of terms of the tile's lines of a product. */
export function bringLines(t: Tile, { line }: Places, product: Tensor, step: Dim): Stmt[] {
  const { along } = t.attention.sums[0]!;
  const first = subDim(t.line0.at, mulDim(t.team, 4));
  return brought(t, linesPerTile, true, (k, row) => {
    const at = addDim(first, row);
    const guard = ends(at, t.line.extent, linesPerTile);
    const value = term(t, product, along, at, addDim(mulDim(step, t.depth), k), guard);
    return { to: "lineTile", index: line(k, row), value };
  });
}

/** Some lines of what is summed, from the first. */
export function bringSummed(t: Tile, { line }: Places, sum: WeightedSum, first: Dim): Stmt[] {
  const operand = readContraction(sum.result).contraction[sum.otherSide];
  return brought(t, t.columns * teams, false, (k, column) => {
    const at = addDim(first, k);
    const guard = [
      ...ends(at, t.line.extent, linesPerTile),
      ...ends(column, sum.columns, t.columns * teams),
    ];
    const value = element(t, operand, summedLoops(t, sum, at, column), guard);
    return { to: "lineTile", index: line(k, column), value };
  });
}

/** That a place is below an end which blocks of so many do not always meet. */
const ends = (value: Dim, end: Dim, block: number): Condition[] =>
  modDim(end, block) === 0 ? [] : [below(value, end)];

/** A product's inner term at a place of one axis: scores are queries by keys, so the operand of an axis is known. */
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

/**
 * Brings blocks of `count` lines; neighbouring invocations take neighbouring terms, or neighbouring lines. Not ahead of their use: the
 * registers that this takes cost more than the wait.
 */
function brought(
  t: Tile,
  count: number,
  alongTerms: boolean,
  make: (k: Dim, line: Dim) => Filled,
): Stmt[] {
  const invocations = t.me.extent as number;
  const u = makeLoop("u", Math.ceil((count * t.depth) / invocations));
  const flat = addDim(t.me.at, mulDim(u.at, invocations));
  const k = alongTerms ? modDim(flat, t.depth) : floorDiv(flat, count);
  const line = alongTerms ? floorDiv(flat, t.depth) : modDim(flat, count);
  const { to, index, value } = make(k, line);
  return nest([u], "unrolled", [...value.before, { kind: "store", to, index, value: value.expr }]);
}

/** An operand's element where its loops have these values, 0 where a condition fails. */
function element(
  t: Tile,
  operand: ContractionOperand,
  by: Rename,
  guard: readonly Condition[],
): Value {
  const values = openBlock(t.job);
  const coords = renamed(operand.coords, by);
  const value = values.at(operand.operand, coords, guard);
  return { expr: choose(guard, value, constant(value.dtype, 0)), before: values.body };
}

/** The loops by which a sum's product is read: those of its result by place, and the one that the sum runs along. */
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
