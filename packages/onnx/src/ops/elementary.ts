/**
 * Elementary functions of one operand: rounding, signs, exponentials, trigonometry, tests of floats.
 */
import type { Tensor } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";

const unary = (op: string, f: (x: Tensor) => Tensor, wraps = false): Row =>
  row(op, (n) => f(n.tensor(0)), wraps ? { wraps } : {});

/** Infinities of the signs that the attributes name; both by default. */
function isInf(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const [below, above] = [n.flag("detect_negative", true), n.flag("detect_positive", true)];
  const infinite = x.isFinite().or(x.isNan()).not();
  if (below && above) return infinite;
  if (!below && !above) return infinite.and(false);
  return infinite.and(above ? x.greater(0) : x.less(0));
}

export const elementaryRows: readonly Row[] = [
  unary("Abs", (x) => x.abs(), true),
  unary("Neg", (x) => x.neg(), true),
  unary("Sign", (x) => x.sign()),
  unary("Ceil", (x) => x.ceil()),
  unary("Floor", (x) => x.floor()),
  unary("Round", (x) => x.round()),
  unary("Sqrt", (x) => x.sqrt()),
  unary("Reciprocal", (x) => x.reciprocal()),
  unary("Exp", (x) => x.exp()),
  unary("Log", (x) => x.log()),
  unary("Sin", (x) => x.sin()),
  unary("Cos", (x) => x.cos()),
  unary("Tan", (x) => x.tan()),
  unary("Asin", (x) => x.asin()),
  unary("Acos", (x) => x.acos()),
  unary("Atan", (x) => x.atan()),
  unary("Sinh", (x) => x.sinh()),
  unary("Cosh", (x) => x.cosh()),
  unary("Tanh", (x) => x.tanh()),
  unary("Asinh", (x) => x.asinh()),
  unary("Acosh", (x) => x.acosh()),
  unary("Atanh", (x) => x.atanh()),
  unary("Erf", (x) => x.erf()),
  unary("IsNaN", (x) => x.isNan()),
  row("IsInf", isInf),
];
