/**
 * What a product takes on a card, by what its tiles reach of the card's rates. Schedules and passes
 * ask here; nothing is measured. `secondsOf` in `machine.ts` is for kernels of any kind.
 *
 * Tiles: time = waves · work of a wave / rate. The rate of a tile was measured on a large product;
 * it falls with occupancy (fewer invocations than fit), and by a prologue and epilogue that count
 * as steps of K. What a schedule knows besides, such as register pressure, is in the rate that it
 * asks with.
 */
import type { Card } from "./machine.ts";
import { tileModel as model } from "./products.ts";
import { invocationsOf, type Tiling } from "./tile.ts";
import { tileRates } from "./tile-rates.ts";

/** Whether a thread tile has so many results that occupancy suffers. */
export function isLarge(t: Tiling): boolean {
  return t.tm * t.tn > model.many;
}

/** Invocations resident on a unit, by the registers that a thread tile takes: occupancy. */
function residentOf(t: Tiling): number {
  const { many, middle, small } = model.resident;
  return isLarge(t) ? many : t.tm * t.tn > model.middle ? middle : small;
}

export interface Sums {
  /** Terms of each. */
  readonly length: number;
  /** What is read and stored for each result at the end. */
  readonly epilogueTraffic: number;
}

/**
 * What `count` workgroups take that are resident on one unit, in results at the full rate. Low
 * occupancy exposes memory latency, more so with large thread tiles; with few resident workgroups,
 * the prologue and epilogue of one overlap less with the main loop of another.
 */
function waveCost(t: Tiling, rate: number, count: number, sums: Sums): number {
  const many = isLarge(t);
  const full = residentOf(t);
  const here = Math.min(full, count * invocationsOf(t));
  const idle = t.tm * t.tn > model.middle ? Math.min(1, here / model.parted) : 1;
  const waits = many
    ? (here / full) ** model.latency.many
    : (here / full) ** model.latency.others * idle;
  const more = (model.overhead * (1 + sums.epilogueTraffic) * (many ? 2 : 1)) / count;
  return (count * t.bm * t.bn * (sums.length + more)) / (rate * waits * Math.max(1, sums.length));
}

/**
 * What a product of so many tiles takes, in results of a unit at the full rate. A unit takes as
 * many workgroups as it has room for, wave after wave; the launch ends with those that have one
 * more than the others.
 */
export function tilesCost(t: Tiling, rate: number, tiles: number, sums: Sums, card: Card): number {
  const room = Math.max(1, Math.floor(residentOf(t) / invocationsOf(t)));
  const each = tiles / card.units;
  const waves = Math.floor(each / room);
  const rest = Math.ceil(each - waves * room);
  const last = rest > 0 ? waveCost(t, rate, rest, sums) : 0;
  return last + (waves > 0 ? waves * waveCost(t, rate, room, sums) : 0);
}

export interface Product {
  readonly rows: number;
  readonly columns: number;
  readonly batch: number;
  readonly length: number;
}

/** Seconds of a product whose operands come in fours and whose results are stored, no more. */
export function secondsOfProduct({ rows, columns, batch, length }: Product, card: Card): number {
  const costs = tileRates.map(([t, rate]) => {
    const tiles = Math.ceil(rows / t.bm) * Math.ceil(columns / t.bn) * batch;
    return tilesCost(t, rate, tiles, { length, epilogueTraffic: 1 }, card);
  });
  return (2 * length * card.units * Math.min(...costs)) / card.flops;
}
