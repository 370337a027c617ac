/**
 * The two sides of a contraction on a CPU with vectors: lines are rows or columns of the result,
 * depth is the loops that are summed over (K). Says which values the loops have at a line and how
 * depth is cut into blocks. Packs and multiplies nothing.
 *
 * Depth is cut for two reasons: a panel of one block fits the first cache, and a sum of f32 over a
 * block is exact enough to be one term of the second level. The cut depends on extents alone, so
 * that a result has the same bits on any number of threads.
 */
import {
  addDim,
  type Dim,
  floorDiv,
  isStatic,
  maxOfDim,
  minDim,
  minOfDim,
  modDim,
  mulDim,
  offsetOf,
  stridesOf,
  subDim,
  substitute,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { dimsIn } from "../../kernel/walk.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { openBlock } from "../../lower/context.ts";
import { collapse, totalOf } from "../../lower/loops.ts";
import type { Values } from "../../lower/value.ts";
import { workItems } from "../../machine/wasm.ts";
import type { Operand } from "./operand.ts";

export interface Lines {
  readonly which: "a" | "b";
  /** Loops around the lines: a unit of work has one iteration of them. */
  readonly spread: readonly Loop[];
  readonly total: Dim;
  /** The innermost of the lines' loops, if they are several. */
  readonly innermost: Loop | undefined;
  /** What the loops of the contraction are at a line. */
  at(line: Dim): Rename;
  /** The operand's element there; run-time indices go to the block. */
  value(block: Values, rename: Rename): Expr;
}

/**
 * The lines over `loops`, of which `merged` are neighbours merged where the places of the results
 * allow it; what could not be merged stands outside if `spread`.
 */
export function linesOf(
  which: "a" | "b",
  loops: readonly Loop[],
  operand: Operand,
  merged: ReturnType<typeof collapse>,
  spread: boolean,
): Lines {
  const last = merged.loops.at(-1);
  const apart = spread && last !== undefined && minOfDim(last.extent) >= workItems.leastLines;
  const own = apart ? [last] : merged.loops;
  const strides = stridesOf(own.map((l) => l.extent));
  const at = (line: Dim): Rename => {
    const flat = own.map((l, i): [string, Dim] => {
      const q = floorDiv(line, strides[i]!);
      return [l.name, i === 0 ? q : modDim(q, l.extent)];
    });
    const by = new Map(flat);
    return new Map(
      loops.map((l) => [l.name, substitute(merged.rename.get(l.name) ?? l.at, by)] as const),
    );
  };
  return {
    which,
    spread: apart ? merged.loops.slice(0, -1).filter((l) => l.extent !== 1) : [],
    total: totalOf(own),
    innermost: loops.filter((l) => l.extent !== 1).at(-1),
    at,
    value: operand.value,
  };
}

/**
 * A run of depth: loops, what the contraction's own loops are in them, and the place in the run.
 */
export interface Run {
  readonly loops: readonly Loop[];
  readonly rename: Rename;
  readonly flat: Dim;
}

/**
 * Depth in blocks: `outer` loops around blocks of `size` iterations of `cut`, each with all of the
 * loops inside it.
 */
export interface Depth {
  readonly total: Dim;
  /** All of depth as one run. */
  readonly whole: Run;
  readonly outer: readonly Loop[];
  readonly cut: Loop;
  readonly size: number;
  /** The block that starts at `start` of `cut`: its run, its length and its place in the whole. */
  block(start: Dim): { run: Run; length: Dim; from: Dim };
  /** True if there is one block. */
  readonly single: boolean;
  /** The longest block. */
  readonly most: number;
}

/** The loops of depth, neighbours merged where both operands' places allow it. */
function mergedDepth(
  context: LoweringContext,
  sides: readonly Operand[],
): ReturnType<typeof collapse> {
  return collapse(context.group.contraction!.k, new Map(), (rename) =>
    sides.flatMap((side) => {
      const block = openBlock(context);
      const value = side.value(block, rename);
      return dimsIn([...block.body, { kind: "store", to: "", index: 0, value }]);
    }),
  );
}

/** Where to cut: the loop of which some iterations, with all the loops in it, make a block. */
function cutOf(loops: readonly Loop[], blockDepth: number, multiple: number) {
  let p = loops.length - 1;
  let inner = 1;
  for (let e = loops[p]!.extent; p > 0 && isStatic(e) && e > 0; e = loops[p]!.extent) {
    if (inner * e > blockDepth / 2) break;
    inner *= e;
    p--;
  }
  const [outer, cut, rest] = [loops.slice(0, p), loops[p]!, loops.slice(p + 1)];
  const most = Math.max(1, Math.floor(blockDepth / inner));
  const extent = maxOfDim(cut.extent);
  // Blocks of one size, as far as that is known.
  const count = Math.max(1, Math.ceil(extent / most));
  const even = Number.isFinite(count) ? Math.max(1, Math.ceil(extent / count)) : most;
  const size = Math.max(1, Math.min(most, Math.ceil(even / multiple) * multiple));
  return { outer, cut, rest, inner, size, single: outer.length === 0 && extent <= size };
}

/** Blocks are a multiple of so many steps where that divides `blockDepth`. */
export function depthOf(
  context: LoweringContext,
  sides: readonly Operand[],
  blockDepth: number,
  multiple = 1,
): Depth {
  const loops = context.group.contraction!.k;
  const merged = mergedDepth(context, sides);
  const own = merged.loops.filter((l) => l.extent !== 1);
  if (own.length === 0) own.push(makeLoop("step", 1));
  const { outer, cut, rest, inner, size, single } = cutOf(own, blockDepth, multiple);
  const rename = (by: Rename): Rename =>
    new Map(loops.map((l) => [l.name, substitute(merged.rename.get(l.name) ?? l.at, by)] as const));
  const flatOf = (list: readonly Loop[]) =>
    offsetOf(
      list.map((l) => l.extent),
      list.map((l) => l.at),
    );
  return {
    total: totalOf(own),
    whole: { loops: own, rename: rename(new Map()), flat: flatOf(own) },
    outer,
    cut,
    size,
    single,
    most: size * inner,
    block(start) {
      const whole = isStatic(cut.extent) && cut.extent > 0 && cut.extent % size === 0;
      const count = whole ? size : minDim(size, subDim(cut.extent, start));
      const within = makeLoop("step", size);
      const run: Run = {
        loops: [{ ...within, extent: count }, ...rest],
        rename: rename(new Map([[cut.name, addDim(start, within.at)]])),
        flat: addDim(mulDim(within.at, inner), flatOf(rest)),
      };
      const from = mulDim(addDim(mulDim(flatOf(outer), cut.extent), start), inner);
      return { run, length: mulDim(count, inner), from };
    },
  };
}

/** Iterations of the outermost loop over blocks of depth, from `start` up to `end`. */
export interface Part {
  readonly start: Dim;
  readonly end: Dim;
}

/** The outermost loop over blocks of depth, and how many of its iterations belong together. */
export const outermost = (depth: Depth): { extent: Dim; step: number } =>
  depth.outer[0]
    ? { extent: depth.outer[0].extent, step: 1 }
    : { extent: depth.cut.extent, step: depth.size };

/** The loops over the blocks of depth, or of a part of it, around `body`. */
export function overBlocks(
  depth: Depth,
  body: (b: ReturnType<Depth["block"]>) => readonly Stmt[],
  part?: Part,
): Stmt[] {
  if (depth.single && !part) return [...body(depth.block(0))];
  const start = makeLoop("from", depth.cut.extent);
  const loops = [...depth.outer, start];
  return loops.reduceRight<readonly Stmt[]>(
    (inner, l, i) => [
      {
        kind: "loop",
        name: l.name,
        extent: i === 0 && part ? part.end : l.extent,
        ...(i === 0 && part ? { start: part.start } : {}),
        ...(l === start ? { step: depth.size } : {}),
        loop: "serial",
        body: inner,
      },
    ],
    body(depth.block(start.at)),
  ) as Stmt[];
}
