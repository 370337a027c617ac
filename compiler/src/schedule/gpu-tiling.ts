/**
 * How a GPU cuts a contraction into tiles: the results a workgroup computes, the share of an invocation, and the steps of k
 * brought to workgroup memory at a time. A model of what each choice costs decides; nothing is measured here.
 */
import { ceilDiv, type Dim, maxOfDim } from "@kiln-ml/ir";

export interface Tiling {
  /** Results of a workgroup: lines of the one operand, lines of the other. */
  readonly rows: number;
  readonly columns: number;
  /** Results of an invocation, multiples of 4. */
  readonly tall: number;
  readonly broad: number;
  /** Steps of k between barriers. */
  readonly depth: number;
}

export const invocationsOf = (t: Tiling): number => (t.rows / t.tall) * (t.columns / t.broad);

/** Bytes of workgroup memory; elements are kept as words. */
export const memoryOf = (t: Tiling): number => (t.rows + t.columns) * t.depth * 4;

/** Tilings and the share of the arithmetic rate they reached on a large product, on the card they were tried on. */
const choices: readonly (readonly [Tiling, number])[] = [
  [{ rows: 128, columns: 256, tall: 8, broad: 16, depth: 16 }, 1],
  [{ rows: 64, columns: 256, tall: 8, broad: 16, depth: 16 }, 0.98],
  [{ rows: 128, columns: 128, tall: 8, broad: 16, depth: 16 }, 0.96],
  [{ rows: 64, columns: 128, tall: 8, broad: 16, depth: 16 }, 0.93],
  [{ rows: 64, columns: 128, tall: 4, broad: 16, depth: 16 }, 0.8],
  [{ rows: 64, columns: 64, tall: 4, broad: 8, depth: 16 }, 0.7],
  [{ rows: 64, columns: 64, tall: 8, broad: 4, depth: 16 }, 0.75],
  [{ rows: 32, columns: 128, tall: 4, broad: 8, depth: 16 }, 0.7],
  [{ rows: 128, columns: 32, tall: 8, broad: 4, depth: 16 }, 0.7],
  [{ rows: 32, columns: 64, tall: 4, broad: 4, depth: 16 }, 0.55],
  [{ rows: 32, columns: 32, tall: 4, broad: 4, depth: 16 }, 0.45],
  [{ rows: 16, columns: 64, tall: 4, broad: 4, depth: 16 }, 0.4],
  [{ rows: 16, columns: 16, tall: 4, broad: 4, depth: 16 }, 0.2],
];

/** Compute units of a large card: a tiling that leaves some idle is as slow as if it filled them. */
const units = 128;
/** What a symbolic extent is taken to be. */
const usual = 1024;

const sizeOf = (d: Dim): number => {
  const most = maxOfDim(d);
  return typeof d === "number" ? d : Math.min(most, usual);
};

export interface Capacity {
  readonly invocations: number;
  readonly memory: number;
}

/** The tiling of least cost for results of m by n, `batch` times. */
export function tilingOf(m: Dim, n: Dim, batch: Dim, capacity: Capacity): Tiling {
  const [rows, columns, times] = [sizeOf(m), sizeOf(n), sizeOf(batch)];
  let best: { tiling: Tiling; cost: number } | undefined;
  for (const [tiling, rate] of choices) {
    if (invocationsOf(tiling) > capacity.invocations || memoryOf(tiling) > capacity.memory)
      continue;
    const tiles =
      (ceilDiv(rows, tiling.rows) as number) * (ceilDiv(columns, tiling.columns) as number) * times;
    // Alone on its unit, a workgroup of few invocations leaves it waiting.
    const together = Math.min(1, (invocationsOf(tiling) * Math.max(1, tiles / units)) / 128);
    const rounds = tiles > units ? tiles / units + 0.3 : 1;
    const cost = (rounds * tiling.rows * tiling.columns) / (rate * together ** 0.7);
    if (!best || cost < best.cost) best = { tiling, cost };
  }
  return best!.tiling;
}
