/**
 * A program that is timed: with made-up inputs, on a device that is kept busy meanwhile, since one at rest lowers its clock. Looks at
 * no results.
 */
import { type Artifact, evaluateExtent, type TensorSpec } from "@kiln-ml/artifact";
import { allocateHost, type Dtype, type HostArray, isFloat, toHost } from "@kiln-ml/ir";
import { type Device, type DeviceArray, type Executable, load } from "@kiln-ml/runtime/loader";
import { median, type Timer } from "./turns.ts";

type Dims = Readonly<Record<string, number>>;

/** Made-up inputs, shared by the options: their order may differ from one to the next, so like ones have equal values. */
export class Feeds {
  readonly #device: Device;
  readonly #dims: Dims;
  readonly #known = new Map<string, DeviceArray>();

  constructor(device: Device, dims: Dims) {
    this.#device = device;
    this.#dims = dims;
  }

  /** For each input its own memory, as in a program. */
  all(inputs: readonly TensorSpec[]): DeviceArray[] {
    const counts = new Map<string, number>();
    return inputs.map(({ name, dtype, shape }) => {
      const extents = shape.map((e) => evaluateExtent(e, this.#dims));
      const like = `${dtype} ${extents}${name.startsWith("dim.") ? name : ""}`;
      const count = counts.get(like) ?? 0;
      counts.set(like, count + 1);
      return this.#of(`${like} ${count}`, dtype, extents);
    });
  }

  #of(key: string, dtype: Dtype, extents: readonly number[]): DeviceArray {
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

const period = 65_537;
/** Even numbers to this power are so unlike that a single product, left out, shows in a sum of thousands; none is near 0. */
const [unlike, least] = [16, 1 / 64];

/** From 0 to 1, without a pattern. */
function even(i: number): number {
  const mixed = Math.imul(i + 1, 0x9e3779b1);
  const more = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca77);
  return ((more ^ (more >>> 13)) >>> 0) / 2 ** 32;
}

/** Positive, so that sums do not cancel and every option rounds alike. */
function noise(dtype: Dtype, size: number): HostArray {
  const numbers = Float64Array.from({ length: Math.min(size, period) }, (_, i) => {
    const x = even(i);
    return isFloat(dtype)
      ? x ** unlike + least
      : dtype === "bool"
        ? Math.round(x)
        : Math.floor(8 * x);
  });
  const first = toHost(dtype, numbers);
  if (first.length === size) return first;
  const all = allocateHost(dtype, size);
  for (let at = 0; at < size; at += first.length) all.set(first.subarray(0, size - at), at);
  return all;
}

/** Runs ahead of a measurement at most. */
const mostAhead = 4096;
/** Runs and milliseconds between two looks at what else is to be done. */
const [mostBetween, betweenMs] = [16, 2];
/** A time as short as this is the median of several. */
const [shortMs, several] = [0.2, 3];

export class Candidate {
  readonly option: string;
  readonly exe: Executable;
  readonly inputs: readonly DeviceArray[];
  /** Milliseconds of a run, as far as is known. */
  #ms = 0;

  private constructor(option: string, exe: Executable, inputs: readonly DeviceArray[]) {
    this.option = option;
    this.exe = exe;
    this.inputs = inputs;
  }

  static async open(
    device: Device,
    artifact: Artifact,
    option: string,
    feeds: Feeds,
  ): Promise<Candidate> {
    const inputs = feeds.all(artifact.signature.inputs);
    const exe = await load(artifact, device, { states: [] });
    const made = new Candidate(option, exe, inputs);
    try {
      made.#ms = await made.#once();
    } catch (error) {
      exe.dispose();
      throw error;
    }
    return made;
  }

  /** Measures right behind runs that are still in the queue. */
  readonly timer: Timer = async (lead) => {
    const times: number[] = [];
    const count = this.#ms < shortMs ? several : 1;
    for (let i = 0; i < count; i++) {
      const runs = Math.ceil(lead / count / Math.max(this.#ms, 1e-3));
      await this.#run(Math.min(runs, mostAhead));
      times.push(await this.#once());
    }
    this.#ms = median(times);
    return this.#ms;
  };

  /**
   * Keeps the device from clocking down while others are made ready; one that computes at once needs no such thing. All of
   * them have ended when it throws what one of them threw.
   */
  async busyWhile(works: readonly (() => Promise<void>)[]): Promise<void> {
    let busy = this.exe.device.kind === "webgpu";
    const keepBusy = async (): Promise<void> => {
      const runs = busy ? Math.ceil(Math.min(mostBetween, betweenMs / this.#ms)) : 0;
      // A device reports others' faults to whoever calls next; one of its own shows when this is timed.
      await this.#run(runs).catch(() => {
        busy = false;
      });
    };
    const failures: unknown[] = [];
    const begun: Promise<unknown>[] = [];
    for (const work of works) {
      begun.push(work().catch((error: unknown) => failures.push(error)));
      await keepBusy();
    }
    const done = Promise.all(begun).finally(() => {
      busy = false;
    });
    while (busy) {
      await keepBusy();
      // Other work has its turn as well.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await done;
    if (failures.length > 0) throw failures[0];
  }

  async #run(runs: number): Promise<void> {
    for (let i = 0; i < runs; i++)
      for (const output of await this.exe.run(this.inputs)) output.dispose();
  }

  async #once(): Promise<number> {
    const timings = await this.exe.profile(this.inputs);
    return timings.reduce((ms, t) => ms + t.ms, 0);
  }
}
