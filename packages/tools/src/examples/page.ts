/**
 * docs/examples/README.md: what the examples reached when they were last run in full, of which
 * docs/examples/measured.json is the record. An example that was not run again keeps its row.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { banner, table } from "../docs/source.ts";
import { type Example, examples } from "./list.ts";
import { type PytorchRow, pytorchCell, pytorchRows } from "./pytorch.ts";
import type { Outcome } from "./run.ts";

interface Measured {
  readonly result: string;
  readonly seconds: number;
  /** Processor and number of cores. */
  readonly machine: string;
}

const record = "docs/examples/measured.json";
export const examplesPagePath = "docs/examples/README.md";

const measured = (): Record<string, Measured> =>
  existsSync(record) ? JSON.parse(readFileSync(record, "utf8")) : {};

export function keepMeasured(outcomes: readonly Outcome[]): void {
  const all = measured();
  const machine = `${cpus()[0]?.model.trim() || "unknown processor"}, ${cpus().length} cores`;
  for (const { example, seconds, result, failure } of outcomes)
    if (!failure) all[example.name] = { result, seconds: Number(seconds.toFixed(1)), machine };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  mkdirSync("docs/examples", { recursive: true });
  writeFileSync(record, `${JSON.stringify(sorted, null, 2)}\n`);
}

const rowOf = (
  example: Example,
  found: Measured | undefined,
  peers: readonly PytorchRow[],
): string[] => [
  `[${example.name}](../../${example.script})`,
  example.shows,
  found?.result ?? "not measured",
  found ? `${found.seconds} s` : "",
  pytorchCell(example, found?.result, peers),
];

/** The page as text. */
export function examplesPage(): string {
  const all = measured();
  const peers = pytorchRows();
  const rows = examples.map((example) => rowOf(example, all[example.name], peers));
  const machines = [...new Set(examples.flatMap(({ name }) => all[name]?.machine ?? []))];
  return `${banner}

# Examples, measured

\`npm run examples\` runs each of them in full, one after the other, and writes this page;
\`npm run examples -- --quick\` runs a slice of each in a few minutes, on data that it makes or that
npm packages have, and fails if one does not learn. \`--only gcn\` chooses, \`--list\` names them.

The result is the last line that an example prints. Its time is that of the whole process: starting
from source, reading, compiling, training and testing, on
${machines.join("; ") || "no machine yet"}. What eegnet and sounds learn from is made up, and easier than recordings: their figures say that a
network learns, and nothing of how it would do on real ones.

The last column is what PyTorch reaches for the same number with the same recipe, data and split,
by \`bench/examples/run.py\`: mean ± standard deviation over three seeds, unless it names another
number of them. Ours is of one seed.

${table([["example", "what it shows", "result", "time", "PyTorch, same recipe"], ...rows])}

Public data sets are read from archives in \`../shared/data\`, or where \`KILN_DATA\` says: ${[
    ...new Set(examples.flatMap((e) => e.archive ?? [])),
  ]
    .sort()
    .map((a) => `\`${a}\``)
    .join(", ")}.
Without them an example says so and makes data of its own; its full figures are then not those
above.
`;
}

export function writePage(): void {
  writeFileSync(examplesPagePath, examplesPage());
}
