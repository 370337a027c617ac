/**
 * Looks for a learning rate: a short run whose rate rises from step to step, after which the model
 * is as it was.
 */
import { checkOptions, checkRecord, GraphError, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { type Module, seed as seedModules } from "@kiln-ml/nn";
import { type Optimizer, type Schedule, schedule } from "@kiln-ml/optim";
import { type Batches, checkBatches, empty, typesOf, typesOfBatch } from "./batches.ts";
import { frontDoor } from "./front.ts";
import { buildLazily, restoreTraining, setTraining, trainingOf } from "./modes.ts";
import {
  checkModule,
  checkWhole,
  type EvaluateOptions,
  evaluateOptions,
  stepOf,
} from "./options.ts";
import { TrainingProgram } from "./program.ts";

export interface RateFinderOptions extends EvaluateOptions {
  /**
   * The optimizer for the rate that it is handed: `(params, lr) => new optim.Adam(params, { lr })`.
   */
  readonly optimizer: (params: Tensor[], lr: Schedule) => Optimizer;
  /** The first rate, default 1e-7. */
  readonly from?: number;
  /** The last rate, default 10. */
  readonly to?: number;
  /** Steps between them, default 100. */
  readonly steps?: number;
  /** Seeds layers and keys, as of `fit`. */
  readonly seed?: number;
}

const names: OptionNames<RateFinderOptions> = {
  ...evaluateOptions,
  optimizer: 1,
  from: 1,
  to: 1,
  steps: 1,
  seed: 1,
};

export interface RatePoint {
  readonly lr: number;
  readonly loss: number;
  /** The running mean of the losses, in which the slope is measured. */
  readonly smooth: number;
}

export interface FoundRate {
  /** Where the loss falls the fastest by log lr. */
  readonly lr: number;
  readonly points: readonly RatePoint[];
}

/** Losses beyond this many times the best end the search. */
const divergence = 4;
/** The share of the old in the running mean. */
const inertia = 0.9;

/**
 * Trains with a rate that rises geometrically, and resolves to the one at which the smoothed loss
 * falls the steepest, and the curve. Ends early once the loss diverges. The model is then as it
 * was. Smith 2017, section 3.3.
 *
 * Rejects with GraphError for rates out of order, and where the loss does not fall anywhere.
 * `lightning.pytorch.tuner.Tuner.lr_find`.
 *
 * @param net A module.
 * @param loader What gives batches: a `DataLoader`, or lists of arrays.
 * @example
 *   const { lr } = await train.findLearningRate(net, loader, {
 *     optimizer: (params, lr) => new optim.SGD(params, { lr }),
 *     loss: nn.crossEntropy, from: 1e-3, to: 1, steps: 20,
 *   });
 *   lr > 1e-3 && lr < 1 // true
 */
export async function findLearningRate(
  net: Module,
  loader: Batches,
  options: RateFinderOptions,
): Promise<FoundRate> {
  checkModule("findLearningRate", net);
  checkRecord("findLearningRate", options);
  const {
    from = 1e-7,
    to = 10,
    steps = 100,
    seed,
  } = checkOptions("findLearningRate", options, names);
  checkBatches("findLearningRate", loader);
  checkWhole("findLearningRate", "steps", steps);
  if (!(from > 0 && to > from && to < Infinity))
    throw new GraphError(`findLearningRate: rates must rise from above 0, got ${from} to ${to}`);
  if (seed !== undefined) seedModules(seed);
  const growth = (to / from) ** (1 / Math.max(1, steps - 1));
  const training = trainingOf(net);
  const losses = lossesOf(net, loader, options, schedule.exponential(from, growth), steps);
  const points: RatePoint[] = [];
  try {
    setTraining(net, true);
    for await (const loss of losses) {
      const step = points.length;
      const old = points.at(-1)?.smooth ?? loss;
      points.push({
        lr: from * growth ** step,
        loss,
        smooth: inertia * old + (1 - inertia) * loss,
      });
      const best = Math.min(...points.map((p) => p.smooth));
      if (!Number.isFinite(loss) || points.at(-1)!.smooth > divergence * best) break;
    }
  } finally {
    restoreTraining(training);
  }
  return { lr: steepest(points), points };
}

/**
 * The losses of up to `steps` steps, one after the other; the model is put back when the reader
 * ends.
 */
async function* lossesOf(
  net: Module,
  loader: Batches,
  options: RateFinderOptions,
  lr: Schedule,
  steps: number,
): AsyncGenerator<number> {
  const types = await typesOf(loader);
  const step = stepOf("findLearningRate", net, options);
  const position = loader.state?.();
  let program: TrainingProgram | undefined;
  let before: Uint8Array | undefined;
  let done = 0;
  try {
    while (done < steps) {
      const start = done;
      for await (const batch of loader) {
        if (!program) {
          const shapes = types ?? typesOfBatch(batch);
          if (shapes) buildLazily(step, shapes);
          before = await frontDoor().stateBytes(net.checkpoint());
          const optimizer = options.optimizer(net.parameters(), lr);
          const { precision = "f32", target } = options;
          program = new TrainingProgram(
            { net, step, metrics: [], precision, types, target },
            optimizer,
            1,
          );
        }
        // The metric of the loss alone: reset before each step it is that of the batch.
        if (done) await program.reset();
        await program.run(done++, batch);
        yield (await program.meters.values()).loss as number;
        if (done === steps) break;
      }
      if (done === start) throw empty("findLearningRate");
    }
  } finally {
    if (before) await frontDoor().loadState(net.checkpoint(), before);
    if (position !== undefined) loader.load?.(position as never);
  }
}

/** The first tenth is left out, in which the running mean is still young. */
function steepest(points: readonly RatePoint[]): number {
  let [best, lr] = [0, NaN];
  for (let i = Math.max(1, Math.floor(points.length / 10)); i < points.length; i++) {
    const slope = points[i]!.smooth - points[i - 1]!.smooth;
    if (slope < best) [best, lr] = [slope, points[i]!.lr];
  }
  if (Number.isNaN(lr))
    throw new GraphError(
      "findLearningRate: the loss falls at no rate\n  look at the points, and search between other rates: { from, to }",
    );
  return lr;
}
