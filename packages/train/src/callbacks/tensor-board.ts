/**
 * Curves for TensorBoard: an event file a process, which TensorBoard joins by step.
 */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { checkOptions } from "@kiln-ml/ir";
import { scalarEvent, versionEvent } from "../event-file.ts";
import type { Callback, Logs, Run } from "../run.ts";

export interface TensorBoardOptions {
  /**
   * Steps between two points of the training curves within an epoch; none by default. Each waits
   * for the device.
   */
  readonly every?: number;
}

/**
 * Writes what each epoch measured into `folder`; `tensorboard --logdir folder` shows it. Validation
 * has the tags `val.…`.
 */
export function tensorBoard(folder: string, options: TensorBoardOptions = {}): Callback {
  const { every } = checkOptions("tensorBoard", options, { every: 1 });
  let path = "";
  const put = (step: number, logs: Logs, more: Readonly<Record<string, number>> = {}): void => {
    const numbers = Object.entries(logs).filter(
      (entry): entry is [string, number] => typeof entry[1] === "number",
    );
    const values = { ...Object.fromEntries(numbers), ...more };
    appendFileSync(path, scalarEvent(Date.now() / 1000, step, values));
  };
  const point = async (run: Run): Promise<void> => put(run.step, await run.read());
  return {
    name: "tensorBoard",
    onStart(run: Run) {
      mkdirSync(folder, { recursive: true });
      const seconds = Date.now() / 1000;
      const start = `${Math.floor(seconds)}.${hostname()}.${process.pid}.${run.step}`;
      path = join(folder, `events.out.tfevents.${start}`);
      writeFileSync(path, versionEvent(seconds));
    },
    onStepEnd(run) {
      const due = every && run.step % every === 0 && run.batch !== run.batches;
      return due ? point(run) : undefined;
    },
    onEpochEnd(run) {
      const { step, logs, epoch, samplesPerSecond } = run.records.at(-1)!;
      put(step, logs, { epoch, "samples per second": samplesPerSecond });
    },
  };
}
