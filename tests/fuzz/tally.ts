/**
 * What came of many inputs of one reader, and the table of all.
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

/** The table of tallies, a row a reader. */
export function printTallies(tallies: readonly Tally[]): string {
  const total = (key: "inputs" | "accepted" | "refused") => tallies.reduce((n, t) => n + t[key], 0);
  const most = (key: "slowestMs" | "worstBytes") => Math.max(0, ...tallies.map((t) => t[key]));
  const rows = tallies.map((t) => [
    t.name,
    t.inputs,
    t.accepted,
    t.refused,
    t.slowestMs,
    t.worstBytes,
  ]);
  const last = [
    "total",
    total("inputs"),
    total("accepted"),
    total("refused"),
    most("slowestMs"),
    most("worstBytes"),
  ];
  const lines = [...rows, last].map(([name, inputs, accepted, refused, ms, bytes]) =>
    [
      String(name).padEnd(18),
      ...[inputs, accepted, refused].map((n) => Number(n).toLocaleString("en-US").padStart(10)),
      `${Number(ms).toFixed(1)} ms`.padStart(12),
      `${(Number(bytes) / 2 ** 20).toFixed(1)} MiB`.padStart(14),
    ].join(""),
  );
  const head = `${"reader".padEnd(18)}${["inputs", "accepted", "refused"].map((h) => h.padStart(10)).join("")}${"slowest".padStart(12)}${"worst memory".padStart(14)}`;
  return [head, ...lines].join("\n");
}
