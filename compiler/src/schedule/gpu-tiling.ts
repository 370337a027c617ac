/**
 * How a GPU cuts a contraction into tiles: the results a workgroup computes, the share of an invocation, and the steps of k
 * brought to workgroup memory at a time. A model of what each choice costs decides; nothing is measured here.
 */
import { type Dim, maxOfDim } from "@kiln-ml/ir";
import { type Part, type Parts, partsOf, tilesOf } from "./gpu-fringe.ts";
import type { Room } from "./gpu-room.ts";
import { invocationsOf, memoryOf, type Tiling } from "./gpu-tile-size.ts";

/**
 * Tilings and the share of the arithmetic rate they reached on a large product, on the card they were tried on. Of those that have
 * not been tried it is a guess, and only a tuner takes them.
 */
const choices: readonly (readonly [Tiling, number, "untried"?])[] = [
  [{ rows: 128, columns: 128, tall: 8, broad: 16, depth: 16 }, 1],
  [{ rows: 64, columns: 256, tall: 8, broad: 16, depth: 16 }, 0.98],
  [{ rows: 64, columns: 128, tall: 8, broad: 16, depth: 16 }, 0.97],
  [{ rows: 128, columns: 256, tall: 8, broad: 16, depth: 16 }, 0.8],
  [{ rows: 64, columns: 128, tall: 8, broad: 8, depth: 16 }, 0.85],
  [{ rows: 128, columns: 128, tall: 8, broad: 8, depth: 16 }, 0.85],
  [{ rows: 64, columns: 64, tall: 8, broad: 4, depth: 16 }, 0.82],
  [{ rows: 32, columns: 128, tall: 8, broad: 4, depth: 16 }, 0.8],
  [{ rows: 128, columns: 32, tall: 8, broad: 4, depth: 16 }, 0.75],
  [{ rows: 32, columns: 64, tall: 4, broad: 4, depth: 16 }, 0.6],
  [{ rows: 32, columns: 32, tall: 4, broad: 4, depth: 16 }, 0.45],
  [{ rows: 16, columns: 64, tall: 4, broad: 4, depth: 16 }, 0.4],
  [{ rows: 16, columns: 16, tall: 4, broad: 4, depth: 16 }, 0.2],
  [{ rows: 128, columns: 128, tall: 8, broad: 16, depth: 8 }, 0.95, "untried"],
  [{ rows: 64, columns: 128, tall: 8, broad: 16, depth: 8 }, 0.92, "untried"],
  [{ rows: 64, columns: 128, tall: 8, broad: 16, depth: 32 }, 0.95, "untried"],
  [{ rows: 128, columns: 128, tall: 16, broad: 8, depth: 16 }, 0.9, "untried"],
  [{ rows: 128, columns: 64, tall: 8, broad: 8, depth: 16 }, 0.85, "untried"],
  [{ rows: 64, columns: 64, tall: 8, broad: 8, depth: 16 }, 0.83, "untried"],
  [{ rows: 64, columns: 64, tall: 4, broad: 8, depth: 32 }, 0.75, "untried"],
];

/** Compute units of a large card: a tiling that leaves some idle is as slow as if it filled them. */
const units = 128;
/** What a symbolic extent is taken to be. */
const usual = 1024;

const sizeOf = (d: Dim): number => {
  const most = maxOfDim(d);
  return typeof d === "number" ? d : Math.min(most, usual);
};

export interface Capacity extends Room {
  /** Bytes that an element of an operand takes there. */
  readonly element: number;
  /** Whether a kernel may have tiles of several sizes. */
  readonly mixed: boolean;
}

/** Devices with less workgroup memory than this have smaller register files as well. */
const large = 49152;

const fits = (t: Tiling, { invocations, memory, element }: Capacity): boolean =>
  invocationsOf(t) <= invocations &&
  memoryOf(t, element) <= memory &&
  (t.tall * t.broad <= 64 || memory >= large);

/** Operands that are brought one element at a time. */
export interface Singles {
  readonly rows: boolean;
  readonly columns: boolean;
  /** Whether each is guarded in every step. */
  readonly guarded: boolean;
}

/** A tiling that every device takes, to try what operands are like. */
export const trial: Tiling = { rows: 64, columns: 64, tall: 4, broad: 8, depth: 16 };

/**
 * What is left of the rate where an invocation holds single elements on their way: beyond some, registers run out, and the
 * sooner where each is guarded.
 */
function heldRate(t: Tiling, singles: Singles): number {
  const lines = (singles.rows ? t.rows : 0) + (singles.columns ? t.columns : 0);
  const held = (lines * t.depth) / invocationsOf(t);
  if (held + t.tall * t.broad > (singles.guarded ? 155 : 170)) return 0.4;
  return held > 24 ? 0.85 : held > 0 ? 0.95 : 1;
}

/** Of bands, whose invocations read much for few results. */
function bandCost(band: Part): number {
  const { tiling } = band;
  const area = tiling.rows * tiling.columns;
  return ((tilesOf(band) / units) * area) / 0.3;
}

type Extents = readonly [rows: Dim, columns: Dim, batch: Dim];

/** A tiling, and the parts of the results where what is left beyond whole tiles is tiled otherwise. */
export interface Cut {
  readonly tiling: Tiling;
  readonly mixed: Parts | undefined;
}

/** How a choice among tilings is written. */
export const nameOfCut = ({ tiling: { rows, columns, tall, broad, depth }, mixed }: Cut): string =>
  `${rows}x${columns} ${tall}x${broad} ${depth}${mixed ? " and rest" : ""}`;

/** Tilings that cost more than this many times the least are not worth a trial. */
const hopeless = 4;

/** Tilings for results of some rows by some columns, `batch` times: that of least cost first, of those that were tried. */
export function cutsOf(extents: Extents, capacity: Capacity, singles: Singles): Cut[] {
  const [rows, columns, times] = extents.map(sizeOf) as [number, number, number];
  const costs: { cut: Cut; cost: number; untried: boolean }[] = [];
  for (const [tiling, rate, untried] of choices) {
    if (!fits(tiling, capacity)) continue;
    const range = (limit: number) => ({ from: 0, limit });
    const whole = { tiling, rows: range(rows), columns: range(columns) };
    const costOf = (tiles: number): number => {
      // Alone on its unit, a workgroup of few invocations leaves it waiting.
      const together = Math.min(1, (invocationsOf(tiling) * Math.max(1, tiles / units)) / 128);
      const rounds = tiles > units ? tiles / units + 0.3 : 1;
      return (
        (rounds * tiling.rows * tiling.columns) /
        (rate * heldRate(tiling, singles) * together ** 0.7)
      );
    };
    const put = (mixed: Parts | undefined, cost: number): unknown =>
      costs.push({ cut: { tiling, mixed }, cost, untried: untried !== undefined });
    put(undefined, costOf(tilesOf(whole) * times));
    const mixed = capacity.mixed ? partsOf(tiling, [extents[0], extents[1]], capacity) : undefined;
    if (!mixed) continue;
    const [most, ...bands] = mixed.parts;
    const rest = bands.reduce((sum, b) => sum + bandCost(b) * times, 0);
    put(mixed, costOf(tilesOf(most!) * times) + rest);
  }
  costs.sort((a, b) => a.cost - b.cost);
  const best = costs.find((c) => !c.untried)!;
  const others = costs.filter((c) => c !== best && c.cost <= hopeless * best.cost);
  return [best, ...others].map((c) => c.cut);
}
