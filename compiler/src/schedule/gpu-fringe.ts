/**
 * Results a little beyond whole tiles: a kernel's tiles leave them out, and smaller tiles of other workgroups of the same kernel take
 * them, of as many invocations each. A band below has the last rows, one beside the last columns of the other rows.
 * Says which bands there are and how they are cut; computes nothing.
 */
import type { Dim } from "@kiln-ml/ir";
import type { Room } from "./gpu-room.ts";
import { apart } from "./gpu-tile-load.ts";
import { invocationsOf, memoryOf, type Tiling } from "./gpu-tile-size.ts";

/** A rectangle of results, and the tiles that cut it. */
export interface Part {
  readonly tiling: Tiling;
  readonly rows: readonly [from: number, limit: number];
  readonly columns: readonly [from: number, limit: number];
}

export interface Parts {
  /** In the order of workgroups. */
  readonly parts: readonly Part[];
  /** Bytes of workgroup memory, of arrays that hold any part's operands. */
  memory(more: number): number;
}

/** Lines of a band, the fewest that are enough. */
const widths = [8, 16, 32];
/** Steps of k between barriers of a band: few barriers matter more than many results. */
const depths = [32, 16, 8];
/** Memory that more depth is worth, where tiles do without. */
const spare = 20480;

export const tilesOf = ({ tiling, rows, columns }: Part): number =>
  Math.ceil((rows[1] - rows[0]) / tiling.rows) *
  Math.ceil((columns[1] - columns[0]) / tiling.columns);

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
  if (low + wide === 0 || invocations < 64) return undefined;
  const cut = (depth: number): Parts => {
    const half = invocations / 2;
    const below = { rows: low, columns: half, tall: low / 8, broad: 4, depth };
    const beside = { rows: half, columns: wide, tall: wide / 8, broad: 4, depth };
    const parts: Part[] = [
      ...(low ? [{ tiling: below, rows: [m, rows], columns: [0, columns] } as const] : []),
      ...(wide ? [{ tiling: beside, rows: [0, m], columns: [n, columns] } as const] : []),
      { tiling, rows: [0, m], columns: [0, n] },
    ];
    return { parts, memory: (more) => memoryOfAll(parts, element, more) };
  };
  const most = Math.min(memory, Math.max(spare, memoryOf(tiling, element, apart)));
  const all = depths.map(cut);
  return all.find((p) => p.memory(apart) <= most) ?? all.find((p) => p.memory(0) <= memory);
}

/** 0 where nothing is left. */
const widthOf = (rest: number, tile: number): number | undefined =>
  rest === 0 ? 0 : widths.find((w) => w >= rest && w <= tile / 2);

function memoryOfAll(parts: readonly Part[], element: number, more: number): number {
  const most = (of: "rows" | "columns"): number =>
    Math.max(...parts.map(({ tiling: t }) => (t[of] + more) * t.depth));
  return (most("rows") + most("columns")) * element;
}
