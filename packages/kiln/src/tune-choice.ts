/**
 * Times the options of one choice on a device: each is compiled alone, compared with the compiler's own, and run in turn with the
 * others. An option whose results differ, or that the device refuses, is out, and why is noted.
 */
import type { Artifact, TensorSpec } from "@kiln-ml/artifact";
import { evaluateExtent } from "@kiln-ml/artifact";
import type { Decision } from "@kiln-ml/compiler";
import { allocateHost, type Dtype, fromHost, type HostArray, isFloat, toHost } from "@kiln-ml/ir";
import {
  type Device,
  type DeviceArray,
  type Executable,
  type KernelTiming,
  load,
} from "@kiln-ml/runtime/loader";

export interface TriedOption {
  readonly option: string;
  /** The median of its times in milliseconds; absent where it was refused. */
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
  readonly best: string;
  readonly bestMs: number;
  readonly tried: readonly TriedOption[];
}

export interface Timing {
  readonly rounds: number;
  /** Milliseconds of work before the first round: the clock of an idle card is low. */
  readonly warmUp: number;
  /** Milliseconds of work right before each measurement, for the same reason. */
  readonly lead: number;
}

type Dims = Readonly<Record<string, number>>;

interface Candidate {
  readonly option: string;
  readonly exe: Executable;
  readonly inputs: readonly DeviceArray[];
  readonly times: number[];
}

/** An option this much slower than the fastest after the first round is not timed again. */
const hopeless = 1.5;
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
  const tried = new Map<string, TriedOption>();
  const candidates: Candidate[] = [];
  try {
    let expected: Results | undefined;
    for (const option of decision.options) {
      try {
        const candidate = await open(device, decision.artifact(option), option, feeds);
        const results = await resultsOf(device, candidate);
        expected ??= results;
        const wrong = differences(expected, results, candidate.exe.artifact);
        if (wrong === undefined) candidates.push(candidate);
        else {
          candidate.exe.dispose();
          tried.set(option, { option, refused: wrong });
        }
      } catch (error) {
        tried.set(option, { option, refused: (error as Error).message.split("\n")[0]! });
      }
      // Nothing can be compared with a choice of our own that fails.
      if (!expected) return undefined;
    }
    await measure(candidates, timing);
    for (const { option, times } of candidates) tried.set(option, { option, ms: median(times) });
    return summary(
      decision,
      decision.options.map((o) => tried.get(o)!),
    );
  } finally {
    for (const { exe } of candidates) exe.dispose();
    feeds.dispose();
  }
}

function summary({ key, name }: Decision, tried: readonly TriedOption[]): TunedKernel {
  const [{ option: standard, ms: standardMs }] = tried as [{ option: string; ms: number }];
  let [best, bestMs] = [standard, standardMs];
  for (const { option, ms } of tried)
    if (ms !== undefined && ms < bestMs && ms * leastGain < standardMs)
      [best, bestMs] = [option, ms];
  return { key, name, standard, standardMs, best, bestMs, tried };
}

/** Made-up inputs, shared by the options: their order may differ from one to the next, so like ones have equal values. */
class Feeds {
  readonly #device: Device;
  readonly #dims: Dims;
  readonly #known = new Map<string, DeviceArray>();

  constructor(device: Device, dims: Dims) {
    this.#device = device;
    this.#dims = dims;
  }

  of({ name, dtype, shape }: TensorSpec): DeviceArray {
    const extents = shape.map((e) => evaluateExtent(e, this.#dims));
    const key = `${dtype} ${extents}${name.startsWith("dim.") ? name : ""}`;
    const known = this.#known.get(key);
    if (known) return known;
    const size = extents.reduce((a, b) => a * b, 1);
    const made = this.#device.upload(noise(dtype, size), dtype, extents);
    this.#known.set(key, made);
    return made;
  }

  dispose(): void {
    for (const array of this.#known.values()) array.dispose();
  }
}

/** Positive, so that sums do not cancel and every option rounds alike. */
function noise(dtype: Dtype, size: number): HostArray {
  const period = Float64Array.from({ length: Math.min(size, 65_537) }, (_, i) => {
    const x = ((i * 7919) % 65_537) / 65_537;
    return isFloat(dtype) ? x : dtype === "bool" ? Math.round(x) : Math.floor(8 * x);
  });
  const first = toHost(dtype, period);
  if (first.length === size) return first;
  const all = allocateHost(dtype, size);
  for (let at = 0; at < size; at += first.length) all.set(first.subarray(0, size - at), at);
  return all;
}

async function open(
  device: Device,
  artifact: Artifact,
  option: string,
  feeds: Feeds,
): Promise<Candidate> {
  const inputs = artifact.signature.inputs.map((spec) => feeds.of(spec));
  return { option, exe: await load(artifact, device, { states: [] }), inputs, times: [] };
}

/** What is kept for comparison: floats as numbers, whatever their width in memory. */
type Results = readonly ArrayLike<number>[];

/** The results of a run into memory that held something else before. */
async function resultsOf(device: Device, { exe, inputs }: Candidate): Promise<Results> {
  const before = await exe.run(inputs);
  const poison = before.map(({ dtype, shape }) => {
    const size = shape.reduce((a, b) => a * b, 1);
    return device.upload(allocateHost(dtype, size).fill(poisonOf(dtype)), dtype, shape);
  });
  for (const array of [...before, ...poison]) array.dispose();
  const outputs = await exe.run(inputs);
  const results: ArrayLike<number>[] = [];
  for (const array of outputs) {
    const values = (await array.data()) as HostArray;
    results.push(isHalf(array.dtype) ? fromHost(array.dtype, values) : values);
    array.dispose();
  }
  return results;
}

const isHalf = (dtype: Dtype): boolean => dtype === "f16" || dtype === "bf16";

/** No result of sums of positive numbers. */
const poisonOf = (dtype: Dtype): number =>
  isHalf(dtype) ? 0x7fff : isFloat(dtype) ? Number.NaN : 1;

const tolerances: Readonly<Partial<Record<Dtype, number>>> = { f32: 1e-3, f64: 1e-9 };
/** Of halves. */
const coarse = 2e-2;

/** Where the results of an option are not those of the compiler's own, beyond what another order of sums explains. */
function differences(expected: Results, got: Results, { signature }: Artifact): string | undefined {
  for (const [i, want] of expected.entries()) {
    const { name, dtype } = signature.outputs[i]!;
    const have = got[i]!;
    const tolerance = isFloat(dtype) ? (tolerances[dtype] ?? coarse) : 0;
    const scale = tolerance > 0 ? rootMeanSquare(want) : 0;
    for (let at = 0; at < want.length; at++) {
      const [x, y] = [want[at]!, have[at]!];
      if (x === y || Math.abs(x - y) <= tolerance * (Math.abs(x) + scale)) continue;
      if (!Object.is(x, y)) return `its ${name}[${at}] is ${y}, not ${x}`;
    }
  }
  return undefined;
}

function rootMeanSquare(values: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (!Number.isFinite(x)) continue;
    sum += x * x;
    count++;
  }
  return Math.sqrt(sum / (count || 1));
}

const sum = (timings: readonly KernelTiming[]): number => timings.reduce((ms, t) => ms + t.ms, 0);

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[times.length >> 1]!;

/** In turns, so that what changes with time, such as the clock, falls on all alike. */
async function measure(candidates: readonly Candidate[], timing: Timing): Promise<void> {
  await busy(candidates[0]!, timing.warmUp);
  for (let round = 0; round < timing.rounds; round++) {
    const fastest = Math.min(...candidates.map((c) => Math.min(...c.times)));
    for (const candidate of candidates) {
      const { exe, inputs, times } = candidate;
      if (times.length > 0 && Math.min(...times) > hopeless * fastest) continue;
      await keepBusy(candidate, timing.lead / (times.at(-1) ?? timing.lead));
      times.push(sum(await exe.profile(inputs)));
    }
  }
}

/** Runs for so many milliseconds. */
async function busy(candidate: Candidate, ms: number): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < ms) await keepBusy(candidate, 1);
}

const mostAhead = 64;

async function keepBusy({ exe, inputs }: Candidate, runs: number): Promise<void> {
  for (let i = 0; i < Math.min(runs, mostAhead); i++)
    for (const output of await exe.run(inputs)) output.dispose();
}
