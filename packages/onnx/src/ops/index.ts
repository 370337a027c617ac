/**
 * The table of ops, by family. An op is one row; adding one is adding a row.
 */
import type { Row } from "../row.ts";
import { elementwiseRows } from "./elementwise.ts";
import { shapeRows } from "./shape.ts";

export const rows: readonly Row[] = [...elementwiseRows, ...shapeRows];

const byName = new Map(rows.map((r) => [`${r.domain}::${r.op}`, r]));

export const findRow = (domain: string, op: string): Row | undefined =>
  byName.get(`${domain}::${op}`);
