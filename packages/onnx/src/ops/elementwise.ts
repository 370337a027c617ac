/**
 * Ops whose result element depends on the operand elements at the same coordinates, after broadcasting.
 */
import { add, mul, relu } from "@kiln-ml/ir";
import { type Row, row } from "../row.ts";

export const elementwiseRows: readonly Row[] = [
  row("Add", (n) => add(n.tensor(0), n.tensor(1)), { wraps: true }),
  row("Mul", (n) => mul(n.tensor(0), n.tensor(1)), { wraps: true }),
  row("Relu", (n) => relu(n.tensor(0))),
];
