/**
 * Algebra that holds bit for bit, for every operand including −0, ±∞ and NaN (payloads aside).
 * Always on. `tests/passes/rules.test.ts` evaluates both sides of each; a rule that fails there
 * belongs in `fast.ts` or nowhere. Note what is missing: `add(x, 0)` is +0 at −0, `mul(x, 0)` is
 * NaN at ∞, `sub(x, x)` too.
 */
import { type Rule, rule } from "./match.ts";

const texts = [
  // Neutral elements. For floats that of addition is −0, and that of subtraction is +0.
  "add(x, -0) -> x where float(x)",
  "add(x, 0) -> x where integer(x)",
  "sub(x, 0) -> x",
  "mul(x, 1) -> x",
  "div(x, 1) -> x",
  "pow(x, 1) -> x",
  "or(x, 0) -> x where integer(x)",
  "xor(x, 0) -> x where integer(x)",
  "shiftLeft(x, 0) -> x",
  "shiftRight(x, 0) -> x",

  // Absorbing elements.
  "mul(x, 0) -> 0 where integer(x)",
  "and(x, 0) -> 0 where integer(x)",
  "pow(x, 0) -> 1",
  "sub(x, x) -> 0 where integer(x)",
  "xor(x, x) -> 0 where integer(x)",

  // Signs. Negation is exact and rounding is symmetric.
  "neg(neg(x)) -> x",
  "neg(sub(x, y)) -> sub(y, x) where integer(x)",
  "add(x, neg(y)) -> sub(x, y)",
  "sub(x, neg(y)) -> add(x, y)",
  "mul(neg(x), neg(y)) -> mul(x, y)",
  "div(neg(x), neg(y)) -> div(x, y) where float(x)",
  "mul(x, -1) -> neg(x)",
  "div(x, -1) -> neg(x) where float(x)",
  "abs(neg(x)) -> abs(x) where float(x)",
  "abs(abs(x)) -> abs(x)",
  "mul(abs(x), abs(x)) -> mul(x, x)",

  // Gradients are taken before compilation, so what stops them has done its work.
  "stopGradient(x) -> x",

  // Cheaper spellings.
  "div(1, x) -> reciprocal(x) where float(x)",
  // x² of 24 bits is exact in a double, and 1/x stays clear of the ties between floats.
  "pow(x, 2) -> mul(x, x) where f32(x)",
  "pow(x, -1) -> reciprocal(x) where f32(x)",
  "reciprocal(neg(x)) -> neg(reciprocal(x))",

  // Idempotent ops.
  "maximum(x, x) -> x",
  "minimum(x, x) -> x",
  "and(x, x) -> x",
  "or(x, x) -> x",
  "maximum(x, maximum(x, y)) -> maximum(x, y)",
  "minimum(x, minimum(x, y)) -> minimum(x, y)",
  "floor(floor(x)) -> floor(x)",
  "ceil(ceil(x)) -> ceil(x)",
  "sign(sign(x)) -> sign(x)",

  // Truth values.
  "not(not(x)) -> x",
  "bitwiseNot(bitwiseNot(x)) -> x",
  "and(x, true) -> x",
  "and(x, false) -> false",
  "or(x, true) -> true",
  "or(x, false) -> x",
  "xor(x, false) -> x",
  "xor(x, true) -> not(x)",
  "not(equal(x, y)) -> notEqual(x, y)",
  "not(notEqual(x, y)) -> equal(x, y)",
  // NaN is neither less nor greater, so these hold for integers only.
  "not(less(x, y)) -> greaterEqual(x, y) where integer(x)",
  "not(lessEqual(x, y)) -> greater(x, y) where integer(x)",
  "not(greater(x, y)) -> lessEqual(x, y) where integer(x)",
  "not(greaterEqual(x, y)) -> less(x, y) where integer(x)",
  "equal(x, x) -> true where integer(x)",
  "less(x, x) -> false",
  "greater(x, x) -> false",

  // Selection.
  "select(true, x, y) -> x",
  "select(false, x, y) -> y",
  "select(c, x, x) -> x",
  "select(c, true, false) -> c",
  "select(c, false, true) -> not(c)",
  "select(not(c), x, y) -> select(c, y, x)",
  "select(c, select(c, x, y), z) -> select(c, x, z)",
  "select(c, x, select(c, y, z)) -> select(c, x, z)",
];

export const algebra: readonly Rule[] = texts.map(rule);
