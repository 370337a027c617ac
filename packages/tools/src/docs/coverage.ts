/** `docs/coverage.md`: what people look for who come from other libraries, and its name here or why there is none; of `docs/coverage.json`. */
import { readFileSync } from "node:fs";
import { banner, table } from "./source.ts";

export interface CoverageRow {
  /** As the other library calls it. */
  readonly name: string;
  /** Where it is: `nn.Linear`, `linalg.solve`, a method or function of the IR without a prefix, `kiln.` of the front door. */
  readonly kiln?: string;
  /** Why it is not there, or does not apply. */
  readonly why?: string;
  /** False where it has no meaning here. */
  readonly applies?: false;
}

export interface CoverageSection {
  readonly title: string;
  readonly rows: readonly CoverageRow[];
}

export const coverageSections = (): readonly CoverageSection[] =>
  (JSON.parse(readFileSync("docs/coverage.json", "utf8")) as { sections: CoverageSection[] })
    .sections;

const isThere = (r: CoverageRow): boolean => r.kiln !== undefined;
const applies = (r: CoverageRow): boolean => r.applies !== false;

/** Counts of a section: rows that apply, and those of them that are there. */
export const coverageOf = (rows: readonly CoverageRow[]): { all: number; there: number } => ({
  all: rows.filter(applies).length,
  there: rows.filter(isThere).length,
});

const linesOf = (rows: readonly CoverageRow[]): string => {
  const lines = rows.map((r) => [
    r.name,
    isThere(r) ? "yes" : applies(r) ? "no" : "does not apply",
    r.kiln ? `\`${r.kiln}\`` : (r.why ?? ""),
  ]);
  return table([["name elsewhere", "here", "as, or why not"], ...lines]);
};

/** The text of `docs/coverage.md`. */
export function coveragePage(): string {
  const sections = coverageSections();
  const summary = sections.map(({ title, rows }) => {
    const { all, there } = coverageOf(rows);
    return [title, String(there), String(all), `${Math.floor((100 * there) / all)} %`];
  });
  return `${banner}

# What people look for, and where it is

Names of layers, losses, optimizers and tensor functions elsewhere, and what does the same here. A test finds every name in the last column.

${table([["section", "there", "of", "share"], ...summary])}

${sections.map(({ title, rows }) => `## ${title}\n\n${linesOf(rows)}\n`).join("\n")}`;
}
