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
  const [below, beside] = bandTilings([low, wide], invocations);
  const parts = [whole];
  if (low > 0)
    parts.push({
      tiling: below,
      rows: { from: m, limit: rows },
      columns: { from: 0, limit: columns },
    });
  if (wide > 0)
    parts.push({ tiling: beside, rows: whole.rows, columns: { from: n, limit: columns } });
  const needs = (more: number): number => {
    const most = (of: "rows" | "columns"): number =>
      Math.max(...parts.map(({ tiling: t }) => (t[of] + more) * t.depth));
    return (most("rows") + most("columns")) * element;
  };
  return needs(0) <= memory ? { parts, memory: needs } : undefined;
}

/** Tiles of the band below and of the one beside, of so many lines each. */
function bandTilings([low, wide]: readonly [number, number], invocations: number) {
  const cut = (lines: number) => {
    // The finer the tiles, the more evenly they slow the whole tiles beside them; those of few lines have the less to join for it.
    const finer = lines <= 4 ? 4 : 2;
    const slices = Math.min(8, 64 / lines) * finer;
    return { across: invocations / 2 / finer, share: { depth: 32 * finer, slices } };
  };
  const [a, b] = [cut(low), cut(wide)];
  return [
    { rows: low, columns: a.across, tall: Math.min(low, 8), broad: 4, ...a.share },
    { rows: b.across, columns: wide, tall: 4, broad: Math.min(wide, 8), ...b.share },
  ] as const;
}

/** Whether a unit has no registers for anything beside a workgroup. */
const fillsUnit = (t: Tiling): boolean => invocationsOf(t) * t.tall * t.broad > 16384;

/** 0 where nothing is left. */
const widthOf = (rest: number, tile: number): number | undefined =>
  rest === 0 ? 0 : widths.find((w) => w >= rest && w <= tile / 2);
