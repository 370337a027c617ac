/**
 * `fit`: epochs of steps. A step is one program, asked for and not waited for; metrics are its
 * state. The loop keeps the position, calls callbacks and saves nothing itself.
 */
import { checkOptions, checkRecord, GraphError } from "@kiln-ml/ir";
import { type Module, seed as seedModules } from "@kiln-ml/nn";
import type { Optimizer } from "@kiln-ml/optim";
import {
  type Batch,
  type Batches,
  checkBatches,
  empty,
  rowsOf,
  typesOf,
  typesOfBatch,
} from "./batches.ts";
import { evaluating } from "./evaluate.ts";
import type { ProgramFacts } from "./front.ts";
import { breathe, Interrupt } from "./interrupt.ts";
import type { MetricValue } from "./meter.ts";
import { buildLazily, restoreTraining, setTraining, trainingOf } from "./modes.ts";
import {
  checkModule,
  checkWhole,
  type FitOptions,
  fitOptions,
  optimizerOf,
  stepOf,
} from "./options.ts";
import { type EvaluationProgram, TrainingProgram } from "./program.ts";
import {
  type Callback,
  type EpochRecord,
  type History,
  historyOf,
  type Logs,
  type Run,
} from "./run.ts";
import { type Position, packSnapshot, positionIn, unpackSnapshot } from "./snapshot.ts";
import { surroundings } from "./surroundings.ts";

/** How often a run starts its engine again. */
const mostRestarts = 3;

/** How often, in ms, the loop gives way to signals and timers. */
const breathMs = 50;

const isThenable = (x: unknown): boolean =>
  x instanceof Object && "then" in x && typeof x.then === "function";

type PlainHook = "onStart" | "onStepEnd" | "onValidation" | "onEpochEnd" | "onInterrupt";

class Fit implements Run {
  readonly net: Module;
  readonly epochs: number;
  epoch = 1;
  batch = 0;
  step = 0;
  samples = 0;
  phase: "train" | "validation" = "train";
  readonly records: EpochRecord[] = [];
  stopped: string | undefined;
  interrupted = false;
  readonly #loader: Batches;
  readonly #options: FitOptions;
  readonly #callbacks: readonly Callback[];
  #program: TrainingProgram | undefined;
  #validation: EvaluationProgram | undefined;
  #finished = false;
  /** Of the present epoch: samples, and seconds before this process and since when in it. */
  #epochSamples = 0;
  #secondsBefore = 0;
  #since = performance.now();
  /** The tensors of a checkpoint, until there is a program that they fit. */
  #restoring: Uint8Array | undefined;
  #breathed = performance.now();

  constructor(net: Module, loader: Batches, options: FitOptions) {
    this.net = net;
    this.#loader = loader;
    this.#options = options;
    this.epochs = options.epochs ?? 1;
    const { renderer = surroundings().renderer() } = options;
    const all = [...(renderer ? [renderer] : []), ...(options.callbacks ?? [])];
    this.#callbacks = [...all.filter((c) => !c.last), ...all.filter((c) => c.last)];
  }

  get optimizer(): Optimizer {
    return this.#ready.optimizer;
  }

  get #ready(): TrainingProgram {
    if (this.#program) return this.#program;
    throw new GraphError("fit: nothing is built before the first batch");
  }

  get batches(): number | undefined {
    return this.#loader.length;
  }

  get names(): string[] {
    const own = ["loss", ...(this.#options.metrics ?? []).map((m) => m.name)];
    return this.#options.validation ? [...own, ...own.map((name) => `val.${name}`)] : own;
  }

  get configuration(): Record<string, string> {
    const { accumulate = 1, precision = "f32", seed, loss } = this.#options;
    const { kind, options } = this.#program?.optimizer ?? { kind: "optimizer", options: undefined };
    const settings = Object.entries(options ?? {}).map(
      ([name, v]) => `${name} ${typeof v === "function" ? "schedule" : String(v)}`,
    );
    return {
      model: this.net.constructor.name,
      optimizer: [kind, ...settings].join(", "),
      loss: loss?.name || "of the step",
      epochs: String(this.epochs),
      ...(this.batches ? { "batches an epoch": String(this.batches) } : {}),
      ...(this.#loader.options ? { "samples a batch": String(this.#loader.options.batch) } : {}),
      accumulate: String(accumulate),
      precision,
      ...(seed === undefined ? {} : { seed: String(seed) }),
    };
  }

  async read(): Promise<Logs> {
    return this.#ready.meters.values();
  }

  badStep(): Promise<number> {
    return this.#ready.badStep();
  }

  async program(): Promise<ProgramFacts | undefined> {
    return this.#ready.facts();
  }

  stop(reason: string): void {
    this.stopped ??= reason;
  }

  async snapshot(): Promise<Uint8Array> {
    const callbacks: Record<string, unknown> = {};
    for (const c of this.#callbacks) if (c.state) callbacks[c.name] = c.state();
    return packSnapshot(this.#ready.state, {
      epoch: this.epoch,
      batch: this.batch,
      step: this.step,
      finished: this.#finished,
      records: this.records,
      seconds: this.#seconds,
      samples: this.#epochSamples,
      loader: this.#loader.state?.() ?? null,
      callbacks,
    });
  }

  get #seconds(): number {
    return this.#secondsBefore + (performance.now() - this.#since) / 1000;
  }

  async run(): Promise<History> {
    const interrupt = new Interrupt(this.#options.signal);
    const training = trainingOf(this.net);
    let failure: { readonly error: unknown } | undefined;
    try {
      await this.#prepare();
      await this.#lasting(interrupt);
    } catch (error) {
      failure = { error };
    }
    interrupt.end();
    restoreTraining(training);
    for (const c of this.#callbacks) await c.onEnd?.(this, failure?.error);
    if (failure) throw failure.error;
    return historyOf(this);
  }

  /** Builds the programs and all state, so that a checkpoint fits; reads one if it is asked for. */
  async #prepare(): Promise<void> {
    const { seed, resume, validation } = this.#options;
    if (seed !== undefined) seedModules(seed);
    const types = await typesOf(this.#loader);
    setTraining(this.net, true);
    if (types) this.#build(types, types);
    if (validation) {
      const step = this.#options.validationStep ?? stepOf("fit", this.net, this.#options);
      this.#validation = evaluating(this.net, await typesOf(validation), {
        ...this.#options,
        step,
      });
    }
    if (resume !== undefined) await this.#resume(resume);
    if (this.#program && this.#restoring) await this.#restore();
    if (this.#program) await this.#start();
  }

  /** The program, and with `shapes`, the types of a batch, all of its state. */
  #build(types: Awaited<ReturnType<typeof typesOf>>, shapes: typeof types): void {
    const { metrics = [], precision = "f32", accumulate = 1, target, engine } = this.#options;
    const step = stepOf("fit", this.net, this.#options);
    const parts = { net: this.net, step, metrics, precision, types, target, engine };
    if (shapes) buildLazily(step, shapes);
    this.#program = new TrainingProgram(parts, optimizerOf(this.#options, this.net), accumulate);
    if (shapes) this.#program.build(shapes);
  }

  /** A loader that cannot tell its types shows them with its first batch. */
  async #meet(batch: Batch): Promise<void> {
    this.#build(undefined, typesOfBatch(batch));
    if (this.#restoring) await this.#restore();
    await this.#start();
  }

  async #start(): Promise<void> {
    await this.#call("onStart");
  }

  /** Takes the position of a checkpoint; false where there is none. */
  async #resume(path: string): Promise<boolean> {
    const bytes = await surroundings().readCheckpoint(path);
    if (!bytes) return false;
    const position: Position = positionIn(bytes);
    this.epoch = position.epoch;
    this.batch = position.batch;
    this.step = position.step;
    this.records.push(...position.records);
    this.#finished = position.finished;
    this.#secondsBefore = position.seconds;
    this.#epochSamples = position.samples;
    if (!this.#loader.load)
      throw new GraphError(
        "resume: the loader cannot go on within an epoch\n  give it state() and load(state), as data.DataLoader has them",
      );
    this.#loader.load(position.loader as never);
    for (const c of this.#callbacks)
      if (c.load && c.name in position.callbacks) c.load(position.callbacks[c.name] as never);
    this.#restoring = bytes;
    return true;
  }

  async #restore(): Promise<void> {
    await unpackSnapshot(this.#ready.state, this.#restoring!);
    this.#restoring = undefined;
  }

  /** The loop, which goes on from its last checkpoint where the engine below it was lost. */
  async #lasting(interrupt: Interrupt): Promise<void> {
    for (let left = mostRestarts; ; left--)
      try {
        return await this.#loop(interrupt);
      } catch (error) {
        if (left === 0 || !(await this.#recovers())) throw error;
        const [why] = (error as Error).message.split("\n");
        console.error(`${why}\n  started again, from epoch ${this.epoch}, step ${this.step}`);
      }
  }

  async #recovers(): Promise<boolean> {
    const folder = this.#callbacks.find((c) => c.folder !== undefined)?.folder;
    if (!this.#options.engine?.isLost || folder === undefined) return false;
    const before = this.records.splice(0);
    if (!(await this.#resume(folder))) {
      this.records.push(...before);
      return false;
    }
    await this.#restore();
    return true;
  }

  async #loop(interrupt: Interrupt): Promise<void> {
    // The loader of a finished epoch stands at the next one.
    if (this.#finished) this.#next();
    while (this.epoch <= this.epochs && this.stopped === undefined) {
      await this.#pass(interrupt);
      if (this.stopped !== undefined || this.epoch === this.epochs) return;
      this.#next();
    }
  }

  #next(): void {
    this.epoch++;
    this.batch = 0;
    this.#finished = false;
    this.#secondsBefore = 0;
    this.#epochSamples = 0;
  }

  /** One epoch, or what is left of it. */
  async #pass(interrupt: Interrupt): Promise<void> {
    setTraining(this.net, true);
    this.#since = performance.now();
    if (this.batch === 0 && this.#program) await this.#program.reset();
    for await (const batch of this.#loader) {
      if (!this.#program) await this.#meet(batch);
      // What a loop by hand does; beyond it a step makes no promise unless somebody waits.
      await this.#ready.run(this.step, batch);
      this.#count(batch);
      const told = this.#call("onStepEnd");
      if (told) await told;
      if (performance.now() - this.#breathed > breathMs) {
        await breathe();
        this.#breathed = performance.now();
      }
      if (interrupt.asked) {
        this.interrupted = true;
        this.stop("interrupted");
        await this.#call("onInterrupt");
        if (!this.#callbacks.some((c) => c.onInterrupt))
          console.error(
            `interrupted at epoch ${this.epoch}, step ${this.step}: nothing saves this run\n  give it train.checkpoint(folder), and resume: folder`,
          );
      }
      if (this.stopped !== undefined) return;
    }
    if (this.batch === 0) throw empty("fit");
    await this.#finish();
  }

  #count(batch: Batch): void {
    this.step++;
    this.batch++;
    const rows = rowsOf(batch);
    this.samples += rows;
    this.#epochSamples += rows;
  }

  /** Measures, validates and tells the callbacks. */
  async #finish(): Promise<void> {
    const logs: Record<string, MetricValue> = { ...(await this.read()) };
    const seconds = this.#seconds;
    const { validation } = this.#options;
    if (validation) {
      this.phase = "validation";
      await this.#call("onValidation");
      const values = await this.#validate(validation);
      for (const [name, value] of Object.entries(values)) logs[`val.${name}`] = value;
      this.phase = "train";
    }
    const samplesPerSecond = this.#epochSamples / seconds;
    this.records.push({ epoch: this.epoch, step: this.step, seconds, samplesPerSecond, logs });
    this.#finished = true;
    await this.#call("onEpochEnd");
  }

  async #validate(validation: Batches): Promise<Logs> {
    const program = this.#validation!;
    setTraining(this.net, false);
    await program.reset();
    let count = 0;
    for await (const batch of validation) {
      await program.run(...batch);
      count++;
    }
    setTraining(this.net, true);
    if (!count) throw empty("fit: validation");
    return program.meters.values();
  }

  /** Tells the callbacks, from the one at `first` on; a promise only once one of them gives one. */
  #call(hook: PlainHook, first = 0): Promise<void> | undefined {
    for (let i = first; i < this.#callbacks.length; i++) {
      const waits: unknown = this.#callbacks[i]![hook]?.(this);
      if (isThenable(waits)) return Promise.resolve(waits).then(() => this.#call(hook, i + 1));
    }
    return undefined;
  }
}

/**
 * Trains `net` on the batches of `loader`, of which the last array is the target and the others are
 * the arguments of `forward`.
 *
 * A step is one program: forward, `loss`, backward, optimizer and metrics. Resolves to the history:
 * what each epoch measured. Rejects with GraphError for options that do not fit and for a loader
 * without batches, with what callbacks throw, and with the errors of the graph.
 *
 * With `train.checkpoint("runs/a", { keep: 3 })` among the callbacks, `resume: "runs/a"` goes on
 * where a run ended. `keras.Model.fit`.
 *
 * @example
 *   const { epochs } = await train.fit(net, loader, {
 *     optimizer: (params) => new optim.AdamW(params, { lr: 3e-4 }),
 *     loss: nn.crossEntropy, metrics: [train.metrics.accuracy()], validation, epochs: 2,
 *     callbacks: [train.earlyStopping({ monitor: "val.accuracy" })],
 *   });
 *   epochs.length // 2
 */
export async function fit(net: Module, loader: Batches, options: FitOptions): Promise<History> {
  checkModule("fit", net);
  checkRecord("fit", options);
  checkOptions("fit", options, fitOptions);
  checkBatches("fit", loader);
  if (options.validation) checkBatches("fit: validation", options.validation);
  checkWhole("fit", "epochs", options.epochs ?? 1);
  checkWhole("fit", "accumulate", options.accumulate ?? 1);
  stepOf("fit", net, options);
  return new Fit(net, loader, options).run();
}
