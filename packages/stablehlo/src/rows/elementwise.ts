/**
 * Elementwise ops. Most are one op of StableHLO or CHLO; the others are put together so that every value is that of
 * docs/numbers.md.
 */
import { isFloat } from "@kiln-ml/ir";
import type { Builder, Direction, Ref } from "../builder.ts";
import type { Row, Rows } from "../row.ts";
import { divide, integerPower, isSigned, remainder, shiftLeft, shiftRight } from "./integer.ts";

const same =
  (name: string): Row =>
  ({ b }, ...x) =>
    b.map(name, ...x);

/** One of CHLO's, which the engine expands to polynomials. */
const chlo =
  (name: string): Row =>
  ({ b }, x) =>
    b.ops(`chlo.${name}`, [x!], [x!]);

const compare =
  (direction: Direction): Row =>
  ({ b }, x, y) =>
    b.compare(direction, x!, y!);

/** Integers are whole numbers already. */
const whole =
  (name: string): Row =>
  ({ b }, x) =>
    isFloat(x!.dtype) ? b.map(name, x!) : x!;

const floatOr =
  (name: string, otherwise: (b: Builder, x: Ref, y: Ref) => Ref): Row =>
  ({ b }, x, y) =>
    isFloat(x!.dtype) ? b.map(name, x!, y!) : otherwise(b, x!, y!);

const trunc: Row = ({ b }, x) =>
  isFloat(x!.dtype)
    ? b.select(b.compare("LT", x!, b.like(x!, 0)), b.map("ceil", x!), b.map("floor", x!))
    : x!;

/** IEEE 754 has 1 where the exponent is 0, the base 1, or the base −1 and the exponent infinite. */
function floatPower(b: Builder, x: Ref, y: Ref): Ref {
  const one = b.like(x, 1);
  const trivial = b.map("or", b.compare("EQ", y, b.like(y, 0)), b.compare("EQ", x, one));
  const turning = b.map(
    "and",
    b.compare("EQ", x, b.like(x, -1)),
    b.compare("EQ", b.map("abs", y), b.like(y, Infinity)),
  );
  return b.select(b.map("or", trivial, turning), one, b.map("power", x, y));
}

const sign: Row = ({ b }, x) =>
  isSigned(x!.dtype) ? b.map("sign", x!) : b.map("minimum", x!, b.like(x!, 1));
const abs: Row = ({ b }, x) => (isSigned(x!.dtype) ? b.map("abs", x!) : x!);
const isNan: Row = ({ b }, x) =>
  isFloat(x!.dtype) ? b.compare("NE", x!, x!) : b.like(x!, 0, "bool");
const finite: Row = ({ b, type }, x) =>
  isFloat(x!.dtype) ? b.op("is_finite", [x!], type) : b.like(x!, 1, "bool");

// biome-ignore format: one op a row
export const elementwise: Rows = {
  neg: same("negate"),
  abs,
  sign,
  floor: whole("floor"),
  ceil: whole("ceil"),
  round: whole("round_nearest_even"),
  trunc,
  exp: same("exponential"),
  exp2: ({ b }, x) => b.map("power", b.like(x!, 2), x!),
  expm1: same("exponential_minus_one"),
  log: same("log"),
  log1p: same("log_plus_one"),
  log2: ({ b }, x) => b.map("multiply", b.map("log", x!), b.like(x!, Math.LOG2E)),
  sqrt: same("sqrt"),
  rsqrt: same("rsqrt"),
  reciprocal: ({ b }, x) => b.map("divide", b.like(x!, 1), x!),
  sin: same("sine"),
  cos: same("cosine"),
  tan: same("tan"),
  asin: chlo("asin"),
  acos: chlo("acos"),
  atan: ({ b }, x) => b.map("atan2", x!, b.like(x!, 1)),
  sinh: chlo("sinh"),
  cosh: chlo("cosh"),
  asinh: chlo("asinh"),
  acosh: chlo("acosh"),
  atanh: chlo("atanh"),
  tanh: same("tanh"),
  sigmoid: same("logistic"),
  erf: chlo("erf"),
  isNan,
  isFinite: finite,
  not: same("not"),
  bitwiseNot: same("not"),
  stopGradient: (_site, x) => x!,
  after: (_site, x) => x!,

  add: same("add"),
  sub: same("subtract"),
  mul: same("multiply"),
  div: floatOr("divide", divide),
  rem: floatOr("remainder", remainder),
  pow: ({ b }, x, y) => (isFloat(x!.dtype) ? floatPower : integerPower)(b, x!, y!),
  atan2: same("atan2"),
  maximum: same("maximum"),
  minimum: same("minimum"),
  and: same("and"),
  or: same("or"),
  xor: same("xor"),
  shiftLeft: ({ b }, x, y) => shiftLeft(b, x!, y!),
  shiftRight: ({ b }, x, y) => shiftRight(b, x!, y!),

  equal: compare("EQ"),
  notEqual: compare("NE"),
  less: compare("LT"),
  lessEqual: compare("LE"),
  greater: compare("GT"),
  greaterEqual: compare("GE"),
  select: ({ b }, c, x, y) => b.select(c!, x!, y!),
};
