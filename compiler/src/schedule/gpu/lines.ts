/**
 * Lines of a contraction's operands as a GPU's tiles see them: the rows of the result, or its
 * columns. Which loops a line stands for, singly or in fours. Loops of one iteration stand first,
 * so that neighbours in memory are found where a reshape or a 1×1 window put an axis between them.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  modDim,
  mulDim,
  stridesOf,
  subDim,
} from "@kiln-ml/ir";
import { type ContractionOperand, type Group, type Loop, makeLoop } from "../../fuse/group.ts";
import { isBelow } from "../../kernel/conditions.ts";
import type { Rename } from "../../kernel/map.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { totalOf } from "../../lower/loops.ts";

/** An operand of a contraction. */
export type Which = "a" | "b";

export interface Lines {
  readonly which: Which;
  readonly operand: ContractionOperand;
  readonly loops: readonly Loop[];
  /** The first line of the first tile, and the line after the last. */
  readonly from: number;
  readonly limit: Dim;
  /** Lines in a tile, and of one invocation. */
  readonly count: number;
  readonly own: number;
  /** The number of the tile, and of the invocation across it. */
  readonly tile: Dim;
  readonly place: Dim;
  /** Whether lines can be counted in fours: the loop that runs fastest has a multiple of four. */
  readonly inFours: boolean;
  readonly sums: Group["operandReductions"];
}

/**
 * Lines of an operand in tiles of `count`, along the grid's loop `name`; all of them, or those of
 * `part`.
 */
export function linesOf(
  { group }: LoweringContext,
  which: Which,
  name: string,
  by: Pick<Lines, "count" | "own" | "place">,
  part?: Pick<Lines, "from" | "limit">,
): { readonly lines: Lines; readonly grid: Loop } {
  const { m, n, [which]: operand } = group.contraction!;
  const loops = onesFirst(which === "a" ? m : n);
  const last = loops.at(-1);
  const inFours = last !== undefined && modDim(last.extent, 4) === 0;
  const range = part ?? { from: 0, limit: totalOf(loops) };
  const grid = makeLoop(name, ceilDiv(subDim(range.limit, range.from), by.count));
  const sums = group.operandReductions.filter((s) => s.operand === which);
  return { lines: { which, operand, loops, ...range, ...by, tile: grid.at, inFours, sums }, grid };
}

/**
 * In the same order, but that loops of one iteration do not stand where neighbours in memory are
 * looked for.
 */
export const onesFirst = (loops: readonly Loop[]): Loop[] => [
  ...loops.filter((l) => l.extent === 1),
  ...loops.filter((l) => l.extent !== 1),
];

export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Invocations that share a tile in the direction of its lines. */
export const acrossOf = (l: Lines): number => l.count / l.own;

/** The first of four lines; `quad` counts within the tile. */
export const quadOf = (l: Lines, quad: Dim): Dim =>
  addDim(addDim(mulDim(l.tile, l.count / 4), l.from / 4), quad);
export const lineOf = (l: Lines, line: Dim): Dim =>
  addDim(addDim(mulDim(l.tile, l.count), l.from), line);

export const insideLines = (l: Lines, line: Dim): Condition => isBelow(line, l.limit);

/** What loops stand for at a row-major number over all of them. */
export function decoded(loops: readonly Loop[], flat: Dim): Rename {
  const strides = stridesOf(loops.map((l) => l.extent));
  return new Map(
    loops.map((l, i) => {
      const q = floorDiv(flat, strides[i]!);
      return [l.name, i === 0 ? q : modDim(q, l.extent)];
    }),
  );
}

/**
 * The same at element `lane` of the four with a number, where the last loop has a multiple of four
 * iterations.
 */
export function decodedQuads(loops: readonly Loop[], quad: Dim, lane: Dim): Rename {
  const last = loops.at(-1);
  if (!last) return new Map();
  const fours = [...loops.slice(0, -1), { ...last, extent: floorDiv(last.extent, 4) }];
  const by = new Map(decoded(fours, quad));
  by.set(last.name, addDim(mulDim(by.get(last.name)!, 4), lane));
  return by;
}

/** The sum of row `i` and of the `j`th four columns of an invocation. */
export const sumName = (i: number, j: number): string => `c${i}_${j}`;
export const sideName = (l: Lines, s: number, i: number): string => `side${l.which}${s}_${i}`;
