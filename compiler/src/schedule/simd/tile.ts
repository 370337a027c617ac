/**
 * The register tile of a contraction on a CPU with vectors, and its epilogue. A tile is five rows
 * by two vectors of columns, ten sums in flight, or four rows; it is not unrolled along K. Sums of
 * one run of K are added to a block in private memory, the second level; the group's results are
 * computed from that block while it is in L1.
 *
 * Why five rows: an FMA takes four cycles and two start in each, so that eight sums have no slack
 * and every delay counts (36 to 38 of 46 GFLOP/s in a product of 512). Ten have. An engine that
 * loads all operands of a block first (V8 11) then needs 17 registers of 15 and falls to 28
 * GFLOP/s; the schedule barrier after the second row keeps it at 45. Six rows reach 47 in newer
 * engines, 31 in that one.
 */
import { addDim, type Dim, type Dtype } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { substituteIn } from "../../kernel/map.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { epilogueOf } from "../../lower/naive.ts";
import { addToElement, type Blocks, byBlocks } from "../compensate.ts";

/** Rows and vectors of columns. */
export interface Tile {
  readonly rows: number;
  readonly vectors: number;
  /** Elements of a vector. */
  readonly lanes: number;
}

/**
 * Operands of so many rows are in registers at once, beside the sums and the operands of the
 * columns.
 */
const barrierAt = 2;

export const widthOf = (tile: Tile): number => tile.vectors * tile.lanes;

/** The operands of a tile at a step of depth, and where its sums go. */
export interface TileAccess {
  row(step: Dim, r: number): Expr;
  column(step: Dim, within: Dim): Expr;
  readonly sums: string;
  /** The place of the tile's first sum, and the distance of rows. */
  readonly base: Dim;
  readonly pitch: number;
  /**
   * If the block holds sums of earlier runs: how many blocks of depth add to one, and the array of
   * what is left over.
   */
  readonly add?: Added;
}

/** Sums of blocks of depth that are added to those of earlier blocks. */
export interface Added extends Blocks {
  readonly rest: string;
}

/**
 * Adds sums to elements of an array, each under a name of its own; compensated if there are many
 * blocks.
 */
export function addToSums(
  dtype: Dtype,
  sums: string,
  add: Added,
  terms: readonly { readonly name: string; readonly index: Dim }[],
): Stmt[] {
  const exact = terms.flatMap(({ name, index }) =>
    addToElement(name, dtype, index, ref(name, dtype), { sums, rest: add.rest }),
  );
  const plain = terms.map(({ name, index }): Stmt => {
    const value = call("add", dtype, load(sums, dtype, index), ref(name, dtype));
    return { kind: "store", to: sums, index, value };
  });
  return byBlocks(dtype, add, exact, plain);
}

/** The sums of one tile over `length` steps of depth. */
export function tileSums(tile: Tile, dtype: Dtype, length: Dim, access: TileAccess): Stmt[] {
  const { lanes } = tile;
  const lane = makeLoop("lane", lanes);
  const step = makeLoop("k", length);
  const grid = Array.from({ length: tile.rows * tile.vectors }, (_, q) => {
    const [r, v] = [Math.floor(q / tile.vectors), q % tile.vectors];
    return { name: `c${r}${v}`, r, v };
  });
  const columnAt = (v: number): Dim => addDim(v * lanes, lane.at);
  const inner: Stmt[] = [
    ...Array.from({ length: tile.vectors }, (_, v): Stmt => {
      return { kind: "let", name: `b${v}`, value: access.column(step.at, columnAt(v)) };
    }),
    ...Array.from({ length: tile.rows }, (_, r): Stmt[] => [
      // Only engines load all operands first.
      ...(r === barrierAt && tile.rows > 4 && lanes === 4 && step.at !== 0
        ? [{ kind: "scheduleBarrier" } as const]
        : []),
      { kind: "let", name: `a${r}`, value: access.row(step.at, r) },
      ...grid
        .filter((q) => q.r === r)
        .map(({ name, v }): Stmt => {
          return { kind: "fma", name, a: ref(`a${r}`, dtype), b: ref(`b${v}`, dtype) };
        }),
    ]).flat(),
  ];
  const { sums, add } = access;
  const terms = grid.map(({ name, r, v }) => {
    return { name, index: addDim(addDim(access.base, r * access.pitch), columnAt(v)) };
  });
  const stores = add
    ? addToSums(dtype, sums, add, terms)
    : terms.map(({ name, index }): Stmt => {
        return { kind: "store", to: sums, index, value: ref(name, dtype) };
      });
  return nest([lane], "vector", [
    ...grid.map(({ name }): Stmt => {
      return { kind: "acc", name, dtype, init: constant(dtype, 0), widened: false };
    }),
    ...nest([step], "serial", inner),
    ...stores,
  ]);
}

/**
 * The statements that store the group's results for one element of each of its products, whose
 * sums may depend on new variables.
 */
export function results(
  context: LoweringContext,
  rename: Rename,
  ...sums: readonly Expr[]
): Stmt[] {
  const { dtype } = context.group.anchor!;
  const lets = sums.map((sum, i): Stmt => {
    const value = dtype === sum.dtype ? sum : call("convert", dtype, sum);
    return { kind: "let", name: nameOf(i), value };
  });
  return [...lets, ...substituteIn(ownResults(context), rename)];
}

const nameOf = (product: number): string => (product === 0 ? "product" : `product${product}`);

/** They are asked for several times while ways are compared. */
const made = new WeakMap<LoweringContext, readonly Stmt[]>();

/** The same under the group's own variables. */
function ownResults(context: LoweringContext): readonly Stmt[] {
  const { anchor, siblings } = context.group;
  const known =
    made.get(context) ??
    epilogueOf(
      context,
      ...Array.from({ length: 1 + siblings.length }, (_, i) => ref(nameOf(i), anchor!.dtype)),
    );
  made.set(context, known);
  return known;
}
