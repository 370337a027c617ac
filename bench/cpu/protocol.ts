/**
 * How a measured process answers: one JSON object a line on standard input, one line with a mark on
 * standard output, so that what libraries print is no answer. Asked: setup, run, drop, quit.
 */
import { createInterface } from "node:readline";
import { peakBytes } from "../peak.ts";

/** Mean of |x| and one early element: equal for two peers only if they compute the same. */
export type Check = readonly [mean: number, element: number];

/**
 * Prepared work: inputs are uploaded, and `run` resolves when its results are complete, wherever
 * they live.
 */
export interface Work {
  readonly run: () => unknown;
  readonly check: () => Check | Promise<Check>;
  readonly drop?: () => unknown;
}

export type Works = Readonly<Record<string, () => Work | Promise<Work>>>;

export type Request =
  | { readonly ask: "setup"; readonly workload: string }
  | { readonly ask: "run"; readonly times: number }
  | { readonly ask: "drop" }
  | { readonly ask: "quit" };

export interface Answer {
  readonly error?: string;
  /** Setup: milliseconds of the first run and of the last warm-up. */
  readonly first?: number;
  readonly last?: number;
  /** Setup: after the first run and after the last, with the number of runs before it. */
  readonly checks?: readonly Check[];
  readonly runs?: number;
  /** Run: milliseconds a run. */
  readonly ms?: number;
  /** Quit: peak resident memory in bytes. */
  readonly peakBytes?: number;
  readonly ready?: string;
}

export const mark = "@bench ";

/** Warm-ups end early for work that takes this long. */
const patienceMs = 3000;
const warmups = 3;

export function checkOf(values: ArrayLike<number | bigint>): Check {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.abs(Number(values[i]));
  return [sum / values.length, Number(values[Math.min(7, values.length - 1)])];
}

const say = (answer: Answer): void => {
  process.stdout.write(`${mark}${JSON.stringify(answer)}\n`);
};

async function clocked(times: number, work: Work): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < times; i++) await work.run();
  return (performance.now() - start) / times;
}

async function setUp(work: Work): Promise<Answer> {
  const times = [await clocked(1, work)];
  const checks = [await work.check()];
  while (times.length < warmups && times[0]! < patienceMs) times.push(await clocked(1, work));
  checks.push(await work.check());
  return { first: times[0]!, last: times.at(-1)!, checks, runs: times.length };
}

/** Answers until asked to quit. A failure is an answer; the work it happened in is dropped. */
export async function serve(about: string, works: Works): Promise<never> {
  let current: Work | undefined;
  const answer = async (request: Request): Promise<Answer> => {
    if (request.ask === "setup") {
      const make = works[request.workload];
      if (!make) return { error: "–" };
      current = await make();
      return setUp(current);
    }
    if (request.ask === "run") {
      if (!current) throw new RangeError("bench: run before setup");
      return { ms: await clocked(request.times, current) };
    }
    const last = current;
    current = undefined;
    await last?.drop?.();
    return { peakBytes: peakBytes() };
  };
  say({ ready: about });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as Request;
    try {
      say(await answer(request));
    } catch (error) {
      current = undefined;
      say({ error: String(error instanceof Error ? error.message : error).slice(0, 300) });
    }
    if (request.ask === "quit") break;
  }
  process.exit(0);
}
