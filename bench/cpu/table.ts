/**
 * The CPU table for people: one workload a line, each cell the milliseconds for one thread and
 * more. Computes nothing that is not in the rows.
 */
import { digits } from "../row.ts";
import { ours, peers } from "./columns.ts";
import type { Measured } from "./measure.ts";
import {
  behind,
  counted,
  meanRatio,
  ourTime,
  type Result,
  ratioTo,
  rivalsOf,
  tolerance,
} from "./rows.ts";

function cell(m: Measured | undefined): string {
  if (!m) return "–";
  if (m.timing) return digits(m.timing.median);
  const error = m.error ?? "";
  return error === "–" || error.startsWith(">") ? error : "failed";
}

/** Several cells as one; the same mark for all of them is written once. */
function joined(cells: readonly string[]): string {
  return cells.every((c) => c === "–") ? "–" : cells.join(" / ");
}

function ratios(r: Result, kind: "web" | "native", threads: readonly number[]): string {
  return joined(
    threads.map((count) => {
      const ratio = ratioTo(r, kind, count);
      return ratio === undefined ? "–" : `${ratio.toPrecision(2)}×`;
    }),
  );
}

function goalOf(r: Result, target: string): string {
  const { goalMs, ofNative = 1 } = r.workload;
  if (goalMs === undefined) return "–";
  if (rivalsOf(target) === "native") {
    const ratio = ratioTo(r, "native", 1);
    return `≥ ${ofNative}× ${ratio === undefined ? "?" : ratio >= ofNative ? "met" : "MISSED"}`;
  }
  const time = ourTime(r, 1)?.timing?.median;
  const verdict = time === undefined ? "?" : time <= goalMs ? "met" : "MISSED";
  return `≤ ${goalMs} ${verdict}`;
}

function line(r: Result, threads: readonly number[], target: string): string[] {
  const timesOf = (name: string, counts: readonly number[]): string =>
    joined(
      counts.map((count) => cell(r.measured.find((m) => m.name === name && m.threads === count))),
    );
  return [
    r.workload.title,
    timesOf(ours.name, threads),
    ...peers.map(({ name, threaded }) => timesOf(name, threaded ? threads : [1])),
    ratios(r, "web", threads),
    ratios(r, "native", threads),
    goalOf(r, target),
  ];
}

export function cpuTable(
  results: readonly Result[],
  threads: readonly number[],
  target: string,
): string {
  const head = [
    `ms, threads ${threads.join(" / ")}`,
    ours.name,
    ...peers.map(({ name }) => name),
    "of web",
    "of native",
    "goal, 1 thread",
  ];
  const lines = [head, ...results.map((r) => line(r, threads, target))];
  const used = head.map((_, i) => lines.slice(1).some((l) => l[i] !== "–"));
  const shown = lines.map((l) => l.filter((_, i) => used[i]));
  const widths = shown[0]!.map((_, i) => Math.max(...shown.map((l) => l[i]!.length)));
  return shown
    .map((l) =>
      l
        .map((text, i) => text.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** One workload as soon as it is measured: a run that is ended early has shown what it had. */
export const progress = ({ workload, measured }: Result): string =>
  `${workload.name}: ${measured
    .filter((m) => m.error !== "–")
    .map((m) => `${m.name}/${m.threads} ${cell(m)}`)
    .join(", ")}`;

/** What is asked of the whole: the mean, and no row behind. */
export function cpuSummary(
  results: readonly Result[],
  threads: readonly number[],
  target: string,
): string[] {
  const kinds = rivalsOf(target) === "web" ? (["web"] as const) : (["native", "web"] as const);
  return threads.flatMap((count) =>
    kinds.flatMap((kind) => {
      const mean = meanRatio(results, count, kind);
      if (mean === undefined) return [];
      const late = behind(results, count, kind);
      return `threads ${count}: ${mean.toFixed(2)}× the best ${kind} peer in the geometric mean of ${counted(results).length} rows; behind: ${late.join(", ") || "none"}`;
    }),
  );
}

/** Results that are not equal, and processes that failed. */
export function cpuTroubles(results: readonly Result[]): string[] {
  return results.flatMap(({ workload, measured }) =>
    measured
      .filter((m) => m.error !== undefined && m.error !== "–")
      .map((m) => `${workload.name}: ${m.name}, threads ${m.threads}: ${m.error}`),
  );
}

export const mismatch = (name: string, by: number | null, note = ""): string =>
  `${name}: results differ by ${by?.toExponential(1)}, ${note}; at most ${tolerance} is equal`;
