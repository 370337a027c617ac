/**
 * Lightning's face: a module that says what a step is and which optimizer it wants, and a trainer
 * that runs it. All of it is `fit`.
 */
import { GraphError, kindOf, type Tensor } from "@kiln-ml/ir";
import { Module } from "@kiln-ml/nn";
import type { Optimizer } from "@kiln-ml/optim";
import type { Batches } from "./batches.ts";
import { evaluate } from "./evaluate.ts";
import { fit } from "./fit.ts";
import type { FitOptions, StepResult } from "./options.ts";
import type { History, Logs } from "./run.ts";

/**
 * A module with its own steps. The gradient, the optimizer and metrics follow what a step gives.
 * `lightning.LightningModule`.
 * @example
 *   class Classifier extends train.TrainingModule {
 *     fc = new nn.Linear(1, 2);
 *     trainingStep(x, target) {
 *       const output = this.fc.forward(x);
 *       return { loss: nn.crossEntropy(output, target), output, target }; // for metrics
 *     }
 *     configureOptimizers() { return new optim.Adam(this.parameters(), { lr: 1e-3 }); }
 *   }
 *   const trainer = new train.Trainer({ metrics: [train.metrics.accuracy()], renderer: false });
 *   const { epochs } = await trainer.fit(new Classifier(), loader);
 *   epochs.length // 1
 */
export abstract class TrainingModule extends Module {
  /** The arrays of a batch as tensors → the loss, or `{ loss, output, target }` for metrics. */
  abstract trainingStep(...batch: Tensor[]): StepResult | Tensor;
  /** The same for validation; `trainingStep` if not overridden. */
  validationStep(...batch: Tensor[]): StepResult | Tensor {
    return this.trainingStep(...batch);
  }
  /** Called once all parameters are there. */
  abstract configureOptimizers(): Optimizer;
}

/** Options of `fit`, but for those that the module has. */
export interface TrainerOptions
  extends Omit<
    FitOptions,
    "optimizer" | "loss" | "step" | "validationStep" | "validation" | "epochs" | "resume"
  > {
  /** 1 by default. */
  readonly maxEpochs?: number;
}

/**
 * Trains a `TrainingModule`: `fit`, with the steps and the optimizer that the module says. Throws
 * GraphError for other modules. `lightning.Trainer`.
 *
 * @example
 *   class Regression extends train.TrainingModule {
 *     fc = new nn.Linear(1, 2);
 *     trainingStep(x, target) { return nn.crossEntropy(this.fc.forward(x), target); }
 *     configureOptimizers() { return new optim.SGD(this.parameters(), { lr: 0.1 }); }
 *   }
 *   const trainer = new train.Trainer({ maxEpochs: 2, renderer: false });
 *   (await trainer.fit(new Regression(), loader)).epochs.length // 2
 */
export class Trainer {
  readonly options: TrainerOptions;

  constructor(options: TrainerOptions = {}) {
    this.options = options;
  }

  fit(
    module: TrainingModule,
    loader: Batches,
    validation?: Batches,
    { resume }: { readonly resume?: string } = {},
  ): Promise<History> {
    checkModule(module);
    const { maxEpochs, ...options } = this.options;
    return fit(module, loader, {
      ...options,
      epochs: maxEpochs,
      resume,
      validation,
      step: module.trainingStep.bind(module),
      validationStep: module.validationStep.bind(module),
      optimizer: () => module.configureOptimizers(),
    });
  }

  /** Loss and metrics of the validation step over `loader`. */
  validate(module: TrainingModule, loader: Batches): Promise<Logs> {
    checkModule(module);
    const { metrics, precision } = this.options;
    const step = module.validationStep.bind(module);
    return evaluate(module, loader, { metrics, precision, step });
  }
}

function checkModule(module: unknown): void {
  if (!(module instanceof TrainingModule))
    throw new GraphError(
      `trainer: takes a TrainingModule, got ${kindOf(module)}\n  extend it with trainingStep and configureOptimizers, or use fit`,
    );
}
