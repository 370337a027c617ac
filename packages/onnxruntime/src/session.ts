/**
 * A session: a model with its names and types, which runs for feeds. Sessions share the devices of the process; their runs take turns, in
 * the order in which they were asked for. Does not look into graphs.
 */
import type { OnnxModel } from "kiln-ml/onnx";
import { isElementType } from "./element-arrays.ts";
import { Engine } from "./engine.ts";
import { env, quietestOf } from "./env.ts";
import { asSessionError, notCreated, notRun, SessionError } from "./errors.ts";
import type { FileType, InferenceSession } from "./inference-session.ts";
import { isBuffer, readModelFile } from "./model-file.ts";
import { targetsOf } from "./providers.ts";
import { checkSessionOptions, tellIgnored } from "./session-options.ts";
import type { Tensor } from "./tensor.ts";
import { checkTensor, type Declared, feedValue, fill, metadataOf, resultOf } from "./values.ts";
import { warnOnce } from "./warn.ts";

type Options = InferenceSession.SessionOptions;
type Metadata = InferenceSession.ValueMetadata;
type Fetches = ReadonlyMap<string, unknown>;
type Values = Awaited<ReturnType<Engine["run"]>>;

const isRecord = (x: unknown): x is Record<string, unknown> =>
  typeof x === "object" && x !== null && !Array.isArray(x);

const isTensor = (x: unknown): boolean => isRecord(x) && "dims" in x && "type" in x;

function declaredOf(
  { name, type }: OnnxModel["inputs"][number],
  dims: Readonly<Record<string, number>> = {},
): Declared {
  if (type?.kind !== "tensor" || !isElementType(type.type)) return { name, isTensor: false };
  const extent = (d: number | string | undefined): number | string =>
    typeof d === "number" ? d : d && Object.hasOwn(dims, d) ? dims[d]! : (d ?? "");
  return { name, isTensor: true, type: type.type, shape: type.shape?.map(extent) };
}

/** The arguments of `create` after the first: a range of a buffer, then options. */
function rangeOf(
  from: unknown,
  [first, second, third]: readonly unknown[],
): { from: FileType | URL; options: Options } {
  const ranged = typeof first === "number" && isBuffer(from);
  const options = ranged ? (isRecord(second) ? second : third) : first;
  if (options !== undefined && !isRecord(options))
    throw new TypeError("'options' must be an object.");
  if (!ranged) return { from: from as FileType | URL, options: options ?? {} };
  if (!Number.isSafeInteger(first)) throw new RangeError("'byteOffset' must be an integer.");
  if (first < 0 || first >= from.byteLength)
    throw new RangeError(`'byteOffset' is out of range [0, ${from.byteLength}).`);
  const length = typeof second === "number" ? second : from.byteLength - first;
  if (!Number.isSafeInteger(length)) throw new RangeError("'byteLength' must be an integer.");
  if (length <= 0 || first + length > from.byteLength)
    throw new RangeError(`'byteLength' is out of range (0, ${from.byteLength - first}].`);
  return { from: new Uint8Array(from, first, length), options: options ?? {} };
}

/** Threads that are asked for; 0 is as many as there are. */
function threadsOf({ intraOpNumThreads }: Options): number | undefined {
  const asked = env.wasm.numThreads || intraOpNumThreads || undefined;
  return Number.isSafeInteger(asked) && asked! > 0 ? asked : undefined;
}

/** Runs of all sessions that have not read their feeds yet. */
let waiting = 0;

export class SessionClass implements InferenceSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: readonly Metadata[];
  readonly outputMetadata: readonly Metadata[];
  readonly #inputs: readonly Declared[];
  readonly #outputs: readonly Declared[];
  readonly #engine: Engine;
  readonly #severity: number | undefined;
  readonly #running = new Set<Promise<unknown>>();
  #released = false;

  private constructor(engine: Engine, options: Options) {
    this.#engine = engine;
    this.#severity = options.logSeverityLevel;
    const { freeDimensionOverrides: dims } = options;
    this.#inputs = engine.inputs.map((def) => declaredOf(def, dims));
    this.#outputs = engine.outputs.map((def) => declaredOf(def, dims));
    this.inputMetadata = this.#inputs.map(metadataOf);
    this.outputMetadata = this.#outputs.map(metadataOf);
    this.inputNames = this.inputMetadata.map((m) => m.name);
    this.outputNames = this.outputMetadata.map((m) => m.name);
  }

  static async create(model: unknown, ...rest: readonly unknown[]): Promise<SessionClass> {
    const { from, options } = rangeOf(model, rest);
    checkSessionOptions(options);
    const { targets, passed } = targetsOf(options.executionProviders);
    tellIgnored(options, passed);
    const file = await readModelFile(from, options.externalData);
    try {
      const engine = await Engine.open(file, {
        targets,
        dims: options.freeDimensionOverrides ?? {},
        fusion: options.graphOptimizationLevel !== "disabled",
        threads: threadsOf(options),
        warn: (text) => warnOnce(text, quietestOf(options.logSeverityLevel)),
      });
      return new SessionClass(engine, options);
    } catch (error) {
      throw asSessionError(notCreated, error);
    }
  }

  async run(feeds: unknown, second?: unknown, third?: unknown): Promise<Record<string, Tensor>> {
    this.#check();
    const { fetches, options } = this.#asked(feeds, second, third);
    if (options.terminate)
      throw new SessionError(notRun, "FAIL", "Exiting due to terminate flag being set to true.");
    const running = this.#run(feeds as Record<string, unknown>, fetches);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Waits for the runs that were asked for before it; those after it reject. */
  async release(): Promise<void> {
    this.#check();
    this.#released = true;
    await Promise.allSettled(this.#running);
    await this.#engine.dispose();
  }

  startProfiling(): void {
    warnOnce("startProfiling means nothing here, and is left alone", quietestOf(this.#severity));
  }

  endProfiling(): void {}

  #check(): void {
    if (this.#released) throw new Error("Session already disposed.");
  }

  async #run(feeds: Record<string, unknown>, fetches: Fetches): Promise<Record<string, Tensor>> {
    // What runs later reads its feeds now.
    const own = waiting > 0;
    waiting += 1;
    try {
      const given = this.#inputs.map((d) => feedValue(feeds[d.name], d, own));
      const values = given.some((v) => v instanceof Promise) ? await Promise.all(given) : given;
      const named = this.inputNames.map((name, i) => [name, values[i]] as const);
      return this.#results(await this.#engine.run(Object.fromEntries(named) as Values), fetches);
    } catch (error) {
      throw asSessionError(notRun, error);
    } finally {
      waiting -= 1;
    }
  }

  #results(values: Awaited<ReturnType<Engine["run"]>>, fetches: Fetches): Record<string, Tensor> {
    return Object.fromEntries(
      [...fetches].map(([name, target]) => {
        const result = resultOf(values[name] ?? null) as Tensor;
        return [name, target ? (fill(name, target, result) as Tensor) : result];
      }),
    );
  }

  /** The outputs that are wanted, and the options, as the arguments of `run` tell them apart. */
  #asked(
    feeds: unknown,
    second: unknown,
    third: unknown,
  ): { fetches: Fetches; options: InferenceSession.RunOptions } {
    if (!isRecord(feeds) || isTensor(feeds))
      throw new TypeError("'feeds' must be an object of tensors by the names of inputs");
    const named = isRecord(second) && this.outputNames.some((name) => Object.hasOwn(second, name));
    const fetches = this.#fetches(second, named);
    const options = fetches ? third : second;
    if (options !== undefined && !isRecord(options))
      throw new TypeError("'options' must be an object.");
    for (const declared of this.#inputs) {
      const given = feeds[declared.name];
      if (given === undefined || (given === null && declared.isTensor))
        throw new Error(`input '${declared.name}' is missing in 'feeds'.`);
    }
    const all = new Map(this.outputNames.map((name) => [name, null]));
    return { fetches: fetches ?? all, options: options ?? {} };
  }

  /** The outputs that the second argument asks for; undefined where it is options. */
  #fetches(second: unknown, named: boolean): Fetches | undefined {
    if (second === undefined) return undefined;
    if (second === null) throw new TypeError("Unexpected argument[1]: cannot be null.");
    if (isTensor(second)) throw new TypeError("'fetches' cannot be a Tensor");
    if (Array.isArray(second)) {
      if (second.length === 0) throw new TypeError("'fetches' cannot be an empty array.");
      for (const name of second) {
        if (typeof name !== "string")
          throw new TypeError("'fetches' must be a string array or an object.");
        if (!this.outputNames.includes(name))
          throw new RangeError(`'fetches' contains invalid output name: ${name}.`);
      }
      return new Map(second.map((name) => [name, null]));
    }
    if (!isRecord(second))
      throw new TypeError("Unexpected argument[1]: must be 'fetches' or 'options'.");
    if (!named) return undefined;
    return this.#preallocated(second);
  }

  #preallocated(fetches: Record<string, unknown>): Fetches {
    const wanted = this.#outputs.filter(({ name }) => fetches[name] !== undefined);
    for (const declared of wanted) {
      const target = fetches[declared.name];
      if (target === null) continue;
      if (!isTensor(target))
        throw new TypeError(`output '${declared.name}' must be a Tensor or null`);
      checkTensor("output", target as Tensor, declared);
    }
    return new Map(wanted.map(({ name }) => [name, fetches[name]]));
  }
}

Object.defineProperty(SessionClass, "name", { value: "InferenceSession" });
