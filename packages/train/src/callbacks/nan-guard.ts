/**
 * Ends a run whose loss is no longer a number. The steps note the first such one themselves, so the
 * guard looks only now and then and still says which it was.
 */
import { checkOptions, GraphError } from "@kiln-ml/ir";
import type { Callback, Run } from "../run.ts";

export interface NanGuardOptions {
  /** Steps between two looks, default 50. Every look waits for the device. */
  readonly every?: number;
}

/**
 * Throws GraphError, naming the step, once a loss was infinite or NaN. Checkpoints are not written
 * from then on. `keras.callbacks.TerminateOnNaN`.
 * @example
 *   const loss = (y) => y.sum().mul(NaN);
 *   const options = { optimizer, loss, callbacks: [train.nanGuard()] };
 *   await train.fit(net, loader, options) // throws GraphError; and names the step
 */
export function nanGuard(options: NanGuardOptions = {}): Callback {
  const { every = 50 } = checkOptions("nanGuard", options, { every: 1 });
  const look = async (run: Run): Promise<void> => {
    const bad = await run.badStep();
    if (bad)
      throw new GraphError(
        `fit: the loss of step ${bad} is not finite\n  lower lr, clip gradients (clipNorm: 1), or look at the batch of that step`,
      );
  };
  return {
    name: "nanGuard",
    onStepEnd: (run) => (run.step % every === 0 ? look(run) : undefined),
    onEpochEnd: look,
  };
}
