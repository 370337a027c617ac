/**
 * Measures one workload in all processes: each sets up and warms up, then they are sampled in turn, so that whatever else
 * the machine does meets all of them. The clock is the time of day: threads are what is measured too.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Timing, timingOf } from "../measure.ts";
import type { Peer } from "./peer.ts";
import type { Check } from "./protocol.ts";
import type { Workload } from "./workloads.ts";

export interface Measured {
  readonly name: string;
  readonly threads: number;
  readonly timing?: Timing;
  readonly error?: string;
  readonly checks?: readonly Check[];
  readonly runs?: number;
}

interface Sampled {
  readonly peer: Peer;
  readonly times: number[];
  readonly repeats: number;
  readonly samples: number;
  error?: string;
  checks?: readonly Check[];
  runs?: number;
}

const limitMs = 60_000;
/** A sample repeats quick work until it takes about this long. */
const sampleMs = 40;
/** Work that is slow gets fewer samples, so that they take no longer than this together, or one. */
const budgetMs = 6000;
/** Between samples: a pool of threads that spins after its work would take the time of the next one. */
const restMs = 25;

async function setUp(peer: Peer, workload: Workload, samples: number): Promise<Sampled> {
  const question = { ask: "setup", workload: workload.name, operands: workload.operands } as const;
  const { error, last = 0, checks, runs } = await peer.ask(question, limitMs);
  const repeats = Math.max(1, Math.min(2000, Math.ceil(sampleMs / last)));
  const affordable = Math.max(1, Math.floor(budgetMs / last));
  const sampled = { peer, times: [], repeats, samples: Math.min(samples, affordable) };
  if (error !== undefined) return { ...sampled, error };
  return { ...sampled, checks: checks ?? [], runs: runs ?? 0 };
}

export async function measure(
  workload: Workload,
  peers: readonly Peer[],
  samples: number,
): Promise<Measured[]> {
  const all: Sampled[] = [];
  for (const peer of peers) all.push(await setUp(peer, workload, samples));
  for (let i = 0; i < samples; i++)
    for (const one of all) {
      if (one.error !== undefined || i >= one.samples) continue;
      await pause(restMs);
      const { ms, error } = await one.peer.ask({ ask: "run", times: one.repeats }, limitMs);
      if (ms === undefined) one.error = error ?? "no time";
      else one.times.push(ms);
    }
  for (const { peer, error } of all)
    if (error === undefined) await peer.ask({ ask: "drop" }, limitMs);
  return all.map(({ peer: { name, threads }, times, error, checks, runs }) =>
    error === undefined
      ? { name, threads, timing: timingOf(times), checks: checks ?? [], runs: runs ?? 0 }
      : { name, threads, error },
  );
}

/** How far two results are apart: the larger relative distance of mean and element, on the scale of the mean. */
function distance([mean, element]: Check, [otherMean, otherElement]: Check): number {
  const scale = Math.max(Math.abs(otherMean), Number.MIN_VALUE);
  const local = Math.max(Math.abs(otherElement), scale);
  return Math.max(Math.abs(mean - otherMean) / scale, Math.abs(element - otherElement) / local);
}

/**
 * The largest distance of the checks that both have: after the first run, and after the last unless training went on
 * for different numbers of steps.
 */
export function difference(a: Measured, b: Measured, trains: boolean): number {
  const [x, y] = [a.checks ?? [], b.checks ?? []];
  const first = x[0] && y[0] ? distance(x[0], y[0]) : Number.NaN;
  if (trains && a.runs !== b.runs) return first;
  return Math.max(first, x[1] && y[1] ? distance(x[1], y[1]) : Number.NaN);
}
