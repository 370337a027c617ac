/**
 * Times the options of one choice on a device: each is compiled alone, compared with the compiler's own, and run in turn with the
 * others. An option whose results differ, or that the device refuses, is out, and why is noted.
 */
import type { Decision } from "@kiln-ml/compiler";
import type { Device, DeviceArray } from "@kiln-ml/runtime/loader";
import { Candidate, Feeds } from "./candidate.ts";
import { Comparison } from "./compare.ts";
import { type Times, type Timing, timeInTurns } from "./turns.ts";

export interface TriedOption {
  readonly option: string;
  /** The median of its times in milliseconds, at the clock that the compiler's own was timed at; absent where it was refused. */
  readonly ms?: number;
  readonly refused?: string;
}

/** A choice and what its options took, the compiler's own first. */
export interface TunedKernel {
  readonly key: string;
  /** The kernel or op, for people. */
  readonly name: string;
  readonly standard: string;
  readonly standardMs: number;
  /** The least and the most that it took. */
  readonly standardRange: readonly [least: number, most: number];
  readonly best: string;
  readonly bestMs: number;
  readonly tried: readonly TriedOption[];
  /** False where the device's times varied too much to tell: then they are guesses, and the best is the compiler's own. */
  readonly settled: boolean;
}

type Dims = Readonly<Record<string, number>>;

/** Less gain than this may be noise, and is no reason to leave the compiler's own choice. */
const leastGain = 1.02;

/** Undefined where the compiler's own choice does not run here. */
export async function tuneChoice(
  device: Device,
  decision: Decision,
  dims: Dims,
  timing: Timing,
): Promise<TunedKernel | undefined> {
  const feeds = new Feeds(device, dims);
  const opened: Candidate[] = [];
  const refused = new Map<string, string>();
  let comparison: Comparison | undefined;
  try {
    const [first, ...others] = decision.options.map((option) => async () => {
      try {
        opened.push(await Candidate.open(device, decision.artifact(option), option, feeds));
      } catch (error) {
        refused.set(option, firstLine(error));
      }
    });
    await first!();
    const [standard] = opened;
    // Nothing can be compared with a choice of our own that fails.
    if (!standard) return undefined;
    const compare = async (): Promise<void> => {
      comparison = await Comparison.open(device, standard.exe.artifact, dims);
    };
    await standard.busyWhile([compare, ...others]);
    // A fault that was reported late is an option's, and shows again where its results are compared.
    device.driver.takeFault();
    for (const [option, why] of await wrongOnes(comparison!, opened)) refused.set(option, why);
    const rivals = opened.filter((c) => c !== standard && !refused.has(c.option));
    const timers = rivals.map((c) => c.timer);
    const times = await timeInTurns(standard.timer, timers, timing);
    const ms = new Map(rivals.map(({ option }, i) => [option, times.ms[i]!]));
    return summary(decision, times, ms.set(standard.option, times.standardMs), refused);
  } finally {
    comparison?.dispose();
    for (const { exe } of opened) exe.dispose();
    feeds.dispose();
  }
}

const firstLine = (error: unknown): string => (error as Error).message.split("\n")[0]!;

/** Which options are wrong, and why. */
async function wrongOnes(
  comparison: Comparison,
  [standard, ...others]: readonly Candidate[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let expected: DeviceArray[] = [];
  try {
    expected = await comparison.run(standard!.exe, standard!.inputs);
    for (const { option, exe, inputs } of others) {
      let results: DeviceArray[] = [];
      try {
        results = await comparison.run(exe, inputs);
        const why = await comparison.difference(expected, results);
        if (why !== undefined) found.set(option, why);
      } catch (error) {
        found.set(option, firstLine(error));
      } finally {
        for (const array of results) array.dispose();
      }
    }
  } finally {
    for (const array of expected) array.dispose();
  }
  return found;
}

function summary(
  { key, name, options }: Decision,
  { standardMs, standardRange, settled }: Times,
  ms: ReadonlyMap<string, number>,
  refused: ReadonlyMap<string, string>,
): TunedKernel {
  const standard = options[0]!;
  const tried = options.map((option): TriedOption => {
    const why = refused.get(option);
    return why === undefined ? { option, ms: ms.get(option)! } : { option, refused: why };
  });
  let [best, bestMs] = [standard, standardMs];
  if (settled)
    for (const { option, ms } of tried)
      if (ms !== undefined && ms < bestMs && ms * leastGain < standardMs)
        [best, bestMs] = [option, ms];
  return { key, name, standard, standardMs, standardRange, best, bestMs, tried, settled };
}
