/**
 * The options of a command as rows: what parses them and what help says of them come from the same
 * table.
 */
import type { OptionTable } from "./usage.ts";

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** What it takes, `N` or `js|wasm`; absent for a switch. */
  readonly value?: string;
  /** A line of help, or several. */
  readonly help: string;
}

/** What several commands take. */
export const shared = {
  noFusion: { name: "no-fusion", help: "one kernel for each operation" },
  noCheck: { name: "no-check", help: "do not type-check the script first" },
  threads: {
    name: "threads",
    value: "N|auto",
    help: "threads of wasm and native (auto: one a core, at most 8)",
  },
  device: {
    name: "device",
    value: "software",
    help: "take a WebGPU adapter that runs on the CPU",
  },
  tuning: { name: "tuning", value: "FILE|cache", help: "choices that kiln tune found" },
  extents: {
    name: "extents",
    value: "NAME=64,…",
    help: "what symbols of an ONNX file are: 64, or 32*h",
  },
  entry: {
    name: "entry",
    value: "NAME",
    help: "of an artifact with several entries: the one that is meant",
  },
  json: { name: "json", help: "the result as JSON" },
} as const satisfies Record<string, Option>;

/** For `parseArgs`. */
export const tableOf = (options: readonly Option[]): OptionTable =>
  Object.fromEntries(
    options.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? "boolean" : "string", ...(short ? { short } : {}) },
    ]),
  );

/** `Usage: kiln run …`, a line for each option, and what else there is to say. */
export function helpOf(usage: string, options: readonly Option[], notes = ""): string {
  const heads = options.map(
    ({ name, short, value }) =>
      `  ${short ? `-${short}, ` : ""}--${name}${value === undefined ? "" : ` ${value}`}`,
  );
  const width = Math.min(32, Math.max(...heads.map((h) => h.length))) + 2;
  const lines = options.map(({ help }, i) => {
    const head = heads[i]!;
    const [first, ...rest] = help.split("\n");
    // One that is too long has its line for itself.
    const start = head.length < width ? [head.padEnd(width) + first] : [head, first!];
    const below = head.length < width ? rest : [...start.splice(1), ...rest];
    return [...start, ...below.map((l) => " ".repeat(width) + l)].join("\n");
  });
  return `Usage: kiln ${usage}\n\n${lines.join("\n")}\n${notes ? `\n${notes}` : ""}`;
}
