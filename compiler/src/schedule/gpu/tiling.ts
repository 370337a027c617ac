/**
 * How a GPU cuts a contraction into block tiles: BM × BN results a workgroup, TM × TN an
 * invocation, BK terms of K staged at a time. A model of what each choice costs decides; nothing
 * is measured here.
 *
 * The model is that of `machine/seconds.ts`, with register pressure and edge tiles. Over 42
 * products whose every tile had been timed its choice took 2 % longer than the best on average; the
 * rate and the number of rounds alone, 10 % (docs/decisions/gpu-contraction.md;
 * tests/gpu/timed-products.test.ts).
 */
import { type Dim, maxOfDim } from "@kiln-ml/ir";
import { edges, tileModel as model, pressure } from "../../machine/products.ts";
import { isLarge, tilesCost } from "../../machine/seconds.ts";
import { invocationsOf, memoryOf, type Tiling } from "../../machine/tile.ts";
import { tileRates, trialTile } from "../../machine/tile-rates.ts";
import { card } from "../../machine/webgpu.ts";
import { type Region, type Regions, regionsOf, tilesOf } from "./edge-tiles.ts";
import type { WorkgroupLimits } from "./workgroup-limits.ts";

const sizeOf = (d: Dim): number => {
  const most = maxOfDim(d);
  return typeof d === "number" ? d : Math.min(most, model.usual);
};

export interface Capacity extends WorkgroupLimits {
  /** Bytes that an element of an operand takes there. */
  readonly element: number;
  /** Whether a kernel may have tiles of several sizes. */
  readonly mixed: boolean;
}

const fits = (t: Tiling, { invocations, memory, element }: Capacity): boolean =>
  invocationsOf(t) <= invocations &&
  memoryOf(t, element) <= memory &&
  (!isLarge(t) || memory >= model.large);

/** Operands that are brought one element at a time. */
export interface ScalarLoads {
  readonly rows: boolean;
  readonly columns: boolean;
  /** Whether each is guarded in every step. */
  readonly guarded: boolean;
  /** Whether each has a place of its own in a window. */
  readonly window: boolean;
  /** Whether elements are widened on their way, four by four or singly. */
  readonly widened: boolean;
}

/** A tiling that every device takes, to try what operands are like. */
export const trial: Tiling = trialTile;

/**
 * Fraction of the rate left after register pressure. Scalar loads are staged in registers; past
 * so many live values the kernel spills, earlier if loads are guarded or if it has tiles of several
 * shapes. Large thread tiles also leave few registers for address arithmetic.
 */
function registerPressureRate(t: Tiling, singles: ScalarLoads, mixed: boolean): number {
  const lines = (singles.rows ? t.bm : 0) + (singles.columns ? t.bn : 0);
  const held = (lines * t.bk) / invocationsOf(t);
  const results = t.tm * t.tn;
  if (singles.widened && held === 0) return results > model.many ? pressure.widened : 1;
  const live = (singles.guarded ? pressure.guarded : pressure.live) - (mixed ? pressure.mixed : 0);
  if (held + results > live) return pressure.spilled;
  if (held === 0) return 1;
  const many = held > pressure.many;
  if (singles.window && results > model.middle)
    return many ? pressure.windowOfMany : pressure.window;
  return many && results <= model.many ? pressure.rateOfMany : pressure.rate;
}

/** What a product computes. */
export interface Extents {
  readonly rows: Dim;
  readonly columns: Dim;
  readonly batch: Dim;
  /** Terms of each sum. */
  readonly length: Dim;
  /** What is read and stored for each result at the end. */
  readonly epilogueTraffic: number;
}

/**
 * Cost of edge tiles, whose invocations read much for few results. Fewer than as many invocations
 * as whole tiles have hide no latency, and more find no room beside them.
 */
function edgeCost(band: Region): number {
  const { tiling } = band;
  const area = tiling.bm * tiling.bn;
  const rate = invocationsOf(tiling) === edges.invocations ? edges.rate : edges.otherRate;
  return ((tilesOf(band) / card.units) * area) / rate;
}

/**
 * A tiling, and the parts of the results where what is left beyond whole tiles is tiled otherwise.
 */
export interface Cut {
  readonly tiling: Tiling;
  readonly mixed: Regions | undefined;
}

/** How a choice among tilings is written. */
export const nameOfCut = ({ tiling: { bm, bn, tm, tn, bk }, mixed }: Cut): string =>
  `${bm}x${bn} ${tm}x${tn} ${bk}${mixed ? " and rest" : ""}`;

/** Tilings that cost more than this many times the least are not worth a trial. */
const hopeless = 4;

/** Cuts of a product: that of least cost first. */
export function cutsOf(extents: Extents, capacity: Capacity, singles: ScalarLoads): Cut[] {
  const [rows, columns, times] = [extents.rows, extents.columns, extents.batch].map(sizeOf) as [
    number,
    number,
    number,
  ];
  const sums = { length: sizeOf(extents.length), epilogueTraffic: extents.epilogueTraffic };
  const costs: { cut: Cut; cost: number }[] = [];
  for (const [tiling, large] of tileRates) {
    if (!fits(tiling, capacity)) continue;
    const rateOf = (mixed: boolean): number => large * registerPressureRate(tiling, singles, mixed);
    const range = (limit: number) => ({ from: 0, limit });
    const whole = { tiling, rows: range(rows), columns: range(columns) };
    const cost = tilesCost(tiling, rateOf(false), tilesOf(whole) * times, sums, card);
    costs.push({ cut: { tiling, mixed: undefined }, cost });
    const both = [extents.rows, extents.columns] as const;
    const mixed = capacity.mixed ? regionsOf(tiling, both, capacity) : undefined;
    if (!mixed) continue;
    const [most, ...bands] = mixed.regions;
    const main = tilesCost(tiling, rateOf(true), tilesOf(most!) * times, sums, card);
    const rest = bands.reduce((sum, b) => sum + edgeCost(b) * times, 0);
    costs.push({ cut: { tiling, mixed }, cost: model.worthEdges * (main + rest) });
  }
  costs.sort((a, b) => a.cost - b.cost);
  const least = costs[0]!.cost;
  return costs.filter((c) => c.cost <= hopeless * least).map((c) => c.cut);
}
