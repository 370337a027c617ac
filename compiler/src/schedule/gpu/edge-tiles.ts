/**
 * Edge tiles: results a little beyond whole block tiles. A kernel's tiles leave them out, and
 * smaller tiles of other workgroups of the same kernel take them, of as many invocations each. A
 * band below has the last rows, one beside has the last columns of the other rows. Says which
 * bands there are and how they are cut; computes nothing.
 *
 * Why: waves bound it. 1025² is 289 tiles of 64 × 64 on 132 multiprocessors, three rounds where
 * 1024² takes two: 21 TFLOP/s instead of 32. With bands it is 30. A kernel for each part was
 * rejected (7 µs a launch, and results that are computed once would be stored by several), and so
 * were tiles of another height for the last band (docs/decisions/products-beyond-whole-tiles.md).
 */
import type { Dim } from "@kiln-ml/ir";
import { edges } from "../../machine/products.ts";
import { invocationsOf, type Tiling } from "../../machine/tile.ts";
import type { WorkgroupLimits } from "./workgroup-limits.ts";

/** Lines from one up to another. */
interface Range {
  readonly from: number;
  readonly limit: number;
}

/** A rectangle of results, and the tiles that cut it. */
export interface Region {
  readonly tiling: Tiling;
  readonly rows: Range;
  readonly columns: Range;
}

export interface Regions {
  /** In the order of workgroups: whole tiles first, the band below, the one beside. */
  readonly regions: readonly Region[];
  /** Bytes of workgroup memory, of arrays that hold any part's operands. */
  memory(more: number): number;
}

export const tilesOf = ({ tiling, rows, columns }: Region): number =>
  Math.ceil((rows.limit - rows.from) / tiling.bm) *
  Math.ceil((columns.limit - columns.from) / tiling.bn);

/** Undefined where nothing, or too much, is left beyond whole tiles, or where there is no room. */
export function regionsOf(
  tiling: Tiling,
  [rows, columns]: readonly [Dim, Dim],
  { memory, element }: Pick<WorkgroupLimits, "memory"> & { readonly element: number },
): Regions | undefined {
  if (typeof rows !== "number" || typeof columns !== "number") return undefined;
  const [m, n] = [rows - (rows % tiling.bm), columns - (columns % tiling.bn)];
  const [low, wide] = [widthOf(rows - m, tiling.bm), widthOf(columns - n, tiling.bn)];
  const invocations = invocationsOf(tiling);
  if (m === 0 || n === 0 || low === undefined || wide === undefined) return undefined;
  if (low + wide === 0 || invocations < edges.leastInvocations || fillsUnit(tiling))
    return undefined;
  const whole: Region = { tiling, rows: { from: 0, limit: m }, columns: { from: 0, limit: n } };
  const [below, beside] = edgeTilings([low, wide], invocations);
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
    const most = (of: "bm" | "bn"): number =>
      Math.max(...parts.map(({ tiling: t }) => (t[of] + more) * t.bk));
    return (most("bm") + most("bn")) * element;
  };
  return needs(0) <= memory ? { regions: parts, memory: needs } : undefined;
}

/** Tiles of the band below and of the one beside, of so many lines each. */
function edgeTilings([low, wide]: readonly [number, number], invocations: number) {
  const cut = (lines: number) => {
    // The finer the tiles, the more evenly they slow the whole tiles beside them; those of few
    // lines have the less to join for it.
    const finer = lines <= 4 ? 4 : 2;
    const slices = Math.min(8, edges.slicedLines / lines) * finer;
    return { across: invocations / 2 / finer, share: { bk: edges.depth * finer, slices } };
  };
  const [a, b] = [cut(low), cut(wide)];
  return [
    { bm: low, bn: a.across, tm: Math.min(low, 8), tn: 4, ...a.share },
    { bm: b.across, bn: wide, tm: 4, tn: Math.min(wide, 8), ...b.share },
  ] as const;
}

/** Whether a unit has no registers for anything beside a workgroup. */
const fillsUnit = (t: Tiling): boolean => invocationsOf(t) * t.tm * t.tn > edges.fullUnit;

/** 0 where nothing is left. */
const widthOf = (rest: number, tile: number): number | undefined =>
  rest === 0 ? 0 : edges.widths.find((w) => w >= rest && w <= tile / 2);
