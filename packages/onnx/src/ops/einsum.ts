/**
 * Einsum, which is that of the IR.
 */
import { einsum } from "@kiln-ml/ir";
import { type Row, row } from "../row.ts";

export const einsumRows: readonly Row[] = [
  row("Einsum", (n) => einsum(n.string("equation"), ...n.tensors()), { wraps: true }),
];
