/**
 * `evaluate` and `predict`: passes over data that change nothing, with the model in evaluation
 * mode.
 */
import {
  checkOptions,
  checkRecord,
  GraphError,
  type HostArray,
  type OptionNames,
  type Tensor,
} from "@kiln-ml/ir";
import type { Module } from "@kiln-ml/nn";
import { type Batches, checkBatches, empty, typesOf } from "./batches.ts";
import { type ArgumentType, type Backend, type Compiled, frontDoor } from "./front.ts";
import { restoreTraining, setTraining, trainingOf } from "./modes.ts";
import {
  checkModule,
  checkWhole,
  type EvaluateOptions,
  evaluateOptions,
  forwardOf,
  stepOf,
} from "./options.ts";
import { EvaluationProgram } from "./program.ts";
import type { Logs } from "./run.ts";

/** The program that measures `net` by `options`. */
export function evaluating(
  net: Module,
  types: readonly ArgumentType[] | undefined,
  options: EvaluateOptions,
): EvaluationProgram {
  const { metrics = [], precision = "f32", target, engine } = options;
  const step = stepOf("evaluate", net, options);
  return new EvaluationProgram({ net, step, metrics, precision, types, target, engine });
}

/** Runs `work` with `net` in evaluation mode. */
async function inEvaluation<T>(net: Module, work: () => Promise<T>): Promise<T> {
  const before = trainingOf(net);
  setTraining(net, false);
  try {
    return await work();
  } finally {
    restoreTraining(before);
  }
}

/**
 * Loss and metrics of `net` over all batches of `loader`: `{ loss, accuracy, … }`. Rejects with
 * GraphError for a loader without any. `keras.Model.evaluate`.
 * @example
 *   const { loss, accuracy } = await train.evaluate(net, loader, {
 *     loss: nn.crossEntropy,
 *     metrics: [train.metrics.accuracy()],
 *   });
 *   accuracy >= 0 && accuracy <= 1 // true
 */
export async function evaluate(
  net: Module,
  loader: Batches,
  options: EvaluateOptions,
): Promise<Logs> {
  checkModule("evaluate", net);
  checkRecord("evaluate", options);
  checkOptions("evaluate", options, evaluateOptions);
  checkBatches("evaluate", loader);
  const program = evaluating(net, await typesOf(loader), options);
  return inEvaluation(net, async () => {
    let count = 0;
    for await (const batch of loader) {
      await program.run(...batch);
      count++;
    }
    if (!count) throw empty("evaluate");
    return program.meters.values();
  });
}

/** Elements of all rows, row-major, with their shape. */
export interface Predicted {
  readonly data: HostArray;
  readonly shape: readonly number[];
}

/** Programs by model, so that a second call compiles nothing. */
const programs = new WeakMap<Module, Map<string, Compiled>>();

function programOf(net: Module, count: number, target: Backend | undefined): Compiled {
  const own = programs.get(net) ?? new Map<string, Compiled>();
  programs.set(net, own);
  const key = `${count} ${target}`;
  const found = own.get(key);
  if (found) return found;
  const forward = forwardOf(net);
  const options = { name: "predict", ...(target && { target }) };
  const made = frontDoor().compile((...inputs) => forward(...inputs), options);
  own.set(key, made);
  return made;
}

const predictOptions: OptionNames<PredictOptions> = { inputs: 1, target: 1 };

export interface PredictOptions {
  /**
   * Arrays of a batch that are inputs: those before it are passed, the rest is not; all but the
   * last by default.
   */
  readonly inputs?: number;
  /** Where it runs; by default where the model lives, or what suits it. */
  readonly target?: Backend | undefined;
}

/**
 * What `net` gives for all batches of `loader`, one after the other along the first axis: `{ data,
 * shape }`.
 *
 * A batch of one array is an input; of several, the last is the target and stays unread. Rejects
 * with GraphError for a loader without batches, and for a model that does not give one tensor.
 * `keras.Model.predict`.
 *
 * @example
 *   const { shape } = await train.predict(net, loader);
 *   shape // [4, 2]
 */
export async function predict(
  net: Module,
  loader: Batches,
  options: PredictOptions = {},
): Promise<Predicted> {
  checkModule("predict", net);
  const { inputs, target } = checkOptions("predict", options, predictOptions);
  if (inputs !== undefined) checkWhole("predict", "inputs", inputs);
  checkBatches("predict", loader);
  const parts: Predicted[] = [];
  await inEvaluation(net, async () => {
    for await (const batch of loader) {
      const count = inputs ?? Math.max(1, batch.length - 1);
      const y = (await programOf(net, count, target)(...batch.slice(0, count))) as Tensor;
      parts.push({ data: await y.data(), shape: y.shape as readonly number[] });
      y.dispose();
    }
  });
  return joined(parts);
}

function joined(parts: readonly Predicted[]): Predicted {
  const [first] = parts;
  if (!first) throw empty("predict");
  if (!first.shape.length)
    throw new GraphError(
      "predict: the model gives a scalar, and rows are to be joined\n  return a tensor whose first axis is the batch",
    );
  const length = parts.reduce((n, { data }) => n + data.length, 0);
  const data = new (first.data.constructor as new (n: number) => Float32Array)(length);
  let at = 0;
  for (const part of parts) {
    data.set(part.data as Float32Array, at);
    at += part.data.length;
  }
  const rows = parts.reduce((n, { shape }) => n + shape[0]!, 0);
  return { data, shape: [rows, ...first.shape.slice(1)] };
}
