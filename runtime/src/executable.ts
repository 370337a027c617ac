/**
 * An artifact on a device, ready to run: binds inputs, slots, outputs and states to the plan's
 * places and hands the frame to the device's program. It knows no op; it never waits for results.
 */
import { type Artifact, DeviceError, GraphError } from "@kiln-ml/artifact";
import { Arena } from "./arena.ts";
import type { Device, KernelTiming, Program, RunOptions } from "./device.ts";
import { DeviceArray } from "./device-array.ts";
import type { Flows } from "./flow.ts";
import type { Buffer } from "./heap.ts";
import { type TypedArray, toStorage } from "./host-array.ts";
import { type Dims, type Frame, type Layout, layOut } from "./layout.ts";
import { bindDims, type Extents, extentsOf, type Input, repeats } from "./signature.ts";
import { readStates, type Snapshot } from "./states.ts";

/** Layouts kept; programs see few distinct dims, and a layout is a few arrays of numbers. */
const keptLayouts = 256;

/** What a run needs of the caller's and the executable's own arrays. */
interface Held {
  inputs: readonly (Buffer | TypedArray)[];
  readonly state: readonly Buffer[];
  readonly constant: readonly Buffer[];
}

/** A run with its memory. */
interface Bound {
  readonly frame: Frame;
  readonly outputs: DeviceArray[];
  readonly arena: Arena;
  /** Puts the states back to what they were. */
  readonly undo?: () => void;
}

function checkOptions({ signal, maxTrips = 0 }: RunOptions): void {
  if (!(maxTrips >= 0))
    throw new GraphError(
      `run: maxTrips must be a number of 0 or more, got ${maxTrips}\n  leave it out for no bound`,
    );
  signal?.throwIfAborted();
}

export class Executable {
  readonly artifact: Artifact;
  readonly device: Device;
  /** Parameters, optimizer moments, counters: updated in place by every run. */
  readonly states: readonly DeviceArray[];
  readonly #program: Program;
  readonly #constants: readonly DeviceArray[];
  readonly #codeOf: Flows["code"] | undefined;
  readonly #layouts = new Map<string, Layout>();
  readonly #names: Names;
  /** Of the last call whose inputs fitted. */
  #last: { readonly extents: Extents; readonly layout: Layout } | undefined;

  /** @internal Made by `load`. */
  constructor(
    artifact: Artifact,
    device: Device,
    program: Program,
    states: readonly DeviceArray[],
    constants: readonly DeviceArray[],
    codeOf?: Flows["code"],
  ) {
    this.artifact = artifact;
    this.device = device;
    this.states = states;
    this.#program = program;
    this.#constants = constants;
    this.#codeOf = codeOf;
    this.#names = namesOf(artifact);
  }

  /**
   * Runs the program once. Resolves when the work is submitted; `data()` of an output waits for its
   * value. Host arrays among the inputs are taken as they are at the call.
   *
   * Throws ShapeError or DtypeError if an input does not fit the signature or a dim leaves its
   * bounds, DeviceError if an array was freed, the device is lost, or a tensor exceeds its limits;
   * the reason of `signal` once it is aborted, GraphError past `maxTrips`. A run that is ended by
   * either leaves the states as they were.
   */
  run(inputs: readonly Input[], options?: RunOptions): Promise<DeviceArray[]> {
    return this.#inTurn(inputs, options ? this.#limited(options) : this.#submit, options);
  }

  /**
   * As `run`, before it returns, for what `loadNow` loaded. Throws what `run` rejects with, and
   * DeviceError while runs that were called before go on.
   */
  runNow(inputs: readonly Input[]): DeviceArray[] {
    const { device } = this;
    device.check("run");
    const layout = this.#layoutOf(inputs);
    const held = this.#held(inputs);
    return device.driver.takeNow!(() => this.#submit(layout, held) as DeviceArray[]);
  }

  readonly #submit = (layout: Layout, held: Held): DeviceArray[] | Promise<DeviceArray[]> =>
    this.#run(this.#bind(layout, held));

  /** A run that may end before its time keeps what its states were, where it has loops. */
  #limited(options: RunOptions) {
    return (layout: Layout, held: Held): DeviceArray[] | Promise<DeviceArray[]> => {
      options.signal?.throwIfAborted();
      const bound = this.#bind(layout, held);
      return this.#run(layout.flow ? { ...bound, undo: this.#keep(bound) } : bound, options);
    };
  }

  #run(bound: Bound, options?: RunOptions): DeviceArray[] | Promise<DeviceArray[]> {
    try {
      const running = this.#program.run(bound.frame, options);
      if (running) return finish(bound, running);
    } catch (error) {
      abandon(bound);
      throw error;
    }
    // Work goes through the device in order, so whoever gets these buffers next comes after this
    // run.
    bound.arena.end();
    return bound.outputs;
  }

  /** Copies of the states that the run may change; the function puts them back. */
  #keep({ frame, arena, outputs }: Bound): () => void {
    const { driver } = this.device;
    const copies: (() => void)[] = [];
    try {
      this.artifact.signature.states.forEach(({ written }, i) => {
        const { sizeBytes } = this.states[i]!;
        if (!written || sizeBytes === 0) return;
        const state = frame.state[i]!;
        const copy = arena.take(sizeBytes, this.#names.states[i]!);
        driver.copy(state, copy, sizeBytes);
        copies.push(() => driver.copy(copy, state, sizeBytes));
      });
    } catch (error) {
      abandon({ outputs, arena });
      throw error;
    }
    return () => {
      if (driver.failure() === null) for (const put of copies) put();
    };
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

  /**
   * Checks the inputs and calls `work` when the device is ready for a run. Awaits nothing where
   * that is at once, for a small run takes no longer than a few promises.
   */
  #inTurn<T>(
    inputs: readonly Input[],
    work: (layout: Layout, held: Held) => T | Promise<T>,
    options?: RunOptions,
  ): Promise<T> {
    try {
      const { device } = this;
      device.check("run");
      if (options) checkOptions(options);
      const layout = this.#layoutOf(inputs);
      const held = this.#held(inputs);
      let begun = false;
      const result = device.driver.take(() => {
        begun = true;
        device.check("run");
        return work(layout, held);
      });
      // By its turn the caller may have written into them.
      if (!begun) held.inputs = held.inputs.map((x) => (ArrayBuffer.isView(x) ? x.slice() : x));
      return result instanceof Promise ? this.#hold(inputs, result) : Promise.resolve(result);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Keeps the memory of every array until the run is over: a caller may dispose of an input once it
   * has called `run`.
   */
  async #hold<T>(inputs: readonly Input[], running: Promise<T>): Promise<T> {
    const arrays = inputs.filter((x): x is DeviceArray => x instanceof DeviceArray);
    const releases = [...arrays, ...this.states, ...this.#constants].map((a) => a.hold());
    try {
      return await running;
    } finally {
      for (const release of releases) release();
    }
  }

  /**
   * Memory for every place of the plan. The outputs are the caller's; the rest goes back with the
   * arena. In the reverse order of giving back, so that the next run of a caller who frees its
   * outputs is given the same memory.
   */
  #bind(layout: Layout, { inputs, state, constant }: Held): Bound {
    const arena = new Arena(this.device.driver, this.#names.slotOwner);
    const outputs: DeviceArray[] = [];
    try {
      const output = this.#allocateOutputs(layout, outputs);
      const slot = layout.slotBytes.map((bytes, i) => arena.take(bytes, this.#names.slots[i]!));
      const input = inputs.map((x, i) => this.#place(x, i, layout, state, arena));
      return { frame: { layout, slot, input, output, state, constant }, outputs, arena };
    } catch (error) {
      abandon({ outputs, arena });
      throw error;
    }
  }

  #layoutOf(inputs: readonly Input[]): Layout {
    const { signature } = this.artifact;
    if (this.#last && repeats(this.#last.extents, signature, inputs)) return this.#last.layout;
    const layout = this.#layout(bindDims(signature, inputs));
    this.#last = { extents: extentsOf(inputs), layout };
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

  #held(inputs: readonly Input[]): Held {
    const { states, constants } = this.#names;
    return {
      inputs: inputs.map((x, i) => this.#memoryOf(x, i)),
      state: this.states.map((a, i) => a.bufferFor(states[i]!)),
      constant: this.#constants.map((a, i) => a.bufferFor(constants[i]!)),
    };
  }

  #memoryOf(input: Input, i: number): Buffer | TypedArray {
    if (!(input instanceof DeviceArray)) return "shape" in input ? input.data : input;
    const where = this.#names.inputs[i]!;
    if (input.device !== this.device)
      throw new DeviceError(
        `${where} is on another device\n  pass host data, or upload it to this device`,
      );
    return input.bufferFor(where);
  }

  /**
   * Memory for input `i`. One that is also a written state is copied: a kernel may not see it
   * change.
   */
  #place(
    x: Buffer | TypedArray,
    i: number,
    layout: Layout,
    state: readonly Buffer[],
    arena: Arena,
  ): Buffer {
    const { signature, target } = this.artifact;
    const { driver } = this.device;
    const spec = signature.inputs[i]!;
    if (!ArrayBuffer.isView(x)) {
      const alias = state.indexOf(x);
      if (alias < 0 || !signature.states[alias]!.written) return x;
      const copy = arena.take(x.sizeBytes, this.#names.inputs[i]!);
      driver.copy(x, copy, x.sizeBytes);
      return copy;
    }
    // A walk of loops may pause, and the caller go on meanwhile.
    const borrowed = layout.flow ? null : driver.borrow(x);
    if (borrowed) return borrowed;
    const data = toStorage(x, spec.dtype, target);
    const buffer = arena.take(data.byteLength, this.#names.inputs[i]!);
    driver.write(buffer, data);
    return buffer;
  }

  /** Fills `arrays`; their memory. */
  #allocateOutputs({ outputs }: Layout, arrays: DeviceArray[]): Buffer[] {
    const { signature } = this.artifact;
    const memory: Buffer[] = [];
    for (let i = outputs.length - 1; i >= 0; i--) {
      const { shape, bytes } = outputs[i]!;
      const buffer = this.device.driver.allocate(bytes, "arrays", this.#names.outputs[i]!);
      memory.unshift(buffer);
      arrays.unshift(new DeviceArray(this.device, signature.outputs[i]!.dtype, shape, buffer));
    }
    return memory;
  }
}

/** What errors and the report of memory call things; made once, since most runs need none of it. */
interface Names {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly states: readonly string[];
  readonly constants: readonly string[];
  readonly slots: readonly string[];
  readonly slotOwner: string;
}

const namesOf = ({ name, signature, plan, constants }: Artifact): Names => ({
  inputs: signature.inputs.map((spec) => `run: input ${spec.name}`),
  outputs: signature.outputs.map((spec) => `run: output ${spec.name}`),
  states: signature.states.map((spec) => `run: state ${spec.name}`),
  constants: constants.map((_, i) => `run: constant ${i}`),
  slots: plan.slots.map((_, i) => `run: slot ${i}`),
  slotOwner: `${name} slots`,
});

/** The outputs when the run is over, and its temporary memory given back. */
async function finish(bound: Bound, running: Promise<void>): Promise<DeviceArray[]> {
  try {
    await running;
  } catch (error) {
    abandon(bound);
    throw error;
  }
  bound.arena.end();
  return bound.outputs;
}

function abandon({ outputs, arena, undo }: Omit<Bound, "frame">): void {
  undo?.();
  for (const output of outputs) output.dispose();
  arena.end();
}
