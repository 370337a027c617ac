/** The export table: a row an IR op. What has no row here and is no leaf cannot be exported. */

import { dividedPool } from "../pool.ts";
import type { Row } from "../row.ts";
import { contractions } from "./contraction.ts";
import { controlRows, type WriteRegion } from "./control.ts";
import { elementwise } from "./elementwise.ts";
import { movement } from "./movement.ts";
import { reductions } from "./reduce.ts";

export const rowsFor = (write: WriteRegion): Readonly<Record<string, Row>> => ({
  ...elementwise,
  div: (c) => dividedPool(c) ?? elementwise.div!(c),
  ...movement,
  ...reductions,
  ...contractions,
  ...controlRows(write),
});
