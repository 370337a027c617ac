/**
 * The table of ops, by family. An op is one row; adding one is adding a row.
 */
import type { Row } from "../row.ts";
import { controlRows } from "./control.ts";
import { convolutionRows } from "./convolution.ts";
import { elementwiseRows } from "./elementwise.ts";
import { gatherRows } from "./gather.ts";
import { generateRows } from "./generate.ts";
import { partRows } from "./parts.ts";
import { poolRows } from "./pool.ts";
import { recurrentRows } from "./recurrent.ts";
import { resizeRows } from "./resize.ts";
import { sampleRows } from "./sample.ts";
import { sequenceRows } from "./sequence.ts";
import { shapeRows } from "./shape.ts";

export const rows: readonly Row[] = [
  ...elementwiseRows,
  ...shapeRows,
  ...partRows,
  ...generateRows,
  ...gatherRows,
  ...convolutionRows,
  ...poolRows,
  ...resizeRows,
  ...sampleRows,
  ...recurrentRows,
  ...controlRows,
  ...sequenceRows,
];

const byName = new Map(rows.map((r) => [`${r.domain}::${r.op}`, r]));

export const findRow = (domain: string, op: string): Row | undefined =>
  byName.get(`${domain}::${op}`);
