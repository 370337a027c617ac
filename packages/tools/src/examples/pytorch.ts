/**
 * What PyTorch reaches with the recipes of the examples: bench/examples/run.py trains it, and what
 * that wrote is kept as rows of bench/results/pytorch.json, of which the page has a column.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { Example } from "./list.ts";

/** A line of run.py: one recipe with one seed. */
export interface Trained {
  readonly name: string;
  readonly seed: number;
  /** Not there where it failed. */
  readonly value?: number;
  readonly error?: string;
  readonly seconds: number;
  /** What the value is, such as "test accuracy". */
  readonly measures?: string;
  /** A card, or "one core". */
  readonly where?: string;
  readonly torch?: string;
}

export interface PytorchRow {
  readonly case: string;
  readonly target: string;
  readonly metric: string;
  /** The mean over seeds. */
  readonly value: number;
  /** The standard deviation over seeds, of one seed null. */
  readonly deviation: number | null;
  readonly seeds: number;
  /** Of one seed, on average. */
  readonly seconds?: number;
  readonly note?: string;
}

const record = "bench/results/pytorch.json";

export const pytorchRows = (path = record): readonly PytorchRow[] =>
  JSON.parse(readFileSync(path, "utf8")).rows;

const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;

/** A row for each recipe that ended with one seed or more, in the order of their first lines. */
export function rowsOf(trained: readonly Trained[]): PytorchRow[] {
  const good = trained.filter((t) => Number.isFinite(t.value));
  return [...new Set(good.map(({ name }) => name))].map((name) => {
    const own = good.filter((t) => t.name === name);
    const values = own.map(({ value }) => value!);
    const value = mean(values);
    const squares = values.map((v) => (v - value) ** 2).reduce((a, b) => a + b, 0);
    return {
      case: name,
      target: own[0]!.where ?? "unknown",
      metric: own[0]!.measures ?? "",
      value,
      deviation: own.length > 1 ? Math.sqrt(squares / (own.length - 1)) : null,
      seeds: own.length,
      seconds: Number(mean(own.map(({ seconds }) => seconds)).toFixed(1)),
    };
  });
}

/** `value` as precise as the example's own number is printed. */
function inTheFormOf(printed: string | undefined, value: number): string {
  if (printed === undefined) return value.toFixed(3);
  const [, decimals = "", exponent] = printed.match(/^-?\d+(?:\.(\d+))?(e.*)?$/) ?? [];
  return exponent ? value.toExponential(decimals.length) : value.toFixed(decimals.length);
}

/** The cell of an example: mean ± deviation, in the form of what the example printed last. */
export function pytorchCell(
  example: Example,
  result: string | undefined,
  rows: readonly PytorchRow[],
): string {
  const row = rows.find((r) => r.case === example.name);
  if (!row) return example.pytorch ?? "not measured";
  const printed = result?.match(new RegExp(example.number))?.[1];
  const shown = (value: number) => inTheFormOf(printed, value);
  const spread = row.deviation === null ? "" : ` ± ${shown(row.deviation)}`;
  // Where the example's last line has another number, or none, the cell says what its own is.
  const what = printed === undefined && result !== undefined ? `${row.metric} ` : "";
  const seeds = row.seeds === 3 ? "" : `, ${row.seeds} seed${row.seeds > 1 ? "s" : ""}`;
  return `${what}${shown(row.value)}${spread}${row.note ? ` (${row.note})` : ""}${seeds}`;
}

/** Keeps what run.py wrote; recipes that it has not, or that failed, keep their rows. */
export function keepPytorch(
  file: string,
  path = record,
): { readonly kept: number; readonly failed: Trained[] } {
  const trained: Trained[] = JSON.parse(readFileSync(file, "utf8"));
  const fresh = rowsOf(trained);
  const names = new Set(fresh.map((row) => row.case));
  const all = [...pytorchRows(path).filter((row) => !names.has(row.case)), ...fresh];
  const sorted = all.sort((a, b) => (a.case < b.case ? -1 : 1));
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const card = trained.find((t) => t.where !== undefined && t.where !== "one core")?.where;
  const torch = trained.find((t) => t.torch !== undefined)?.torch;
  const machine = { card: card ?? "none", torch };
  const head = JSON.stringify({ name: "pytorch", date: new Date().toISOString(), commit, machine });
  const lines = sorted.map((row) => `    ${JSON.stringify(row)}`).join(",\n");
  writeFileSync(path, `${head.slice(0, -1)},\n  "rows": [\n${lines}\n  ]}\n`);
  return { kept: fresh.length, failed: trained.filter((t) => t.error !== undefined) };
}
