/**
 * Measures a network on several engines: each is set up in a process of its own, then they are
 * timed in turn, so that whatever else the machine does meets all of them. The results of the first
 * named reference are what the others are compared with.
 */
import { type Timing, timingOf } from "../measure.ts";
import { elementsOf } from "./compare.ts";
import type { EngineName } from "./engine.ts";
import { NetworkPeer } from "./network-peer.ts";
import type { Setup } from "./network-protocol.ts";
import type { TensorValue } from "./values.ts";

/** Who is measured, and how its process is started. */
export interface Contestant {
  readonly name: string;
  readonly start: () => Promise<NetworkPeer>;
}

export interface Measured {
  /** The name of the contestant. */
  readonly engine: string;
  readonly error?: string;
  readonly setup?: Setup;
  /** Milliseconds of CPU of a unit. */
  readonly timing?: Timing;
  readonly peakBytes?: number;
}

export interface Effort {
  readonly samples: number;
  readonly budgetMs: number;
}

/**
 * How far results are from the reference's: by the largest element, and by that over the largest of
 * the reference.
 */
export interface Distance {
  readonly absolute: number;
  readonly relative: number;
}

const setupMs = 240_000;
const sampleMs = 120_000;
/** A sample is at least so long: shorter ones measure the clock. */
const leastMs = 50;
/** Short work runs for so long before it is sampled, until engines have compiled what they will. */
const warmMs = 400;

interface Running {
  readonly engine: string;
  readonly peer: NetworkPeer;
  readonly setup?: Setup;
  readonly times: number[];
  repeats: number;
  error?: string;
}

async function setUp({ name, start }: Contestant, network: string): Promise<Running> {
  const peer = await start();
  const answer = await peer.ask({ ask: "setup", network }, setupMs);
  const base = { engine: name, peer, times: [], repeats: 1 };
  if ("setup" in answer) return { ...base, setup: answer.setup };
  return { ...base, error: "error" in answer ? answer.error : "no setup" };
}

async function sample(running: Running): Promise<number | undefined> {
  if (running.error !== undefined) return undefined;
  const answer = await running.peer.ask({ ask: "time", times: running.repeats }, sampleMs);
  if ("ms" in answer) return answer.ms;
  running.error = "error" in answer ? answer.error : "no time";
  return undefined;
}

async function warmUp(running: Running): Promise<void> {
  const first = await sample(running);
  if (first === undefined || first > leastMs) return;
  running.repeats = Math.ceil(warmMs / first);
  const warm = await sample(running);
  running.repeats = warm === undefined ? 1 : Math.max(1, Math.ceil(leastMs / warm));
}

async function finish(running: Running): Promise<Measured> {
  const { engine, peer, setup, times, error } = running;
  const memory = error === undefined ? await peer.ask({ ask: "memory" }, sampleMs) : undefined;
  peer.end();
  return {
    engine,
    ...(error === undefined ? {} : { error }),
    ...(setup ? { setup } : {}),
    ...(times.length ? { timing: timingOf(times) } : {}),
    ...(memory && "peakBytes" in memory ? { peakBytes: memory.peakBytes } : {}),
  };
}

export const measureNetwork = (
  network: string,
  engines: readonly EngineName[],
  effort: Effort,
): Promise<Measured[]> =>
  measure(
    network,
    engines.map((name) => ({ name, start: () => NetworkPeer.start(name) })),
    effort,
  );

/** What is called so by each contestant's process, on all of them in turn. */
export async function measure(
  network: string,
  contestants: readonly Contestant[],
  { samples, budgetMs }: Effort,
): Promise<Measured[]> {
  const all: Running[] = [];
  // One after the other: setting up takes every core there is.
  for (const contestant of contestants) all.push(await setUp(contestant, network));
  for (const running of all) await warmUp(running);
  const start = performance.now();
  for (let i = 0; i < samples; i++) {
    // Large networks get fewer samples, never fewer than three.
    if (i >= 3 && performance.now() - start > budgetMs) break;
    for (const running of all) {
      const ms = await sample(running);
      if (ms !== undefined) running.times.push(ms);
    }
  }
  const measured: Measured[] = [];
  for (const running of all) measured.push(await finish(running));
  return measured;
}

/**
 * The distance of two sets of results; undefined if they are not of the same names, types and
 * shapes.
 */
export function distance(
  got: Readonly<Record<string, TensorValue>>,
  want: Readonly<Record<string, TensorValue>>,
): Distance | undefined {
  let [absolute, relative] = [0, 0];
  for (const [name, expected] of Object.entries(want)) {
    const actual = got[name];
    if (actual?.type !== expected.type || actual.dims.join() !== expected.dims.join())
      return undefined;
    const [g, w] = [elementsOf(actual), elementsOf(expected)];
    let [worst, largest] = [0, 0];
    for (let i = 0; i < w.length; i++) {
      const difference = Math.abs(Number(g[i]) - Number(w[i]));
      // NaN is farther than anything, unless both are.
      if (Number.isNaN(difference) && !Object.is(g[i], w[i])) worst = Number.POSITIVE_INFINITY;
      else if (difference > worst) worst = difference;
      largest = Math.max(largest, Math.abs(Number(w[i])));
    }
    absolute = Math.max(absolute, worst);
    // Of nothing but zeros no share can be told.
    relative = Math.max(relative, largest > 0 ? worst / largest : worst);
  }
  return { absolute, relative };
}
