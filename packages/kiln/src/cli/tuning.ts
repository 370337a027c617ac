/** The option `--tuning`, which commands share: a file that `kiln tune` wrote, or the user's own. */
import { settings } from "../devices/settings.ts";
import type { TuningTable } from "../tune/table.ts";
import { readTuning, tuningCache } from "../tune/table-file.ts";
import type { Parsed } from "./usage.ts";

type Value = Parsed["values"][string];

/** The table that the option names. Rejects with GraphError if it is not there, or damaged. */
export async function tuningFrom(value: Value): Promise<TuningTable | undefined> {
  if (typeof value !== "string") return undefined;
  return readTuning(value === "cache" ? tuningCache() : value);
}

/** Makes the table hold for everything that is compiled in this process. */
export async function useTuning(value: Value): Promise<void> {
  const table = await tuningFrom(value);
  if (table) settings.tuning = table;
}
