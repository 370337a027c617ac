/**
 * Saves a run as it goes, so that a process that is killed loses at most one interval, and Ctrl-C
 * nothing.
 */
import { join } from "node:path";
import { checkOptions, GraphError, kindOf, type OptionNames } from "@kiln-ml/ir";
import { nameOfStep, removeOld, writeCheckpoint } from "../checkpoint-files.ts";
import { lockFolder } from "../lock.ts";
import { type Callback, checkMonitor, modeOf, monitored, type Run } from "../run.ts";

export interface CheckpointOptions {
  /** How many of the newest are kept, default 3. */
  readonly keep?: number;
  /** Keeps `best.safetensors` as well, that of the epoch with the best value of this. */
  readonly best?: string;
  /** "min" for losses and errors, "max" for the rest, if not given. */
  readonly mode?: "min" | "max";
  /** Steps between two checkpoints within an epoch; one at the end of each epoch in any case. */
  readonly every?: number;
}

const names: OptionNames<CheckpointOptions> = { keep: 1, best: 1, mode: 1, every: 1 };

function checkCount(what: string, n: number | undefined): void {
  if (n !== undefined && !(Number.isInteger(n) && n >= 1))
    throw new GraphError(
      `checkpoint: ${what} must be a whole number of 1 or more, got ${kindOf(n)}`,
    );
}

/**
 * Writes the whole state of a run into `folder`, each file atomically; `fit` goes on from there
 * with `resume`. A run whose loss is no longer finite is not saved. The folder belongs to one run
 * at a time.
 *
 * Throws GraphError for options out of range, a folder that another run has, a monitor that there
 * is not, and a file that cannot be written.
 */
export function checkpoint(folder: string, options: CheckpointOptions = {}): Callback {
  const { keep = 3, best: monitor, every } = checkOptions("checkpoint", options, names);
  checkCount("keep", keep);
  checkCount("every", every);
  const sign = monitor && (options.mode ?? modeOf(monitor)) === "min" ? -1 : 1;
  let best: number | null = null;
  let release: (() => void) | undefined;
  const save = async (run: Run): Promise<Uint8Array | undefined> => {
    if (await run.badStep()) return undefined;
    const bytes = await run.snapshot();
    await writeCheckpoint(folder, nameOfStep(run.step), bytes);
    removeOld(folder, keep);
    return bytes;
  };
  return {
    name: `checkpoint ${folder}`,
    folder,
    last: true,
    onStart(run) {
      if (monitor) checkMonitor("checkpoint", monitor, run);
      release = lockFolder(folder);
    },
    onStepEnd(run) {
      // The end of the epoch follows its last step with a checkpoint of its own.
      const due = every && run.step % every === 0 && run.batch !== run.batches;
      return due ? save(run).then(() => {}) : undefined;
    },
    async onEpochEnd(run) {
      const value = monitor && monitored(monitor, run);
      const isBest =
        typeof value === "number" &&
        (best === null ? !Number.isNaN(value) : sign * (value - best) > 0);
      if (isBest) best = value;
      const bytes = await save(run);
      if (isBest && bytes) await writeCheckpoint(folder, "best.safetensors", bytes);
    },
    async onInterrupt(run) {
      const saved = await save(run);
      const at = `epoch ${run.epoch}, step ${run.step}`;
      console.error(
        saved
          ? `interrupted at ${at}: saved ${join(folder, nameOfStep(run.step))}\n  go on with { resume: ${JSON.stringify(folder)} }`
          : `interrupted at ${at}: not saved, since the loss is not finite`,
      );
    },
    onEnd() {
      release?.();
      release = undefined;
    },
    state: () => ({ best }),
    load(state: { readonly best: number | null }) {
      best = state.best;
    },
  };
}
