/** Expressions of kernel IR, made from their parts. */
import type { Condition, Dim, Dtype } from "@kiln-ml/ir";
import type { Expr } from "./kernel.ts";

export const constant = (dtype: Dtype, value: number): Expr => ({ kind: "const", dtype, value });
export const ref = (name: string, dtype: Dtype): Expr => ({ kind: "ref", name, dtype });
export const call = (
  op: string,
  dtype: Dtype,
  ...args: Expr[]
): Extract<Expr, { kind: "call" }> => ({
  kind: "call",
  op,
  args,
  dtype,
});
export const load = (
  from: string,
  dtype: Dtype,
  index: Dim,
  guard: readonly Condition[] = [],
): Expr => ({ kind: "load", from, index, guard, dtype });
