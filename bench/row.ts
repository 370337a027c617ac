/**
 * One measurement, its table for people and its lines for programs. Knows nothing of how a row was measured.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

export interface Row {
  readonly case: string;
  readonly target: string;
  readonly metric: string;
  readonly value: number | null;
  readonly unit: string;
  /** What the value is compared with, if with anything. */
  readonly peer?: string;
  readonly peerValue?: number;
  /** peerValue / value: how many times better than the peer. */
  readonly ratio?: number;
  readonly goal?: string;
  readonly met?: boolean;
  /** Half the distance between the quartiles over the median, of the worse side. */
  readonly spread?: number;
  readonly note?: string;
}

/** A row whose goal is a ratio to a peer of at least `least`. */
export function compared(
  row: Omit<Row, "ratio" | "met" | "goal"> & { value: number; peerValue: number },
  least?: number,
): Row {
  // Nothing is better than something by no factor.
  if (row.value === 0) return row;
  const ratio = row.peerValue / row.value;
  const goal = least === undefined ? {} : { goal: `≥ ${least}×`, met: ratio >= least };
  return { ...row, ratio, ...goal };
}

/** A row whose goal is a value of at most `most`. */
export function bounded(row: Omit<Row, "goal" | "met"> & { value: number }, most?: number): Row {
  return most === undefined ? row : { ...row, goal: `≤ ${most}`, met: row.value <= most };
}

export const missed = (rows: readonly Row[]): Row[] => rows.filter((r) => r.met === false);

/** Three significant digits; whole numbers stay whole. */
export const digits = (x: number): string =>
  Number.isInteger(x) ? String(x) : x >= 100 ? x.toFixed(0) : x.toPrecision(3);

export function table(rows: readonly Row[]): string {
  const head = ["case", "target", "metric", "value", "peer", "ratio", "goal", "spread", "note"];
  const body = rows.map((r) => [
    r.case,
    r.target,
    r.metric,
    r.value === null ? "–" : `${digits(r.value)} ${r.unit}`.trim(),
    r.peer ? `${r.peer} ${r.peerValue === undefined ? "–" : digits(r.peerValue)}` : "",
    r.ratio === undefined ? "" : `${digits(r.ratio)}×`,
    r.goal ? `${r.goal} ${r.met ? "met" : r.met === false ? "MISSED" : ""}`.trim() : "",
    r.spread === undefined ? "" : `±${(100 * r.spread).toFixed(0)}%`,
    r.note ?? "",
  ]);
  const used = head.map((h, i) => i === 0 || body.some((line) => line[i] !== "" && h !== ""));
  const lines = [head, ...body].map((line) => line.filter((_, i) => used[i]));
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((l) => l[i]!.length)));
  return lines
    .map((l) =>
      l
        .map((x, i) => x.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Writes bench/results/NAME.json: the rows, with what they were measured on. */
export function save(name: string, rows: readonly Row[]): string {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const cores = cpus();
  const machine = { cpu: cores[0]?.model ?? "unknown", cores: cores.length, node: process.version };
  const date = new Date().toISOString();
  const lines = rows.map((r) => `    ${JSON.stringify(r)}`).join(",\n");
  const head = JSON.stringify({ name, date, commit, machine }).slice(0, -1);
  mkdirSync("bench/results", { recursive: true });
  const path = `bench/results/${name}.json`;
  writeFileSync(path, `${head},\n  "rows": [\n${lines}\n  ]}\n`);
  return path;
}
