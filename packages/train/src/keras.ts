/**
 * Keras's face: a model that knows its optimizer, loss and metrics by name, and is fitted to
 * arrays. All of it is `fit`, `evaluate` and `predict` of this package, said in another habit.
 */
import {
  batchShapeOf,
  DataLoader,
  type Fields,
  fromArrays,
  type NumericArray,
} from "@kiln-ml/data";
import {
  checkList,
  checkOptions,
  checkRecord,
  GraphError,
  kindOf,
  type OptionNames,
  type Tensor,
} from "@kiln-ml/ir";
import {
  bce,
  crossEntropy,
  huber,
  l1,
  type Module,
  mse,
  Sequential as PlainSequential,
} from "@kiln-ml/nn";
import { Adam, AdamW, type Optimizer, RMSProp, SGD } from "@kiln-ml/optim";
import type { Batches } from "./batches.ts";
import { evaluate, type Predicted, predict } from "./evaluate.ts";
import { fit } from "./fit.ts";
import { type Backend, frontDoor } from "./front.ts";
import type { Metric } from "./meter.ts";
import * as metrics from "./metrics/index.ts";
import type { EvaluateOptions, FitOptions, Loss } from "./options.ts";
import type { Callback, History, Logs } from "./run.ts";

/** Samples: nested lists, a typed array with its shape, or one of numbers. */
export type Samples =
  | readonly unknown[]
  | NumericArray
  | { readonly data: NumericArray; readonly shape: readonly number[] };

const optimizers: Readonly<Record<string, (params: Tensor[]) => Optimizer>> = {
  adam: (params) => new Adam(params, { lr: 1e-3 }),
  adamw: (params) => new AdamW(params, { lr: 1e-3 }),
  rmsprop: (params) => new RMSProp(params, { lr: 1e-3 }),
  sgd: (params) => new SGD(params, { lr: 1e-2 }),
};

/** Losses by Keras's names. Classes are logits here: a last layer with softmax is not needed. */
const losses: Readonly<Record<string, Loss>> = {
  sparse_categorical_crossentropy: crossEntropy,
  categorical_crossentropy: crossEntropy,
  binary_crossentropy: bce,
  mse,
  mean_squared_error: mse,
  mae: l1,
  mean_absolute_error: l1,
  huber,
};

const binaryAccuracy = (): Metric => ({ ...metrics.hammingScore(), name: "accuracy" });

function byName<T>(what: string, name: string, known: Readonly<Record<string, T>>): T {
  if (Object.hasOwn(known, name)) return known[name]!;
  throw new GraphError(
    `compile: there is no ${what} ${name}\n  it knows ${Object.keys(known).join(", ")}; or give the function itself`,
  );
}

export interface CompileSettings {
  readonly optimizer?: string | FitOptions["optimizer"];
  readonly loss: string | Loss;
  readonly metrics?: readonly (string | Metric)[];
}

export interface FitSettings {
  /** Samples a batch, default 32. */
  readonly batchSize?: number;
  readonly epochs?: number;
  /** In a new order at each epoch; true by default. */
  readonly shuffle?: boolean;
  readonly seed?: number;
  readonly validationData?: readonly [Samples, Samples];
  readonly callbacks?: readonly Callback[];
  readonly resume?: string;
  /** 0 for silence; 1 by default. */
  readonly verbose?: 0 | 1;
}

interface BatchSettings {
  /** Samples a batch, default 32. */
  readonly batchSize?: number;
}

interface Compiled {
  readonly optimizer: FitOptions["optimizer"];
  readonly shared: EvaluateOptions;
}

function shapeOf(list: unknown): number[] {
  return Array.isArray(list) ? [list.length, ...shapeOf(list[0])] : [];
}

const isShaped = (x: unknown): boolean =>
  x instanceof Object &&
  "data" in x &&
  ArrayBuffer.isView(x.data) &&
  "shape" in x &&
  Array.isArray(x.shape);

function arrayOf(samples: Samples, whole: boolean): readonly [NumericArray, readonly number[]] {
  if (ArrayBuffer.isView(samples)) {
    const array = samples as NumericArray;
    return [array, (batchShapeOf(array) ?? [array.length]).slice(1)];
  }
  if (!Array.isArray(samples)) {
    if (!isShaped(samples))
      throw new GraphError(
        `sequential: samples must be a list, a typed array, or { data, shape }, got ${kindOf(samples)}\n  pass one row for each sample`,
      );
    const { data, shape } = samples as Exclude<Samples, readonly unknown[] | NumericArray>;
    return [data, shape.slice(1)];
  }
  const flat = (samples as readonly unknown[]).flat(Infinity) as number[];
  const odd = flat.find((v) => typeof v !== "number");
  if (odd !== undefined)
    throw new GraphError(
      `sequential: samples must be numbers, got ${kindOf(odd)}\n  map each sample to numbers`,
    );
  const numbers =
    whole && flat.every(Number.isInteger) ? Int32Array.from(flat) : Float32Array.from(flat);
  return [numbers, shapeOf(samples).slice(1)];
}

type Entry = Parameters<PlainSequential["add"]>[0];

export interface SequentialOptions {
  /** Where it trains and predicts; what suits it by default. */
  readonly backend?: Backend;
}

const sequentialOptions: OptionNames<SequentialOptions> = { backend: 1 };
const backends: readonly Backend[] = ["auto", "js", "wasm", "native", "webgpu"];

/** Options stand last, as a plain object. */
const isOptions = (x: unknown): x is SequentialOptions =>
  x instanceof Object && Object.getPrototypeOf(x) === Object.prototype;

/**
 * Layers in a row that fit themselves: `compile`, `fit`, `evaluate`, `predict`, `summary`.
 * `keras.Sequential`.
 *
 * Throws GraphError for a backend that there is not.
 *
 * @param layers Layers and functions.
 * @example
 *   const model = new train.Sequential([new nn.Input([2]), new nn.Dense(8)], { backend: "js" });
 *   model.parameterCount // 24
 */
export class Sequential extends PlainSequential {
  #compiled: Compiled | undefined;
  #backend: Backend | undefined;

  constructor(...layers: readonly Entry[]);
  constructor(layers: readonly Entry[], options?: SequentialOptions);
  constructor(...entries: readonly unknown[]) {
    const last = entries.at(-1);
    super(...((isOptions(last) ? entries.slice(0, -1) : entries) as Entry[]));
    if (!isOptions(last)) return;
    this.backend = checkOptions("sequential", last, sequentialOptions).backend;
  }

  /** Where the next call of `fit`, `evaluate` or `predict` runs; parameters move there with it. */
  get backend(): Backend | undefined {
    return this.#backend;
  }

  set backend(name: Backend | undefined) {
    if (name !== undefined && !backends.includes(name))
      throw new GraphError(
        `sequential: there is no backend ${kindOf(name)}\n  it is one of ${backends.join(", ")}`,
      );
    this.#backend = name;
  }

  /** Says what to train with; names are Keras's. `optimizer` is "adam" by default. */
  compile(settings: CompileSettings): this {
    checkRecord("compile", settings, "settings");
    const { optimizer = "adam", loss, metrics: list = [] } = settings;
    checkList("compile", "metrics", list);
    const isSame = loss === "binary_crossentropy";
    const known = {
      accuracy: isSame ? binaryAccuracy : metrics.accuracy,
      mae: metrics.mae,
      mse: metrics.mse,
      r2: metrics.r2,
      precision: metrics.precision,
      recall: metrics.recall,
      f1: metrics.f1,
      auc: metrics.auroc,
    };
    this.#compiled = {
      optimizer:
        typeof optimizer === "string" ? byName("optimizer", optimizer, optimizers) : optimizer,
      shared: {
        loss: typeof loss === "string" ? byName("loss", loss, losses) : loss,
        metrics: list.map((m) => (typeof m === "string" ? byName("metric", m, known)() : m)),
      },
    };
    return this;
  }

  get #ready(): Compiled {
    if (this.#compiled) return this.#compiled;
    throw new GraphError(
      `sequential: fit and evaluate need a loss\n  call compile({ optimizer, loss }) first`,
    );
  }

  /** Targets that are whole numbers are classes where the loss takes classes. */
  #loader(x: Samples, y: Samples | undefined, batch: number, shuffle = false, seed = 0): Batches {
    const classes = this.#compiled?.shared.loss === crossEntropy;
    const fields = [arrayOf(x, false), ...(y === undefined ? [] : [arrayOf(y, classes)])];
    const floats = fields.map(([a, shape], i) =>
      i && !classes ? ([Float32Array.from(a), shape] as const) : ([a, shape] as const),
    );
    const set = fromArrays<Fields>(
      floats.map(([a]) => a),
      floats.map(([, shape]) => shape),
    );
    return new DataLoader(set, { batch, shuffle, seed });
  }

  /** Options of a run where the backend says, with the parameters there. */
  async #there(): Promise<{ readonly target?: Backend }> {
    if (this.backend === undefined) return {};
    await frontDoor().move?.(this, this.backend);
    return { target: this.backend };
  }

  /** Trains on all samples, `epochs` times. */
  async fit(x: Samples, y: Samples, settings: FitSettings = {}): Promise<History> {
    checkRecord("sequential.fit", settings, "settings");
    const { optimizer, shared } = this.#ready;
    const { batchSize = 32, shuffle = true, seed = 0, validationData, verbose = 1 } = settings;
    const { epochs, callbacks, resume } = settings;
    return fit(this, this.#loader(x, y, batchSize, shuffle, seed), {
      ...shared,
      optimizer,
      ...(await this.#there()),
      epochs,
      callbacks,
      resume,
      validation: validationData && this.#loader(...validationData, batchSize),
      ...(verbose === 0 ? { renderer: false } : {}),
    });
  }

  /** Loss and metrics over all samples. */
  async evaluate(x: Samples, y: Samples, settings: BatchSettings = {}): Promise<Logs> {
    checkRecord("sequential.evaluate", settings, "settings");
    const { batchSize = 32 } = settings;
    return evaluate(this, this.#loader(x, y, batchSize), {
      ...this.#ready.shared,
      ...(await this.#there()),
    });
  }

  async predict(x: Samples, settings: BatchSettings = {}): Promise<Predicted> {
    checkRecord("sequential.predict", settings, "settings");
    const { batchSize = 32 } = settings;
    return predict(this, this.#loader(x, undefined, batchSize), await this.#there());
  }

  /**
   * Prints the layers with the shapes of their results, where an `Input` makes them known, and
   * their parameters.
   */
  summary(print: (text: string) => void = console.log): void {
    if (typeof print !== "function")
      throw new GraphError(`summary: print must be a function, got ${kindOf(print)}`);
    print(summaryOf(this));
  }
}

/**
 * Layers of a model with their parameters, as a table. `keras.Model.summary`.
 *
 * @param net A module.
 * @example
 *   const net = new nn.Sequential(new nn.Linear(3, 2));
 *   train.summaryOf(net).split("\n").at(-1) // "total 8 parameters"
 */
export function summaryOf(net: Module): string {
  if (!(net instanceof Object) || typeof net.children !== "function")
    throw new GraphError(`summary: takes a module, got ${kindOf(net)}`);
  const rows = [...net.children()].map(([name, layer]) => [
    name,
    `${layer.constructor.name} ${layer.describe()}`.trim(),
    layer.parameterCount.toLocaleString("en-US"),
  ]);
  const all = [["layer", "kind", "parameters"], ...rows];
  const widths = [0, 1, 2].map((i) => Math.max(...all.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    `${row[0]!.padEnd(widths[0]!)}  ${row[1]!.padEnd(widths[1]!)}  ${row[2]!.padStart(widths[2]!)}`;
  const total = `total ${net.parameterCount.toLocaleString("en-US")} parameters`;
  return [line(all[0]!), "─".repeat(line(all[0]!).length), ...rows.map(line), total].join("\n");
}
