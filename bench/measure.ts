/**
 * Times alternatives against each other: each is warmed up, then they take turns (A, B, A, B, …), so that what else the
 * machine does meets all of them. Medians are reported, never best cases. The clock is the process's CPU time: on a machine
 * that others use too, the time of day measures them.
 */
export type Work = () => unknown;

export interface Timing {
  readonly median: number;
  /** Half the distance between the quartiles over the median. */
  readonly spread: number;
  readonly rounds: number;
}

export interface Effort {
  /** Rounds at least, 7 by default; more while `budgetMs` lasts, up to 31. */
  readonly rounds?: number;
  readonly warmups?: number;
  readonly budgetMs?: number;
}

/** Milliseconds of CPU that `work` takes, those of the garbage collector and the optimizing compiler included. */
export async function timed(work: Work): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Milliseconds of each alternative, in their order. */
export async function interleave(works: readonly Work[], effort: Effort = {}): Promise<Timing[]> {
  const { rounds = 7, warmups = 3, budgetMs = 3000 } = effort;
  for (let i = 0; i < warmups; i++) for (const work of works) await work();
  const times = works.map((): number[] => []);
  const start = performance.now();
  for (let i = 0; i < rounds || (i < 31 && performance.now() - start < budgetMs); i++)
    for (const [w, work] of works.entries()) times[w]!.push(await timed(work));
  return times.map(timingOf);
}

/** The middle and the quartiles of some times. */
export function timingOf(times: readonly number[]): Timing {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (q: number): number => {
    const x = q * (sorted.length - 1);
    const low = sorted[Math.floor(x)]!;
    return low + (sorted[Math.ceil(x)]! - low) * (x - Math.floor(x));
  };
  const median = at(0.5);
  return { median, spread: (at(0.75) - at(0.25)) / 2 / median, rounds: times.length };
}

export const worse = (...timings: readonly Timing[]): number =>
  Math.max(...timings.map((t) => t.spread));
