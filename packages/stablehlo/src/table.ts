/** The table: one row for each primitive of the language, by the op's name. */
import type { Rows } from "./row.ts";
import { contractions } from "./rows/contraction.ts";
import { control } from "./rows/control.ts";
import { conversions } from "./rows/convert.ts";
import { elementwise } from "./rows/elementwise.ts";
import { indexing } from "./rows/indexing.ts";
import { movement } from "./rows/movement.ts";
import { random } from "./rows/random.ts";
import { reductions } from "./rows/reduce.ts";

export const rows: Rows = {
  ...elementwise,
  ...conversions,
  ...movement,
  ...reductions,
  ...contractions,
  ...indexing,
  ...random,
  ...control,
};

/** What is given from outside, and what the exporter does away with itself. */
export const withoutRow: readonly string[] = ["input", "param", "data", "call", "result"];
