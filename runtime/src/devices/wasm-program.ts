/**
 * A compiled artifact on a wasm device: turns the launches of a layout into calls once, puts in the
 * addresses of each run and hands the calls to the executor. Decides which calls are worth several
 * threads.
 */
import { type Artifact, ArtifactError, DeviceError } from "@kiln-ml/artifact";
import { type KernelTiming, type Program, type RunOptions, reopen } from "../device.ts";
import type { Buffer } from "../heap.ts";
import { bufferAt, type Frame, type Launch, type Layout, type Place } from "../layout.ts";
import type { LinearBuffer } from "./linear-memory.ts";
import { KernelTrap, type Stacks } from "./wasm-calls.ts";
import type { Executor, Solo } from "./wasm-executor.ts";
import type { runFlow as RunFlow } from "./wasm-flow.ts";
import { argsAt, noPart, partsAt, piecesAt } from "./wasm-words.ts";

/**
 * Threads take the parts of a call as they come free: one on a slow or busy processor holds up the
 * others by a part at most, and one that is slow to wake by nothing.
 */
const partsPerThread = 4;
const maxParts = noPart - 1;

/**
 * A call of less work than this, about 100 µs, is not shared: a thread that has rested takes that
 * long to wake. Work is counted in bytes; four operations take about as long as a byte, since those
 * that take longer are mostly alone.
 */
const sharedFrom = 1_000_000;
const flopsPerByte = 4;

/** Bytes or flops of a run that a page's own thread may do: about a millisecond. */
const lightBelow = 10_000_000;

/**
 * Engines compile a function well only after it has run for a while, and use the result from the
 * next call on. So the first launches of a kernel are cut into many calls.
 */
const youngLaunches = 30;
const youngPieces = 16;

/** What a program asks of its device. */
interface Host {
  take<T>(work: () => T): T | Promise<T>;
  stacks(sizeBytes: number, threads: number): Stacks;
  copy(from: Buffer, to: Buffer, sizeBytes: number): void;
  /** The first byte. */
  byteOf(buffer: Buffer): number;
  /** Why no call can succeed, or null. */
  failure(): string | null;
  /** Ends the device; the error to throw. */
  lose(why: string, cause: unknown): Error;
}

/**
 * The calls of a layout, each launch's once; `addresses` says which words are filled in for each
 * run.
 */
export interface Calls {
  readonly words: Int32Array;
  readonly addresses: readonly {
    readonly at: number;
    readonly place: Place;
    readonly start: number;
  }[];
  /** Where each launch's calls say how many pieces they are cut into. */
  readonly pieces: readonly (readonly number[])[];
  /** How many words after that the arguments begin. */
  readonly argsAfterPieces: number;
  /** Where each launch's calls begin, and at the end where the last one's end. */
  readonly starts: readonly number[];
  readonly stackBytes: number;
  readonly light: boolean;
}

let nextProgram = 0;

export class WasmProgram implements Program {
  readonly id = nextProgram++;
  readonly #host: Host;
  readonly #executor: Executor;
  /** For a plan with a flow. */
  readonly #runFlow: typeof RunFlow | undefined;
  readonly #kernels: Artifact["kernels"];
  /** Of each kernel, its first function among the entries. */
  readonly #firstEntry: readonly number[];
  readonly #calls = new WeakMap<Layout, Calls>();
  readonly #launched: number[];
  #destroyed = false;

  /** @internal Its functions are the executor's to have. */
  constructor(host: Host, executor: Executor, artifact: Artifact, runFlow?: typeof RunFlow) {
    this.#runFlow = runFlow;
    this.#host = host;
    this.#executor = executor;
    this.#kernels = artifact.kernels;
    let entries = 0;
    this.#firstEntry = artifact.kernels.map((kernel) => {
      entries += kernel.phases!.length;
      return entries - kernel.phases!.length;
    });
    this.#launched = artifact.kernels.map(() => 0);
  }

  /** Throws ArtifactError if the module lacks a function that a kernel names. */
  static async load(
    host: Host,
    executor: Executor,
    artifact: Artifact,
    module: WebAssembly.Module,
  ): Promise<WasmProgram> {
    const names = entryNames(artifact, module);
    const flow = artifact.plan.flow && (await import("./wasm-flow.ts"));
    const program = new WasmProgram(host, executor, artifact, flow?.runFlow);
    await executor.add(program.id, module, names);
    return program;
  }

  /** The same at once, for a plan without a flow. */
  static loadNow(
    host: Host,
    executor: Solo,
    artifact: Artifact,
    module: WebAssembly.Module,
  ): WasmProgram {
    const names = entryNames(artifact, module);
    const program = new WasmProgram(host, executor, artifact);
    executor.addNow(program.id, module, names);
    return program;
  }

  run(frame: Frame, options?: RunOptions): void | Promise<void> {
    return this.#run(frame, null, null, options);
  }

  async profile(frame: Frame): Promise<KernelTiming[]> {
    const { launches } = frame.layout;
    const times: number[] = [];
    const launched = frame.layout.flow ? [] : launches.map((_, i) => i);
    await this.#run(frame, times, launched);
    const ms = launches.map(() => 0);
    let call = 0;
    for (const i of launched) for (const _ of launches[i]!.units) ms[i]! += times[call++]!;
    return launches.map(
      ({ kernel, bytes, flops }, i): KernelTiming => ({
        name: this.#kernels[kernel]!.name,
        ms: ms[i]!,
        bytes,
        flops,
        timing: "clock",
      }),
    );
  }

  destroy(): void {
    // Runs that were called before still come.
    this.#host.take(() => {
      this.#destroyed = true;
      this.#executor.drop(this.id);
    });
  }

  /** `launched` gets the launches in their order, where the flow decides it. */
  #run(
    frame: Frame,
    times: number[] | null,
    launched: number[] | null,
    options?: RunOptions,
  ): void | Promise<void> {
    if (this.#destroyed) throw new DeviceError("run: the executable was disposed of");
    const calls = this.#callsOf(frame.layout);
    this.#fill(calls, frame);
    const stacks = this.#host.stacks(calls.stackBytes, this.#executor.threads);
    const { words, light } = calls;
    const { flow } = frame.layout;
    // Only what the executor throws leaves the memory in a state that nobody knows.
    const run = (list: Int32Array) => {
      try {
        return this.#executor
          .run({ program: this.id, words: list, stacks, light, times })
          ?.catch(this.#lose);
      } catch (error) {
        return this.#lose(error);
      }
    };
    const flag = (place: Place) => this.#host.byteOf(bufferAt(frame, place)) !== 0;
    const host = { run, flag, check: this.#check };
    const running = flow
      ? this.#runFlow!(calls, frame.layout, flow.walk(options), launched, host)
      : run(words);
    if (running) return running.then(() => this.#copy(frame));
    this.#copy(frame);
  }

  readonly #check = (): void => {
    const why = this.#host.failure();
    if (why !== null) throw new DeviceError(`run: ${why}${reopen}`);
  };

  /** After a trap nobody knows what the memory holds. */
  readonly #lose = (error: unknown): never => {
    if (!(error instanceof KernelTrap)) throw this.#host.lose((error as Error).message, error);
    const { name } = this.#kernels[this.#firstEntry.findLastIndex((n) => n <= error.entry)]!;
    throw this.#host.lose(`kernel ${name} trapped: ${error.message}`, error);
  };

  #copy(frame: Frame): void {
    for (const { from, to, bytes } of frame.layout.copies)
      this.#host.copy(bufferAt(frame, from), bufferAt(frame, to), bytes);
  }

  #fill({ words, addresses, pieces }: Calls, frame: Frame): void {
    for (const { at, place, start } of addresses) {
      const { address, sizeBytes } = bufferAt(frame, place) as LinearBuffer;
      if (start > sizeBytes && sizeBytes > 0)
        throw new ArtifactError(`run: a kernel begins at byte ${start} of ${sizeBytes}`);
      words[at] = address + Math.min(start, sizeBytes);
    }
    frame.layout.launches.forEach(({ kernel }, i) => {
      const young = this.#launched[kernel]! < youngLaunches;
      this.#launched[kernel]! += 1;
      for (const at of pieces[i]!) {
        const shared = words[at - piecesAt + partsAt]! > 1;
        words[at] = young ? youngPieces / (shared ? partsPerThread : 1) : 1;
      }
    });
  }

  #callsOf(layout: Layout): Calls {
    const known = this.#calls.get(layout);
    if (known) return known;
    const words: number[] = [];
    const addresses: Calls["addresses"][number][] = [];
    const starts = [0];
    const pieces = layout.launches.map((launch) => {
      const own = launch.units.map((units, phase) => {
        const at = words.length;
        this.#pushCall(words, launch, phase, units);
        launch.args.forEach((place, i) => {
          addresses.push({ at: at + argsAt + i, place, start: launch.starts?.[i] ?? 0 });
        });
        return at + piecesAt;
      });
      starts.push(words.length);
      return own;
    });
    const sum = (of: "bytes" | "flops") => layout.launches.reduce((n, l) => n + l[of], 0);
    const made: Calls = {
      words: Int32Array.from(words),
      addresses,
      pieces,
      argsAfterPieces: argsAt - piecesAt,
      starts,
      stackBytes: Math.max(0, ...layout.launches.map((l) => l.stackBytes)),
      light: Math.max(sum("bytes"), sum("flops")) < lightBelow,
    };
    this.#calls.set(layout, made);
    return made;
  }

  #pushCall(words: number[], launch: Launch, phase: number, units: number): void {
    const { kernel, args, dims, bytes, flops } = launch;
    const entry = this.#firstEntry[kernel]! + phase;
    const { threads } = this.#executor;
    const alone = threads === 1 || units < 2 || bytes + flops / flopsPerByte < sharedFrom;
    const parts = alone ? 1 : Math.min(units, partsPerThread * threads, maxParts);
    words.push(args.length + dims.length, entry, units, 1, parts, ...args.map(() => 0), ...dims);
  }
}

function entryNames({ kernels }: Artifact, module: WebAssembly.Module): string[] {
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  return kernels.flatMap(({ name, phases }) => {
    if (!phases || phases.length === 0)
      throw new ArtifactError(`load: kernel ${name} has no phases, a wasm kernel needs one`);
    for (const { entry } of phases)
      if (!exported.has(entry))
        throw new ArtifactError(`load: kernel ${name} names ${entry}, which the module lacks`);
    return phases.map(({ entry }) => entry);
  });
}
