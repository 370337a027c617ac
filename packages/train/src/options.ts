/**
 * What a run is made of: the options of `fit` and their types.
 */
import { GraphError, kindOf, type OptionNames, type ProductDtype, type Tensor } from "@kiln-ml/ir";
import { Module } from "@kiln-ml/nn";
import { Optimizer } from "@kiln-ml/optim";
import type { Batches } from "./batches.ts";
import type { Backend, Engine } from "./front.ts";
import type { Metric } from "./meter.ts";
import type { Callback } from "./run.ts";

/** (what the model gave, target) → a scalar. */
export type Loss = (output: Tensor, target: Tensor) => Tensor;

/** What a step of one's own gives: a loss, and what metrics are to measure. */
export interface StepResult {
  readonly loss: Tensor;
  readonly output?: Tensor;
  readonly target?: Tensor;
}

/** A step in graph: the arrays of a batch as tensors, in order. The optimizer follows it. */
export type Step = (...batch: Tensor[]) => StepResult | Tensor;

export interface EvaluateOptions {
  /** Of the output and the target: `nn.crossEntropy`, or a function. */
  readonly loss?: Loss | undefined;
  /** Beside the loss: `[train.metrics.accuracy()]`. */
  readonly metrics?: readonly Metric[] | undefined;
  /** In place of `loss(net.forward(…inputs), target)`. */
  readonly step?: Step | undefined;
  /**
   * "f16" or "bf16": products in half precision, with the loss scaled where f16 would lose
   * gradients.
   */
  readonly precision?: ProductDtype | undefined;
  /** Where it runs; by default where the model lives, or what suits it. */
  readonly target?: Backend | undefined;
  /** What runs it on devices of its own: `xla({ mesh })` of `@kiln-ml/xla`. */
  readonly engine?: Engine | undefined;
}

export interface FitOptions extends EvaluateOptions {
  /**
   * An optimizer, or what makes one of the parameters: `optim.adamW({ lr })`, or `(p) => new
   * optim.Adam(p, { lr })`.
   */
  readonly optimizer: Optimizer | ((params: Tensor[]) => Optimizer);
  /** Batches of which loss and metrics are told after each epoch. */
  readonly validation?: Batches | undefined;
  /** The step of the validation, if not `step`. */
  readonly validationStep?: Step | undefined;
  /** 1 by default. */
  readonly epochs?: number | undefined;
  /** Batches whose gradients are averaged for one step of the optimizer; 1 by default. */
  readonly accumulate?: number | undefined;
  /** Seeds `nn.seed` for layers that are not built yet, and keys that are not drawn yet. */
  readonly seed?: number | undefined;
  /** What is told of the run, and may end it. */
  readonly callbacks?: readonly Callback[] | undefined;
  /** A folder of `checkpoint`, or one of its files. A folder without checkpoints starts anew. */
  readonly resume?: string | undefined;
  /** What shows how far it is; false for nothing. */
  readonly renderer?: Callback | false | undefined;
  /** Ends the run after the present step, as Ctrl-C does. */
  readonly signal?: AbortSignal | undefined;
}

export const evaluateOptions: OptionNames<EvaluateOptions> = {
  loss: 1,
  metrics: 1,
  step: 1,
  precision: 1,
  target: 1,
  engine: 1,
};

export const fitOptions: OptionNames<FitOptions> = {
  ...evaluateOptions,
  optimizer: 1,
  validation: 1,
  validationStep: 1,
  epochs: 1,
  accumulate: 1,
  seed: 1,
  callbacks: 1,
  resume: 1,
  renderer: 1,
  signal: 1,
};

/** The step that `options` describe, before any optimizer. */
export function stepOf(op: string, net: Module, options: EvaluateOptions): Step {
  const { step, loss } = options;
  if (step) return step;
  if (typeof loss !== "function")
    throw new GraphError(
      `${op}: needs a loss, got ${kindOf(loss)}\n  give it one: { loss: nn.crossEntropy }, or a step of your own`,
    );
  return (...batch) => {
    const target = batch.at(-1)!;
    const output = forwardOf(net)(...(batch.length > 1 ? batch.slice(0, -1) : batch));
    return { loss: loss(output, target), output, target };
  };
}

export const forwardOf = (net: Module): ((...inputs: Tensor[]) => Tensor) =>
  net.forward.bind(net) as unknown as (...inputs: Tensor[]) => Tensor;

/** Throws GraphError unless `net` is a module. */
export function checkModule(op: string, net: unknown): void {
  if (!(net instanceof Module))
    throw new GraphError(
      `${op}: takes a module first, got ${kindOf(net)}\n  give it an nn.Module, or one around your function`,
    );
}

export function checkWhole(op: string, what: string, n: number): void {
  if (!Number.isInteger(n) || n < 1)
    throw new GraphError(`${op}: ${what} must be a whole number of 1 or more, got ${kindOf(n)}`);
}

export function optimizerOf(options: FitOptions, net: Module): Optimizer {
  const { optimizer } = options;
  if (optimizer instanceof Optimizer) return optimizer;
  const made = typeof optimizer === "function" ? optimizer(net.parameters()) : optimizer;
  if (made instanceof Optimizer) return made;
  throw new GraphError(
    `fit: needs an optimizer, got ${kindOf(made)}\n  give it one: { optimizer: (params) => new optim.Adam(params, { lr: 1e-3 }) }`,
  );
}
