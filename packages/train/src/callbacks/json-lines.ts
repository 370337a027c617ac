/**
 * A log of a run that programs read: one JSON object a line, appended as things happen.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Callback } from "../run.ts";

/**
 * Appends `{ "event": "start" | "epoch" | "end", … }` to the file at `path`. Not-a-numbers are strings: JSON has none. After a
 * resume it goes on in the same file.
 */
export function jsonLines(path: string): Callback {
  let begun = false;
  const put = (event: string, fields: object): void => {
    const text = JSON.stringify({ event, time: new Date().toISOString(), ...fields }, (_, x) =>
      typeof x === "number" && !Number.isFinite(x) ? String(x) : x,
    );
    appendFileSync(path, `${text}\n`);
  };
  return {
    name: "jsonLines",
    onStart(run) {
      mkdirSync(dirname(path), { recursive: true });
      begun = true;
      put("start", { epoch: run.epoch, step: run.step, configuration: run.configuration });
    },
    onEpochEnd: (run) => put("epoch", run.records.at(-1)!),
    onEnd(run, error) {
      // Where the run did not begin, its options were wrong.
      if (!begun) return;
      const failure = error === undefined ? {} : { error: String(error) };
      put("end", { step: run.step, stopped: run.stopped, ...failure });
    },
  };
}
