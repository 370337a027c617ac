/**
 * Where a program runs if nobody says: the time of a run on each target from the program's own
 * counts, and the target that takes the least. Pure: opens no device, and knows of the machine what
 * it is told. An estimate is good to a factor of two or three; that is enough, because where two
 * targets are that close either will do.
 */
import {
  type Artifact,
  type Extent,
  evaluateExtent,
  packedBytes,
  type TargetName,
  type TensorSpec,
  timesOf,
} from "@kiln-ml/artifact";
import { secondsOf } from "@kiln-ml/compiler/program";
import { costs } from "./target-costs.ts";

/** What one run of a program does, with a value for every dim. */
export interface Counts {
  /** A step in a loop runs `times` times; once where that is absent. */
  readonly steps: readonly {
    readonly bytes: number;
    readonly flops: number;
    readonly times?: number;
  }[];
  readonly kernels: number;
  /** Bytes of the inputs, which a run uploads. */
  readonly uploaded: number;
  /** Bytes of the outputs, which are read back. */
  readonly read: number;
  /** Bytes of everything that lies on the device at once. */
  readonly held: number;
  readonly dtypes: ReadonlySet<string>;
}

export type AdapterKind = "discrete" | "integrated" | "software";

/** What there is to run on. A text says why a target is not there. */
export interface Machine {
  readonly wasm: { readonly threads: number } | string;
  readonly webgpu: AdapterKind | string;
}

/** Milliseconds. */
export interface Estimate {
  readonly target: TargetName;
  /** Of arithmetic and memory, whichever is longer in each step. */
  readonly compute: number;
  readonly launches: number;
  /** Inputs there and outputs back. */
  readonly transfer: number;
  /** Once, before the first run. */
  readonly load: number;
  /** A run, with its share of the load. */
  readonly total: number;
}

export interface Placement {
  readonly target: TargetName;
  /** The fastest first. */
  readonly estimates: readonly Estimate[];
  /** Why the others were left out. */
  readonly refused: Readonly<Partial<Record<TargetName, string>>>;
  readonly reason: string;
}

/** The load is shared by this many runs: a short training, or a page that a user stays on. */
export const expectedRuns = 100;

/** The value of a dim that has no largest one. */
export const nominalExtent = 32;

/** Bounded dims at their largest, others at 32, or at their least if that is more. */
export const nominalDims = ({ signature }: Artifact): Record<string, number> =>
  Object.fromEntries(
    signature.dims.map(({ name, min, max }) => [name, max ?? Math.max(min, nominalExtent)]),
  );

/** The counts of a compiled program, whichever target it was compiled for. */
export function countsOf(
  a: Artifact,
  dims: Readonly<Record<string, number>> = nominalDims(a),
): Counts {
  const value = (e: Extent): number => Math.max(0, evaluateExtent(e, dims));
  const sum = (values: readonly number[]): number => values.reduce((x, y) => x + y, 0);
  const bytes = (specs: readonly TensorSpec[]): number =>
    sum(specs.map((s) => s.shape.reduce<number>((n, e) => n * value(e), packedBytes(s.dtype))));
  const { inputs, outputs, states } = a.signature;
  const times = timesOf(a.plan, dims);
  const [uploaded, read] = [bytes(inputs), bytes(outputs)];
  const slots = sum(a.plan.slots.map((s) => Math.max(...s.sizes.map(value))));
  // js has f64 scratch for sums in f32.
  const bound = a.kernels
    .flatMap((k) => k.bindings)
    .flatMap((b) => (b.access === "scratch" ? [] : b.dtype));
  return {
    steps: a.plan.steps.map((s, i) => ({
      bytes: value(s.bytes),
      flops: value(s.flops),
      ...(times[i] === 1 ? {} : { times: times[i]! }),
    })),
    kernels: a.kernels.length,
    uploaded,
    read,
    held: uploaded + read + bytes(states) + slots,
    dtypes: new Set([...bound, ...[...inputs, ...outputs, ...states].map((s) => s.dtype)]),
  };
}

/** The target on which a program with these counts takes the least time on this machine. */
export function place(counts: Counts, machine: Machine): Placement {
  const refused: Partial<Record<TargetName, string>> = {};
  const estimates: Estimate[] = [];
  for (const target of ["wasm", "webgpu", "js"] as const) {
    const why = refusal(target, counts, machine);
    if (why === undefined) estimates.push(estimate(target, counts, machine));
    else refused[target] = why;
  }
  estimates.sort((a, b) => a.total - b.total);
  const [best, next] = estimates as [Estimate, Estimate?];
  return { target: best.target, estimates, refused, reason: reasonOf(best, next) };
}

function refusal(target: TargetName, counts: Counts, machine: Machine): string | undefined {
  if (target === "js") return undefined;
  if (target === "wasm") {
    if (typeof machine.wasm === "string") return machine.wasm;
    const { memory } = costs.wasm;
    return counts.held > memory
      ? `the program needs ${gigabytes(counts.held)}, a memory has ${gigabytes(memory)}`
      : undefined;
  }
  if (machine.webgpu === "software") return "the only adapter is software, slower than the CPU";
  if (machine.webgpu !== "discrete" && machine.webgpu !== "integrated") return machine.webgpu;
  return counts.dtypes.has("f64") ? "webgpu has no f64" : undefined;
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

function estimate(target: TargetName, counts: Counts, machine: Machine): Estimate {
  const parts =
    target === "js"
      ? onJs(counts)
      : target === "wasm"
        ? onWasm(counts, (machine.wasm as { threads: number }).threads)
        : onWebGpu(counts, machine.webgpu as "discrete" | "integrated");
  const run = parts.compute + parts.launches + parts.transfer;
  return { target, ...parts, total: run + parts.load / expectedRuns };
}

type Parts = Omit<Estimate, "target" | "total">;
type Rates = { readonly flops: number; readonly bytes: number };

const launchesOf = (steps: Counts["steps"]): number =>
  steps.reduce((n, s) => n + (s.times ?? 1), 0);

const timeOf = (steps: Counts["steps"], rates: Rates): number =>
  steps.reduce((ms, s) => ms + secondsOf(s, rates) * (s.times ?? 1), 0);

function onJs({ steps, kernels }: Counts): Parts {
  const { launch, loadKernel, ...rates } = costs.js;
  const compute = timeOf(steps, rates);
  return { compute, launches: launchesOf(steps) * launch, transfer: 0, load: kernels * loadKernel };
}

/** A step takes all threads where that is faster than one, waking included. */
function onWasm({ steps, kernels, uploaded, read }: Counts, threads: number): Parts {
  const c = costs.wasm;
  let [compute, launches] = [0, launchesOf(steps) * c.launch];
  for (const s of steps) {
    const alone = secondsOf(s, c);
    const shared = secondsOf(s, {
      flops: c.flops * threads,
      bytes: c.bytes * Math.min(threads, c.memoryThreads),
    });
    const threaded = threads > 1 && shared + c.wake < alone;
    compute += (threaded ? shared : alone) * (s.times ?? 1);
    if (threaded) launches += c.wake * (s.times ?? 1);
  }
  const transfer = (uploaded + read) / c.copy;
  return { compute, launches, transfer, load: c.load + kernels * c.loadKernel };
}

function onWebGpu(
  { steps, kernels, uploaded, read }: Counts,
  kind: "discrete" | "integrated",
): Parts {
  const c = costs.webgpu;
  const rates = c[kind];
  const compute = timeOf(steps, rates);
  const transfer = (uploaded + read) / rates.transfer + (read > 0 ? c.readback : 0);
  const launches = launchesOf(steps) * c.dispatch + c.submit;
  return { compute, launches, transfer, load: c.load + kernels * c.loadKernel };
}

const phrases: Readonly<Record<keyof Parts, string>> = {
  compute: "its arithmetic and memory are faster",
  launches: "its launches are cheaper",
  transfer: "it moves inputs and outputs faster",
  load: "it is loaded sooner",
};

/** The part in which the winner gains most on the next best. */
function reasonOf(best: Estimate, next: Estimate | undefined): string {
  if (!next) return `${best.target} is the only target here`;
  const gain = (part: keyof Parts): number =>
    (next[part] - best[part]) / (part === "load" ? expectedRuns : 1);
  const [part] = (Object.keys(phrases) as (keyof Parts)[]).sort((a, b) => gain(b) - gain(a));
  const times = next.total / best.total;
  const lead = times >= 1.05 ? `${times.toFixed(1)}× as fast as` : "about as fast as";
  return `${best.target} is ${lead} ${next.target}: ${phrases[part!]}`;
}

/**
 * What a device's name says of the adapter. Names that say nothing count as integrated, the slower
 * kind.
 */
export function adapterKind(name: string): AdapterKind {
  if (/swiftshader|llvmpipe|lavapipe|software|basic render|null backend/i.test(name))
    return "software";
  return /nvidia|geforce|quadro|tesla|[hav]100|h200|rtx|gtx|radeon (rx|pro)|instinct|\barc\b|pascal|turing|ampere|lovelace|hopper|blackwell|rdna/i.test(
    name,
  )
    ? "discrete"
    : "integrated";
}
