/**
 * The GPU table for people: a row a case with what it reached of the limit and of each peer, and the goals with whether they are met.
 * Ratios are of one run; above 1 is faster than the peer.
 */
import type { Goal } from "./gpu-cases.ts";

export interface GpuResult {
  readonly case: string;
  readonly ms: number;
  readonly kernels: number;
  readonly gbPerS: number;
  readonly tflopPerS: number;
  readonly cpuMicroseconds: number;
  /** The share of the copy rate, where memory is the limit. */
  readonly ofCopy?: number;
  readonly peers: Readonly<Record<string, number>>;
  readonly goal?: Goal | undefined;
}

/** How much of the rate a shape that tiles do not divide keeps. */
const keptBeside = 0.85;
/** How many times as fast as the better of the web's. */
const ofWeb = 2;

const best = (row: GpuResult, of: (peer: string) => boolean): number | undefined => {
  const times = Object.entries(row.peers).flatMap(([peer, ms]) => (of(peer) ? [ms] : []));
  return times.length ? Math.min(...times) : undefined;
};
const isTorch = (peer: string): boolean => peer.startsWith("torch");

interface Check {
  readonly text: string;
  readonly met: boolean;
}

/** With as many digits as show that it is less. */
const shown = (value: number, wanted: number): string => {
  const short = value.toFixed(2);
  return value < wanted && short === wanted.toFixed(2) ? value.toFixed(4) : short;
};

const least = (what: string, value: number | undefined, wanted: number | undefined): Check[] =>
  value === undefined || wanted === undefined
    ? []
    : [{ text: `${what} ${shown(value, wanted)} ≥ ${wanted.toFixed(2)}`, met: value >= wanted }];

const most = (what: string, value: number, wanted: number | undefined): Check[] =>
  wanted === undefined
    ? []
    : [{ text: `${what} ${value.toPrecision(3)} ≤ ${wanted}`, met: value <= wanted }];

function checksOf(row: GpuResult, all: readonly GpuResult[]): Check[] {
  const goal = row.goal ?? {};
  const [torch, web] = [best(row, isTorch), best(row, (p) => !isTorch(p))];
  const beside = all.find((r) => r.case === goal.beside);
  return [
    ...least("of torch", torch && torch / row.ms, goal.torch),
    ...least("of copy", row.ofCopy, goal.copy),
    ...most("ms", row.ms, goal.ms),
    ...most("cpu µs", row.cpuMicroseconds, goal.cpuMicroseconds),
    ...least(
      `of ${goal.beside}`,
      beside && row.tflopPerS / beside.tflopPerS,
      goal.beside ? keptBeside : undefined,
    ),
    ...least("of web", web && web / row.ms, ofWeb),
  ];
}

const share = (peer: number | undefined, ms: number): string =>
  peer === undefined ? "" : `${(peer / ms).toFixed(2)}×`;

/** The table, and how many of the goals are missed. */
export function gpuTable(all: readonly GpuResult[]): {
  readonly text: string;
  readonly missed: number;
} {
  const head = [
    "row",
    "ms",
    "TFLOP/s",
    "GB/s",
    "of copy",
    "kernels",
    "cpu µs",
    "of torch",
    "of tfjs",
    "of jax-js",
    "goals",
  ];
  const checks = all.map((row) => checksOf(row, all));
  const lines = all.map((row, i) => [
    row.case,
    row.ms.toPrecision(4),
    row.tflopPerS.toFixed(1),
    row.gbPerS.toFixed(0),
    row.ofCopy?.toFixed(2) ?? "",
    String(row.kernels),
    row.cpuMicroseconds.toFixed(0),
    share(best(row, isTorch), row.ms),
    share(
      best(row, (p) => p === "tfjs"),
      row.ms,
    ),
    share(
      best(row, (p) => p === "jax-js"),
      row.ms,
    ),
    checks[i]!.map((c) => `${c.text} ${c.met ? "met" : "MISSED"}`).join(", "),
  ]);
  const widths = head.map((h, i) => Math.max(h.length, ...lines.map((l) => l[i]!.length)));
  const text = [head, ...lines]
    .map((l) =>
      l
        .map((x, i) => x.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
  return { text, missed: checks.flat().filter((c) => !c.met).length };
}
