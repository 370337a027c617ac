/**
 * From measurements to rows: each process's time, ours against the best web peer and the best
 * native one of as many threads, the goal, whether results agree, and over all workloads the
 * geometric mean. Prints nothing.
 */
import { bounded, compared, type Row } from "../row.ts";
import { ours, peers } from "./columns.ts";
import { difference, type Measured } from "./measure.ts";
import type { Workload } from "./workloads.ts";

export interface Result {
  readonly workload: Workload;
  readonly measured: readonly Measured[];
}

/** The largest relative distance between results that still counts as equal maths. */
export const tolerance = 1e-4;
type Kind = "web" | "native";
/** Times as fast as the best peer of a kind, as a geometric mean over the rows. */
const leastMean: Readonly<Record<Kind, number>> = { web: 2, native: 1.2 };

/** Whom a target is measured against: machine code against machine code. */
export const rivalsOf = (target: string): Kind => (target === "native" ? "native" : "web");

const kinds = new Map(peers.map(({ name, kind }) => [name, kind]));
const single = new Set(peers.filter(({ threaded }) => !threaded).map(({ name }) => name));

export const ourTime = (r: Result, threads: number): Measured | undefined =>
  r.measured.find((m) => m.name === ours.name && m.threads === threads);

/** The fastest peer of a kind with as many threads, or with one where it has no more. */
export function best(r: Result, kind: Kind, threads: number): Measured | undefined {
  const able = r.measured.filter(
    (m) => m.timing && kinds.get(m.name) === kind && (m.threads === threads || single.has(m.name)),
  );
  return able.sort((a, b) => a.timing!.median - b.timing!.median)[0];
}

/** How many times faster ours is; undefined where either has no time. */
export function ratioTo(r: Result, kind: Kind, threads: number): number | undefined {
  const [mine, theirs] = [ourTime(r, threads)?.timing, best(r, kind, threads)?.timing];
  return mine && theirs && theirs.median / mine.median;
}

export const threadsOf = (count: number): string => (count === 1 ? "1 thread" : `${count} threads`);

export const counted = (results: readonly Result[]): Result[] =>
  results.filter(({ workload }) => workload.goalMs !== undefined);

export function behind(results: readonly Result[], threads: number, kind: Kind = "web"): string[] {
  return counted(results)
    .filter((r) => !((ratioTo(r, kind, threads) ?? 1) >= 1))
    .map(({ workload }) => workload.name);
}

export function meanRatio(
  results: readonly Result[],
  threads: number,
  kind: Kind = "web",
): number | undefined {
  const ratios = counted(results).flatMap((r) => ratioTo(r, kind, threads) ?? []);
  if (ratios.length === 0) return undefined;
  return Math.exp(ratios.reduce((sum, x) => sum + Math.log(x), 0) / ratios.length);
}

/** Our time with what it is to be and what it is compared with. Without a time a goal is missed. */
function ourRow(r: Result, target: string, m: Measured): Row {
  const { workload } = r;
  const metric = `time, ${threadsOf(m.threads)}`;
  const base = { case: workload.name, target, metric, unit: "ms" };
  const rivals = rivalsOf(target);
  const goal = m.threads === 1 && rivals === "web" ? workload.goalMs : undefined;
  if (!m.timing) {
    const missed = goal === undefined ? {} : { goal: `≤ ${goal}`, met: false };
    return { ...base, value: null, ...missed, note: m.error ?? "no time" };
  }
  const other = best(r, rivals === "web" ? "native" : "web", m.threads);
  const note = other ? { note: `${other.name} ${other.timing!.median.toPrecision(3)}` } : {};
  const timed = { ...base, value: m.timing.median, spread: m.timing.spread, ...note };
  const rival = best(r, rivals, m.threads);
  const least = workload.goalMs !== undefined ? (workload.ofNative ?? 1) : undefined;
  const against = rival
    ? compared(
        { ...timed, peer: rival.name, peerValue: rival.timing!.median },
        rivals === "native" ? least : undefined,
      )
    : timed;
  return bounded(against as Row & { value: number }, goal);
}

function peerRow({ workload }: Result, m: Measured): Row {
  const metric = `time, ${threadsOf(m.threads)}`;
  const base = { case: workload.name, target: m.name, metric, unit: "ms" };
  if (!m.timing) return { ...base, value: null, note: m.error ?? "no time" };
  return { ...base, value: m.timing.median, spread: m.timing.spread };
}

/** The largest distance of any other result to ours on one thread. */
function agreement(r: Result, target: string): Row[] {
  const mine = r.measured.find((m) => m.name === ours.name && m.checks);
  const others = r.measured.filter((m) => m !== mine && m.checks);
  if (!mine || others.length === 0) return [];
  const trains = r.workload.trains ?? false;
  const found = others.map((m) => ({ m, by: difference(mine, m, trains) }));
  const worst = found.reduce((a, b) => (b.by > a.by || Number.isNaN(b.by) ? b : a));
  const row = { case: r.workload.name, target, metric: "difference", value: worst.by, unit: "" };
  return [
    { ...bounded(row, tolerance), note: `from ${worst.m.name}, ${threadsOf(worst.m.threads)}` },
  ];
}

export function rowsOf(r: Result, target: string): Row[] {
  const times = r.measured.map((m) =>
    m.name === ours.name ? ourRow(r, target, m) : peerRow(r, m),
  );
  return [...times, ...agreement(r, target)];
}

/** A row for each peer that is not here, so that its absence is seen in what is saved. */
export const absentRows = (absent: readonly (readonly [name: string, why: string])[]): Row[] =>
  absent.map(([name, why]) => {
    return { case: "all", target: name, metric: "time", value: null, unit: "ms", note: why };
  });

/** Over all workloads: the mean, and how many are behind the best peer of the target's rivals. */
export function summaryRows(
  results: readonly Result[],
  target: string,
  threads: readonly number[],
): Row[] {
  return threads.flatMap((count): Row[] => {
    const rivals = rivalsOf(target);
    const mean = meanRatio(results, count, rivals);
    if (mean === undefined) return [];
    const base = { case: "all", target, peer: `best ${rivals} peer` };
    const late = behind(results, count, rivals);
    const metric = (what: string): string => `${what}, ${threadsOf(count)}`;
    const goal = { goal: `≥ ${leastMean[rivals]}`, met: mean >= leastMean[rivals] };
    return [
      { ...base, metric: metric("geometric mean of ratios"), value: mean, unit: "×", ...goal },
      {
        ...bounded({ ...base, metric: metric("rows behind"), value: late.length, unit: "" }, 0),
        note: late.join(", "),
      },
    ];
  });
}
