/**
 * Results a little beyond whole tiles: a kernel's tiles leave them out, and smaller tiles of other workgroups of the same kernel take
 * them, of as many invocations each. A band below has the last rows, one beside the last columns of the other rows.
 * Says which bands there are and how they are cut; computes nothing.
 */
import type { Dim } from "@kiln-ml/ir";
import type { Room } from "./gpu-room.ts";
import { invocationsOf, type Tiling } from "./gpu-tile-size.ts";

/** Lines from one up to another. */
interface Range {
  readonly from: number;
  readonly limit: number;
}

/** A rectangle of results, and the tiles that cut it. */
export interface Part {
  readonly tiling: Tiling;
  readonly rows: Range;
  readonly columns: Range;
}

export interface Parts {
  /** In the order of workgroups: whole tiles first, the band below, the one beside. */
  readonly parts: readonly Part[];
  /** Bytes of workgroup memory, of arrays that hold any part's operands. */
  memory(more: number): number;
}

/** Lines of a band, the fewest that are enough. */
const widths = [4, 8, 16, 32];
/** Lines across a band, as parts of half a workgroup's invocations: the more tiles, the less each slows the whole tiles beside it. */
const fractions = [1, 2, 4];
/** Tiles of bands that are enough for a large card. */
const enough = 128;

export const tilesOf = ({ tiling, rows, columns }: Part): number =>
  Math.ceil((rows.limit - rows.from) / tiling.rows) *
  Math.ceil((columns.limit - columns.from) / tiling.columns);

/** Undefined where nothing, or too much, is left beyond whole tiles, or where there is no room. */
export function partsOf(
  tiling: Tiling,
  [rows, columns]: readonly [Dim, Dim],
  { memory, element }: Pick<Room, "memory"> & { readonly element: number },
): Parts | undefined {
  if (typeof rows !== "number" || typeof columns !== "number") return undefined;
  const [m, n] = [rows - (rows % tiling.rows), columns - (columns % tiling.columns)];
  const [low, wide] = [widthOf(rows - m, tiling.rows), widthOf(columns - n, tiling.columns)];
  const invocations = invocationsOf(tiling);
  if (m === 0 || n === 0 || low === undefined || wide === undefined) return undefined;
  if (low + wide === 0 || invocations < 64 || fillsUnit(tiling)) return undefined;
  const whole: Part = { tiling, rows: { from: 0, limit: m }, columns: { from: 0, limit: n } };
  const bandsBy = (fraction: number): Part[] => {
    const across = invocations / 2 / fraction;
    const tilings = bandTilings([low, wide], across, fraction);
    const below = { from: m, limit: rows };
    const beside = { from: n, limit: columns };
    return [
      ...(low ? [{ tiling: tilings[0], rows: below, columns: { from: 0, limit: columns } }] : []),
      ...(wide ? [{ tiling: tilings[1], rows: whole.rows, columns: beside }] : []),
    ];
  };
  const cuts = fractions.map(bandsBy);
  const count = (bands: readonly Part[]): number => bands.reduce((sum, b) => sum + tilesOf(b), 0);
  const parts = [whole, ...(cuts.find((bands) => count(bands) >= enough) ?? cuts.at(-1)!)];
  // A tile of halves has no room for sums.
  const sums = element < 4 ? invocations * 16 : 0;
  const needs = (more: number): number => {
    const most = (of: "rows" | "columns"): number =>
      Math.max(...parts.map(({ tiling: t }) => (t[of] + more) * t.depth));
    return (most("rows") + most("columns")) * element + sums;
  };
  return needs(0) <= memory ? { parts, memory: needs } : undefined;
}

/** Tiles of the band below and of the one beside, of so many lines each, and `across` in the other direction. */
function bandTilings([low, wide]: readonly [number, number], across: number, fraction: number) {
  const share = (lines: number) => ({
    depth: 32 * fraction,
    slices: Math.min(8, 64 / lines) * fraction,
  });
  return [
    { rows: low, columns: across, tall: Math.min(low, 8), broad: 4, ...share(low) },
    { rows: across, columns: wide, tall: 4, broad: Math.min(wide, 8), ...share(wide) },
  ] as const;
}

/** Whether a unit has no registers for anything beside a workgroup. */
const fillsUnit = (t: Tiling): boolean => invocationsOf(t) * t.tall * t.broad > 16384;

/** 0 where nothing is left. */
const widthOf = (rest: number, tile: number): number | undefined =>
  rest === 0 ? 0 : widths.find((w) => w >= rest && w <= tile / 2);
