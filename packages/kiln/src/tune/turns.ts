/**
 * Times ways to do the same against a standard, on a device whose clock changes: at rest it is low, and it rises and falls with load.
 * A time counts only by its ratio to the standard's, taken right before and after, and only where those two agree. Knows no
 * device: a way to be timed is a function.
 */

/** The time of one run, after so many milliseconds of such runs, in milliseconds. */
export type Timer = (lead: number) => Promise<number>;

export interface Timing {
  /** How often each way is timed; the median counts. */
  readonly rounds: number;
  /** Milliseconds of work before the first round, at least; it goes on until times are steady. */
  readonly warmUp: number;
  /** Milliseconds of work right before each measurement. */
  readonly lead: number;
  /** Whether the device is as fast as it is known to be, which times that are steady cannot tell. */
  readonly awake?: () => Promise<boolean>;
}

export interface Times {
  readonly standardMs: number;
  /** Of each of the others, in milliseconds of a device that runs the standard in `standardMs`. */
  readonly ms: readonly number[];
  /** The least and the most that the standard took in the rounds. */
  readonly standardRange: readonly [least: number, most: number];
  /** False where the standard's own times would not agree: then all are guesses. */
  readonly settled: boolean;
}

/** Times that differ by no more than a share, or by what it takes to take a time. */
const close = (a: number, b: number, share: number): boolean =>
  Math.abs(a - b) <= share * Math.min(a, b) + 0.002;

/** The standard before and after. */
const agreement = 0.05;
/** Beyond this the clock is another than before, and what was found then is dropped. */
const sameClock = 0.15;
/** Others between two times of the standard. */
const between = 4;
/** How often a part of a round is tried, how often that fails in all, and how often the clock may change. */
const [tries, mostFailures, mostChanges] = [4, 12, 4];
/** Warming up ends after so many times `warmUp`, steady or not; in the midst of it all, sooner. */
const [patience, shortPatience] = [8, 3];
/** Times in a row that must agree. */
const steady = 5;

/** What is so much slower than the fastest after 2, 3 rounds and more is not timed again; after one it may have been a fault. */
const hopeless = [Number.POSITIVE_INFINITY, 1.4, 1.12] as const;

export async function timeInTurns(
  standard: Timer,
  others: readonly Timer[],
  timing: Timing,
): Promise<Times> {
  const turns = new Turns(standard, others, timing);
  await turns.warmUp(timing.warmUp, patience);
  const settled = await turns.all();
  return turns.times(settled);
}

interface Turn {
  readonly timer: Timer;
  /** To the standard, where the standard's times agreed; and all of them. */
  ratios: number[];
  readonly doubtful: number[];
}

class Turns {
  readonly #standard: Timer;
  readonly #turns: readonly Turn[];
  readonly #timing: Timing;
  /** Of the standard, at one clock; and where they did not agree. */
  #standards: number[] = [];
  readonly #doubtful: number[] = [];
  #latest: number | undefined;
  #range: readonly [number, number] = [Number.POSITIVE_INFINITY, 0];
  #changes = 0;
  #failures = 0;

  constructor(standard: Timer, others: readonly Timer[], timing: Timing) {
    this.#standard = standard;
    this.#turns = others.map((timer) => ({ timer, ratios: [], doubtful: [] }));
    this.#timing = timing;
  }

  /** Runs the standard for so long, and until its times neither differ nor go on falling, and the device is awake. */
  async warmUp(least: number, most: number): Promise<void> {
    if (least === 0) return;
    const times: number[] = [];
    const lead = least / (2 * steady);
    for (let spent = 0; spent < most * least; ) {
      const ms = await this.#standard(lead);
      times.push(ms);
      spent += lead + ms;
      if (spent < least || !isSteady(times.slice(-steady))) continue;
      if ((await this.#timing.awake?.()) ?? true) break;
    }
    this.#latest = times.at(-1);
  }

  /** Whether every round was one that counts. */
  async all(): Promise<boolean> {
    for (let round = 0; round < this.#timing.rounds; ) {
      const left = this.#worthIt(round);
      if (round > 0 && left.length === 0) return true;
      let result: Outcome = "counts";
      // Without others the standard is timed all the same.
      for (let i = 0; i < Math.max(1, left.length) && result === "counts"; i += between)
        result = await this.#part(left.slice(i, i + between));
      if (result === "doubtful") return false;
      round = result === "counts" ? round + 1 : 0;
    }
    return true;
  }

  times(settled: boolean): Times {
    const known = (sure: readonly number[], doubtful: readonly number[]): number =>
      median(sure.length > 0 ? sure : doubtful);
    const standardMs = known(this.#standards, this.#doubtful);
    const ms = this.#turns.map((t) => standardMs * known(t.ratios, t.doubtful));
    return { standardMs, ms, standardRange: this.#range, settled };
  }

  /** Who is not hopeless yet. */
  #worthIt(round: number): Turn[] {
    if (round === 0) return [...this.#turns];
    const limit = hopeless[Math.min(round, hopeless.length) - 1]!;
    const fastest = Math.min(1, ...this.#turns.map((t) => median(t.ratios)));
    return this.#turns.filter(
      (t) => t.ratios.length >= round && Math.min(...t.ratios) <= limit * fastest,
    );
  }

  /** Times some, between two times of the standard, until these agree. */
  async #part(turns: readonly Turn[]): Promise<Outcome> {
    for (let i = 0; i < tries; i++) {
      const { lead, warmUp } = this.#timing;
      const before = this.#latest ?? (await this.#standard(lead));
      const times: number[] = [];
      for (const { timer } of turns) times.push(await timer(lead));
      const after = await this.#standard(lead);
      this.#latest = after;
      this.#range = [
        Math.min(this.#range[0], before, after),
        Math.max(this.#range[1], before, after),
      ];
      const own = (before + after) / 2;
      // A clock that shows no time at all, as one of 100 µs does, tells nothing.
      const shown = [before, after, ...times].every((t) => t > 0);
      const quiet = shown && close(before, after, agreement);
      const clock = this.#standards.length > 0 ? median(this.#standards) : own;
      if (quiet && !close(own, clock, sameClock)) return this.#change(own);
      (quiet ? this.#standards : this.#doubtful).push(own);
      for (const [j, t] of turns.entries())
        (quiet ? t.ratios : t.doubtful).push(own > 0 ? times[j]! / own : 1);
      if (quiet) return "counts";
      this.#failures += 1;
      if (this.#failures > mostFailures) break;
      await this.warmUp(warmUp / 10, shortPatience);
    }
    return "doubtful";
  }

  /** All begins anew at another clock. */
  #change(own: number): Outcome {
    this.#changes += 1;
    if (this.#changes > mostChanges) return "doubtful";
    this.#standards = [own];
    for (const t of this.#turns) {
      t.doubtful.push(...t.ratios);
      t.ratios = [];
    }
    return "changed";
  }
}

type Outcome = "counts" | "changed" | "doubtful";

/** Close together, and no longer falling. */
const isSteady = (times: readonly number[]): boolean =>
  times.length === steady &&
  close(Math.min(...times), Math.max(...times), agreement) &&
  (times.at(-1)! >= times[0]! || close(times[0]!, times.at(-1)!, agreement / 2));

export const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[times.length >> 1]!;
