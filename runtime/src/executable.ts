/**
 * An artifact on a device, ready to run: binds inputs, slots, outputs and states to the plan's places and hands
 * the frame to the device's program. It knows no op; it never waits for results.
 */
import { type Artifact, DeviceError } from "@kiln-ml/artifact";
import type { Device, KernelTiming, Program } from "./device.ts";
import { DeviceArray } from "./device-array.ts";
import type { flowCode } from "./flow.ts";
import type { Buffer } from "./heap.ts";
import { type TypedArray, toStorage } from "./host-array.ts";
import { type Dims, type Frame, type Layout, layOut } from "./layout.ts";
import { Lease } from "./lease.ts";
import { bindDims, type Input } from "./signature.ts";
import { readStates, type Snapshot } from "./states.ts";

/** Layouts kept; programs see few distinct dims, and a layout is a few arrays of numbers. */
const keptLayouts = 256;

/** What a run needs of the caller's and the executable's own arrays. */
interface Held {
  readonly inputs: readonly (Buffer | TypedArray)[];
  readonly state: readonly Buffer[];
  readonly constant: readonly Buffer[];
}

/** A run with its memory. */
interface Bound {
  readonly frame: Frame;
  readonly outputs: DeviceArray[];
  readonly lease: Lease;
}

export class Executable {
  readonly artifact: Artifact;
  readonly device: Device;
  /** Parameters, optimizer moments, counters: updated in place by every run. */
  readonly states: readonly DeviceArray[];
  readonly #program: Program;
  readonly #constants: readonly DeviceArray[];
  readonly #codeOf: typeof flowCode | undefined;
  readonly #layouts = new Map<string, Layout>();
  /** The shapes of the last run's inputs, where all were device arrays, and its layout. */
  #last: { readonly shapes: readonly (readonly number[])[]; readonly layout: Layout } | undefined;

  /** @internal Made by `load`. */
  constructor(
    artifact: Artifact,
    device: Device,
    program: Program,
    states: readonly DeviceArray[],
    constants: readonly DeviceArray[],
    codeOf?: typeof flowCode,
  ) {
    this.artifact = artifact;
    this.device = device;
    this.states = states;
    this.#program = program;
    this.#constants = constants;
    this.#codeOf = codeOf;
  }

  /**
   * Runs the program once. Resolves when the work is submitted; `data()` of an output waits for its value. Host
   * arrays among the inputs must not change before that.
   *
   * Throws ShapeError or DtypeError if an input does not fit the signature or a dim leaves its bounds,
   * DeviceError if an array was freed, the device is lost, or a tensor exceeds its limits.
   */
  async run(inputs: readonly Input[]): Promise<DeviceArray[]> {
    return this.#inTurn(inputs, (layout, held) => {
      const bound = this.#bind(layout, held);
      try {
        const running = this.#program.run(bound.frame);
        if (running) return finish(bound, running);
        // Work goes through the device in order, so whoever gets these buffers next comes after this run.
        bound.lease.end();
        return bound.outputs;
      } catch (error) {
        abandon(bound);
        throw error;
      }
    });
  }

  /** Runs the program once, states and all, with every kernel timed. `inputs` as in `run`. */
  async profile(inputs: readonly Input[]): Promise<KernelTiming[]> {
    const { outputs, timings } = await this.runProfiled(inputs);
    for (const output of outputs) output.dispose();
    return timings;
  }

  /** `run` and `profile` in one: the results beside the times. */
  async runProfiled(
    inputs: readonly Input[],
  ): Promise<{ outputs: DeviceArray[]; timings: KernelTiming[] }> {
    return this.#inTurn(inputs, async (layout, held) => {
      const bound = this.#bind(layout, held);
      let timings: KernelTiming[] = [];
      const running = this.#program.profile(bound.frame).then((rows) => {
        timings = rows;
      });
      return { outputs: await finish(bound, running), timings };
    });
  }

  /** Host copies of the states, from which `restore` builds them on another device. */
  snapshot(): Promise<Snapshot> {
    return readStates(this.artifact, this.states);
  }

  /** Frees what the executable owns; the states stay with whoever made them. */
  dispose(): void {
    for (const constant of this.#constants) constant.dispose();
    this.#program.destroy();
  }

  /** Checks the inputs and holds every array now, and calls `work` when the device is ready for a run. */
  async #inTurn<T>(
    inputs: readonly Input[],
    work: (layout: Layout, held: Held) => T | Promise<T>,
  ): Promise<T> {
    const { device } = this;
    device.check("run");
    const layout = this.#layoutOf(inputs);
    const lease = new Lease(device.driver, this.artifact.name);
    try {
      const held: Held = {
        inputs: inputs.map((x, i) => this.#hold(x, i, lease)),
        state: this.states.map((a) => lease.hold(a, "run: state")),
        constant: this.#constants.map((a) => lease.hold(a, "run: constant")),
      };
      return await device.driver.take(() => {
        device.check("run");
        return work(layout, held);
      });
    } finally {
      lease.end();
    }
  }

  /** Memory for every place of the plan. The outputs are the caller's; the rest goes back with the lease. */
  #bind(layout: Layout, held: Held): Bound {
    const lease = new Lease(this.device.driver, `${this.artifact.name} slots`);
    try {
      const slot = layout.slotBytes.map((bytes, i) => lease.take(bytes, `run: slot ${i}`));
      const input = held.inputs.map((x, i) => this.#place(x, i, held.state, lease));
      const outputs = this.#allocateOutputs(layout);
      const output = outputs.map((a) => a.buffer);
      const frame: Frame = { layout, slot, input, output, ...held };
      return { frame, outputs, lease };
    } catch (error) {
      lease.end();
      throw error;
    }
  }

  /** Device arrays never change their type, and each has a shape of its own: those of the last run need no second look. */
  #layoutOf(inputs: readonly Input[]): Layout {
    const last = this.#last;
    const same = (x: Input, i: number): boolean =>
      x instanceof DeviceArray && x.shape === last?.shapes[i];
    if (last && inputs.length === last.shapes.length && inputs.every(same)) return last.layout;
    const layout = this.#layout(bindDims(this.artifact.signature, inputs));
    const shapes = inputs.flatMap((x) => (x instanceof DeviceArray ? [x.shape] : []));
    this.#last = shapes.length === inputs.length ? { shapes, layout } : undefined;
    return layout;
  }

  #layout(dims: Dims): Layout {
    const key = Object.values(dims).join();
    const known = this.#layouts.get(key);
    if (known) return known;
    const made = layOut(this.artifact, dims, key, this.#codeOf);
    if (this.#layouts.size >= keptLayouts)
      this.#layouts.delete(this.#layouts.keys().next().value as string);
    this.#layouts.set(key, made);
    return made;
  }

  /** A caller may dispose of an input as soon as `run` has returned its promise, so its memory is held first. */
  #hold(input: Input, i: number, lease: Lease): Buffer | TypedArray {
    const where = `run: input ${this.artifact.signature.inputs[i]!.name}`;
    if (!(input instanceof DeviceArray)) return "shape" in input ? input.data : input;
    if (input.device !== this.device) throw new DeviceError(`${where} is on another device`);
    return lease.hold(input, where);
  }

  /** Memory for input `i`. One that is also a written state is copied: a kernel may not see it change. */
  #place(x: Buffer | TypedArray, i: number, state: readonly Buffer[], lease: Lease): Buffer {
    const { signature, target } = this.artifact;
    const { driver } = this.device;
    const spec = signature.inputs[i]!;
    if (!ArrayBuffer.isView(x)) {
      const alias = state.indexOf(x);
      if (alias < 0 || !signature.states[alias]!.written) return x;
      const copy = lease.take(x.sizeBytes, `run: input ${spec.name}`);
      driver.copy(x, copy, x.sizeBytes);
      return copy;
    }
    const borrowed = driver.borrow(x);
    if (borrowed) return borrowed;
    const data = toStorage(x, spec.dtype, target);
    const buffer = lease.take(data.byteLength, `run: input ${spec.name}`);
    driver.write(buffer, data);
    return buffer;
  }

  #allocateOutputs(layout: Layout): DeviceArray[] {
    const made: DeviceArray[] = [];
    try {
      this.artifact.signature.outputs.forEach(({ name, dtype }, i) => {
        const { shape } = layout.outputs[i]!;
        made.push(this.device.allocate(dtype, shape, "arrays", `run: output ${name}`));
      });
      return made;
    } catch (error) {
      for (const array of made) array.dispose();
      throw error;
    }
  }
}

/** The outputs when the run is over, and its temporary memory given back. */
async function finish(bound: Bound, running: Promise<void>): Promise<DeviceArray[]> {
  try {
    await running;
  } catch (error) {
    abandon(bound);
    throw error;
  }
  bound.lease.end();
  return bound.outputs;
}

function abandon({ outputs, lease }: Bound): void {
  for (const output of outputs) output.dispose();
  lease.end();
}
