/**
 * What schedules of operands in blocks share: depth as loops over blocks and over what is in one,
 * and the elements of both sides at a place of it, in steps. Chooses nothing.
 */
import { type Dim, offsetOf } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { constant, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkStmts } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { isAffine } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import type { Lines } from "./lines.ts";
import { folded, type Steps, stepsOf } from "./steps.ts";
import type { Block } from "./work-items.ts";

/** Elements whose fields are written out. */
export const chunk = 32;
/** Depth as loops: k = block · b + chunk · t + 4 · u + lane. */
export interface DepthInBlocks {
  readonly name: string;
  readonly size: number;
  readonly b: Loop;
  readonly t: Loop;
  readonly u: Loop;
  readonly lane: Loop;
  at(u: Dim): Rename;
}

export function depthIn(name: string, depth: number, size: number): DepthInBlocks {
  const [b, t] = [makeLoop("depthBlock", depth / size), makeLoop("chunk", size / chunk)];
  const [u, lane] = [makeLoop("u", chunk / 4), makeLoop("lane", 4)];
  const at = (u: Dim): Rename =>
    new Map([[name, offsetOf([b.extent, t.extent, chunk / 4, 4], [b.at, t.at, u, lane.at])]]);
  return { name, size, b, t, u, lane, at };
}

export const within = ({ t, u, lane }: DepthInBlocks) => ({
  symbols: new Set([t.name, u.name, lane.name]),
  name: () => false,
});

/** A line's element under a renaming, if it takes no statements to find. */
export function elementOf(context: LoweringContext, lines: Lines, line: Dim, by: Rename) {
  const block = openBlock(context);
  const value = lines.value(block, new Map([...lines.at(line), ...by]));
  return block.body.length === 0 ? value : undefined;
}

/** A kernel's plan: who are rows, and how its elements are read. */
export interface InBlocks {
  readonly context: LoweringContext;
  readonly sides: Sides;
  readonly cut: DepthInBlocks;
  /** Its columns are those of all products: each has as many of its own. */
  readonly tile: Block;
}

/** The columns of all products, and of which one a column of the tile is. */
export const productsIn = ({ columns, others }: Sides): readonly Lines[] => [columns, ...others];
export const columnsOf = ({ sides, tile }: InBlocks, j: number): Lines =>
  productsIn(sides)[Math.floor((j * (1 + sides.others.length)) / tile.columns)]!;

/** How the sums of a block are made. */
export interface Terms {
  readonly arrays: readonly Stmt[];
  /** What is made ready of the rows. */
  readonly before: readonly Stmt[];
  /** Declarations before a block, the terms of a chunk, and what the block adds to the sums `c`. */
  readonly open: readonly Stmt[];
  chunk(lines: readonly Dim[]): readonly Stmt[];
  close(lines: readonly Dim[]): readonly Stmt[];
}

export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

export const pairs = ({ tile }: InBlocks): { r: number; j: number }[] =>
  range(tile.rows).flatMap((r) => range(tile.columns).map((j) => ({ r, j })));

export const zero = (name: string, dtype: "f32" | "i32" = "f32"): Stmt => {
  return { kind: "acc", name, dtype, init: constant(dtype, 0), widened: false };
};

/** True if the statements run in lanes along the block, each load a vector or one for all. */
export function inLanes(body: readonly Stmt[], { lane }: DepthInBlocks): boolean {
  if (!isAffine(body, lane.name)) return false;
  let even = true;
  walkStmts(body, {
    expr: (e) => {
      if (e.kind !== "load") return;
      const stride = strideOf(e.index, lane.name);
      if (stride !== 0 && stride !== 1) even = false;
    },
  });
  return even;
}

/** A side's element at place `u` of a chunk, in steps. */
export function stepsAt(plan: InBlocks, lines: Lines, line: Dim, u: Dim): Steps | undefined {
  const value = elementOf(plan.context, lines, line, plan.cut.at(u));
  return value && stepsOf(folded(value), within(plan.cut));
}

/** Names for loads that several statements read, in the order in which they are met. */
export function sharedLoads(prefix: string) {
  const names = new Map<string, string>();
  const lets: Stmt[] = [];
  const shared = (e: Expr): Expr => {
    if (e.kind === "call") return { ...e, args: e.args.map(shared) };
    if (e.kind !== "load" || e.guard.length > 0) return e;
    const key = `${e.from}[${String(e.index)}]`;
    const name = names.get(key) ?? `${prefix}${names.size}`;
    if (!names.has(key)) lets.push({ kind: "let", name, value: e });
    names.set(key, name);
    return ref(name, e.dtype);
  };
  return { shared, take: (): Stmt[] => lets.splice(0) };
}
