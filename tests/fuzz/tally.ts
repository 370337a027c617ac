/**
 * What came of many inputs of one reader, as a row of a table.
 */
import { inputsOf } from "./inputs.ts";
import type { FuzzReader } from "./readers.ts";
import { judge } from "./verdict.ts";

export interface Tally {
  readonly name: string;
  readonly inputs: number;
  readonly accepted: number;
  readonly refused: number;
  readonly slowestMs: number;
  readonly worstBytes: number;
  /** The first input that was neither read nor refused as it must be. */
  readonly fault?: { readonly index: number; readonly kind: string; readonly what: string };
}

/** Runs `count` inputs from number `first` on; stops at the first fault. `begin` hears the number of each before it runs. */
export async function fuzzReader(
  reader: FuzzReader,
  seed: number,
  count: number,
  first = 0,
  begin: (index: number) => void = () => {},
): Promise<Tally> {
  const counts = { accepted: 0, refused: 0, fault: 0 };
  let [inputs, slowestMs, worstBytes] = [0, 0, 0];
  const sum = () => ({ name: reader.name, inputs, ...counts, slowestMs, worstBytes });
  for (const { index, kind, bytes } of inputsOf(reader, seed, count, first)) {
    begin(index);
    const verdict = await judge(reader, bytes);
    inputs++;
    counts[verdict.outcome]++;
    slowestMs = Math.max(slowestMs, verdict.elapsedMs);
    worstBytes = Math.max(worstBytes, verdict.bytes);
    if (verdict.outcome === "fault")
      return { ...sum(), fault: { index, kind, what: verdict.fault ?? "" } };
  }
  const { fault: _, ...whole } = sum();
  return whole;
}

const columns = ["inputs", "accepted", "refused"] as const;

/** The head of the table. */
export const headOf = (): string =>
  [
    "reader".padEnd(18),
    ...columns.map((c) => c.padStart(10)),
    "slowest".padStart(12),
    "worst memory".padStart(14),
  ].join("");

/** A row of the table. */
export const rowOf = (t: Tally): string =>
  [
    t.name.padEnd(18),
    ...columns.map((c) => t[c].toLocaleString("en-US").padStart(10)),
    `${t.slowestMs.toFixed(1)} ms`.padStart(12),
    `${(t.worstBytes / 2 ** 20).toFixed(1)} MiB`.padStart(14),
  ].join("");

/** The last row: sums, and the worst of each. */
export function totalOf(tallies: readonly Tally[]): Tally {
  const [inputs, accepted, refused] = columns.map((c) => tallies.reduce((n, t) => n + t[c], 0)) as [
    number,
    number,
    number,
  ];
  const slowestMs = Math.max(0, ...tallies.map((t) => t.slowestMs));
  const worstBytes = Math.max(0, ...tallies.map((t) => t.worstBytes));
  return { name: "total", inputs, accepted, refused, slowestMs, worstBytes };
}
