/**
 * The tables of a conformance run: per folder, per op, per kind of failure, and the document for machines. Computes only
 * from verdicts.
 */
import type { EngineName } from "./engine.ts";
import type { Verdict } from "./judge.ts";
import type { Surveyed } from "./survey.ts";

export interface Column {
  readonly engine: EngineName;
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Why there are no verdicts. */
  readonly absent?: string;
  /** Of cases with more than `fewNodes` one in so many was run. */
  readonly share: number;
}

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly excluded: number;
}

/** Cases of more nodes may be sampled. */
export const fewNodes = 8;

export const peerName = "onnxruntime-node" satisfies EngineName;

/** Counts over the cases of a column. A case that was excluded or left out of a sample has no part in `failed`. */
export function tally(cases: readonly Surveyed[], column: Column): Tally {
  let [passed, failed, excluded] = [0, 0, 0];
  for (const s of cases) {
    const verdict = column.verdicts.get(s.case.name);
    if (s.excludedOn(column.engine)) excluded++;
    else if (verdict?.passed) passed++;
    else if (verdict) failed++;
  }
  return { passed, failed, excluded };
}

export const percentage = ({ passed, failed }: Tally): number =>
  passed + failed === 0 ? 0 : (100 * passed) / (passed + failed);

export function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((l) => l[i]!.length)));
  const line = (l: readonly string[]): string =>
    l.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join("  ");
  return lines.map((l) => line(l).trimEnd()).join("\n");
}

const head = (columns: readonly Column[]): string[] =>
  columns.flatMap(({ engine }) => [`${engine}: passed`, "failed", "excluded"]);

const cells = (cases: readonly Surveyed[], columns: readonly Column[]): string[] =>
  columns.flatMap((column) => {
    const { passed, failed, excluded } = tally(cases, column);
    return [passed, failed, excluded].map(String);
  });

function grouped<T>(items: readonly T[], keys: (item: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items)
    for (const key of keys(item)) {
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const folderOf = (s: Surveyed): string =>
  s.case.name.includes("/") ? s.case.name.split("/")[0]! : ".";

/** Ops whose nodes only feed another's do not make a case one of several ops. */
const carriers = new Set(["Constant", "Identity"]);

/** The op that a case is about, if it has only one. */
function ownOp({ ops }: Surveyed): string | undefined {
  const own = ops.filter((op) => !carriers.has(op));
  return own.length === 1 ? own[0] : own.length === 0 ? ops[0] : undefined;
}

/** Cases of an op alone, then cases in which it is one of several. */
export function opTable(cases: readonly Surveyed[], columns: readonly Column[]): string {
  const alone = grouped(cases, (s) => (ownOp(s) ? [ownOp(s)!] : []));
  const among = grouped(cases, (s) => (ownOp(s) ? [] : s.ops));
  const ops = [...new Set([...alone.keys(), ...among.keys()])].sort();
  const mixed = columns.flatMap(({ engine }) => [`in graphs, ${engine}: passed`, "failed"]);
  const lines = ops.map((op) => [
    op,
    ...cells(alone.get(op) ?? [], columns),
    ...columns.flatMap((c) => {
      const { passed, failed } = tally(among.get(op) ?? [], c);
      return [String(passed), String(failed)];
    }),
  ]);
  return aligned([["op", ...head(columns), ...mixed], ...lines]);
}

export function folderTable(cases: readonly Surveyed[], columns: readonly Column[]): string {
  const groups = [...grouped(cases, (s) => [folderOf(s)])];
  const lines = [...groups, ["total", cases] as const].map(([name, of]) => [
    name,
    ...cells(of, columns),
  ]);
  return aligned([["folder", ...head(columns)], ...lines]);
}

export function exclusionTable(cases: readonly Surveyed[], columns: readonly Column[]): string {
  const ours = columns.filter(({ engine }) => engine !== peerName);
  const reasons = grouped(cases, (s) => [
    ...new Set(ours.flatMap(({ engine }) => s.excludedOn(engine) ?? [])),
  ]);
  if (reasons.size === 0) return "excluded: none";
  const lines = [...reasons].map(([reason, of]) => [reason, String(of.length)]);
  return aligned([["excluded because of", "cases"], ...lines]);
}

/** Failures of a column by kind, the most frequent first, with the cases of each. */
export function failureList(cases: readonly Surveyed[], column: Column): string {
  const failed = cases.filter(
    (s) => !s.excludedOn(column.engine) && column.verdicts.get(s.case.name)?.passed === false,
  );
  const kinds = [...grouped(failed, (s) => [column.verdicts.get(s.case.name)!.kind ?? "?"])];
  kinds.sort(([, a], [, b]) => b.length - a.length);
  const lines = kinds.map(
    ([kind, of]) => `${of.length} × ${kind}\n    ${of.map((s) => s.case.name).join(" ")}`,
  );
  return [`${column.engine}: ${failed.length} failed`, ...lines].join("\n");
}

/** Ops that the importer lacks, with the cases that want them and those that want nothing else. */
export function unsupportedTable(cases: readonly Surveyed[], columns: readonly Column[]): string {
  const verdicts = cases.flatMap((s) => {
    const found = columns.map((c) => c.verdicts.get(s.case.name)).find((v) => v?.unsupported);
    return found?.unsupported ? [found.unsupported] : [];
  });
  if (verdicts.length === 0) return "";
  const lines = [...grouped(verdicts, (ops) => ops)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([op, of]) => [
      op,
      String(of.length),
      String(of.filter((ops) => ops.length === 1).length),
    ]);
  return `${aligned([["not supported", "cases", "for want of it alone"], ...lines])}\n\n`;
}

/** Each failure with what is wrong. */
export function failureDetails(cases: readonly Surveyed[], column: Column): string {
  return cases
    .flatMap((s) => {
      const verdict = column.verdicts.get(s.case.name);
      if (s.excludedOn(column.engine) || !verdict || verdict.passed) return [];
      const detail = verdict.detail?.replaceAll("\n", "\n    ");
      return [`${column.engine} ${s.case.name} (${s.ops.join(" ")})\n    ${detail}`];
    })
    .join("\n");
}

export function summary(cases: readonly Surveyed[], column: Column): string {
  const { engine, absent, share } = column;
  if (absent) return `${engine}: not run: ${absent}`;
  const t = tally(cases, column);
  const of = t.passed + t.failed;
  const sampled =
    share > 1
      ? `; of cases with more than ${fewNodes} nodes one in ${share}, by a hash of its name, and no networks`
      : "";
  const whole =
    engine === peerName
      ? `; of all ${column.verdicts.size}, those that are left out too, ${[...column.verdicts.values()].filter((v) => v.passed).length}`
      : "";
  return `${engine}: ${t.passed} of ${of} passed (${percentage(t).toFixed(1)} %)${sampled}${whole}`;
}

/** All of it for machines. */
export function conformanceDocument(
  cases: readonly Surveyed[],
  columns: readonly Column[],
): object {
  const total = (c: Column) => ({
    ...tally(cases, c),
    percentage: percentage(tally(cases, c)),
    share: c.share,
    ...(c.absent ? { absent: c.absent } : {}),
  });
  return {
    totals: Object.fromEntries(columns.map((c) => [c.engine, total(c)])),
    cases: cases.map((s) => ({
      name: s.case.name,
      ops: s.ops,
      own: ownOp(s),
      excluded: s.excluded,
      results: Object.fromEntries(
        columns.flatMap((c) => {
          const verdict = c.verdicts.get(s.case.name);
          const excluded = s.excludedOn(c.engine);
          if (!verdict && !excluded) return [];
          return [[c.engine, { ...verdict, ...(excluded ? { excluded } : {}) }]];
        }),
      ),
    })),
  };
}
