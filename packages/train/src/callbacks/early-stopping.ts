/**
 * Ends a run whose monitored number no longer gets better.
 */
import { checkOptions, GraphError, type OptionNames } from "@kiln-ml/ir";
import { type Callback, checkMonitor, modeOf, monitored } from "../run.ts";

export interface EarlyStoppingOptions {
  /** What to watch; "val.loss" by default. */
  readonly monitor?: string;
  /** Epochs without a better value before the run ends, default 3. */
  readonly patience?: number;
  /** By how much a value must be better, default 0. */
  readonly minDelta?: number;
  /** "min" for losses and errors, "max" for the rest, if not given. */
  readonly mode?: "min" | "max";
}

const names: OptionNames<EarlyStoppingOptions> = { monitor: 1, patience: 1, minDelta: 1, mode: 1 };

interface State {
  readonly best: number | null;
  readonly waited: number;
}

/**
 * Ends the run after `patience` epochs in a row in which `monitor` was not better than ever before;
 * NaN is never better. `keras.callbacks.EarlyStopping`.
 * @example
 *   const stop = train.earlyStopping({ monitor: "loss", patience: 2 });
 *   const options = { optimizer, loss: nn.crossEntropy, epochs: 9, callbacks: [stop] };
 *   const { epochs } = await train.fit(net, loader, options);
 *   epochs.length <= 9 // true
 */
export function earlyStopping(options: EarlyStoppingOptions = {}): Callback {
  const {
    monitor = "val.loss",
    patience = 3,
    minDelta = 0,
  } = checkOptions("earlyStopping", options, names);
  if (!Number.isInteger(patience) || patience < 1)
    throw new GraphError(
      `earlyStopping: patience must be a whole number of 1 or more, got ${patience}`,
    );
  const sign = (options.mode ?? modeOf(monitor)) === "min" ? -1 : 1;
  let best: number | null = null;
  let waited = 0;
  const ended = () => waited >= patience;
  const reason = () =>
    `earlyStopping: ${monitor} was not better than ${best === null ? "at the start" : Number(best.toPrecision(6))} for ${waited} epochs`;
  return {
    name: "earlyStopping",
    onStart(run) {
      checkMonitor("earlyStopping", monitor, run);
      if (ended()) run.stop(reason());
    },
    onEpochEnd(run) {
      const value = monitored(monitor, run) ?? NaN;
      if (best === null ? !Number.isNaN(value) : sign * (value - best) > minDelta) {
        best = value;
        waited = 0;
      } else waited++;
      if (ended()) run.stop(reason());
    },
    state: (): State => ({ best, waited }),
    load(state: State) {
      best = state.best;
      waited = state.waited;
    },
  };
}
