/**
 * Elementwise ops. What ONNX lacks is composed so that it stays accurate where the plain formula would not (`expm1` near
 * 0, `atan2` in all quadrants).
 */
import { constantValueOf, isFloat, isInteger, type Tensor } from "@kiln-ml/ir";
import { elementTypeOf } from "../../element.ts";
import { elementTypes } from "../../proto/model.ts";
import type { Builder } from "../builder.ts";
import { type Row, type RowContext, Unsupported } from "../row.ts";
import { exact, widen, widened, wrapping } from "../widen.ts";

const plain =
  (op: string): Row =>
  ({ b, broadcasting }) =>
    b.op(op, broadcasting);

const arithmetic =
  (op: string): Row =>
  (c) =>
    widened(c.b, wrapping, c.node.dtype, c.broadcasting, (xs) => c.b.op(op, xs));

/** Of integers, the operand. */
const rounding =
  (op: string): Row =>
  (c) =>
    isFloat(c.node.dtype) ? c.b.op(op, [c.x(0)]) : c.x(0);

/** One constant everywhere, which is not 0. */
const isNonZero = (t: Tensor): boolean =>
  t.op === "broadcastInDim" ? isNonZero(t.operands[0]!) : Boolean(constantValueOf(t));

/** ONNX leaves open what an integer divided by 0 is, and a runtime may end there; ours is 0. */
const divided =
  (op: string, attributes: Record<string, number> = {}): Row =>
  (c) => {
    const { b, node } = c;
    const { dtype } = node;
    if (isFloat(dtype)) return b.op(op, c.broadcasting, attributes);
    return widened(b, exact, dtype, c.broadcasting, ([x, y]) => {
      const type = exact[dtype] ?? elementTypeOf(dtype);
      const quotient = (by: string): string => {
        const result = b.op(op, [x!, by], attributes);
        return type === "float64" && op === "Div" ? b.op("Floor", [result]) : result;
      };
      if (isNonZero(node.operands[1]!)) return quotient(y!);
      const [zero, one] = [b.cast(b.int(0), type), b.cast(b.int(1), type)];
      const none = b.op("Equal", [y!, zero]);
      return b.op("Where", [none, zero, quotient(b.op("Where", [none, one, y!]))]);
    });
  };

/** On the scalar that is `value` in the dtype of the node's operand. */
const number = (c: RowContext, value: number): string =>
  c.b.scalar(value, c.node.operands[0]!.dtype);

const compared =
  (op: string): Row =>
  (c) => {
    const { dtype } = c.node.operands[0]!;
    const wider = op === "Equal" && dtype === "bool" ? {} : exact;
    return c.b.op(op, widen(c.b, wider, dtype, c.broadcasting));
  };

const select: Row = (c) => {
  const { b } = c;
  const [flag, x, y] = c.broadcasting as [string, string, string];
  if (c.node.dtype === "bool")
    return b.op("Or", [b.op("And", [flag, x]), b.op("And", [b.op("Not", [flag]), y])]);
  return widened(b, wrapping, c.node.dtype, [x, y], (xs) => b.op("Where", [flag, ...xs]));
};

/** An operand of a dtype that has no negative numbers is its own absolute value. */
const abs: Row = (c) => {
  const { dtype } = c.node;
  if (dtype === "u8" || dtype === "u32") return c.x(0);
  return widened(c.b, wrapping, dtype, [c.x(0)], (xs) => c.b.op("Abs", xs));
};

const extreme =
  (op: string): Row =>
  (c) =>
    widened(c.b, exact, c.node.dtype, c.broadcasting, (xs) => c.b.op(op, xs));

const negated =
  (row: Row): Row =>
  (c) =>
    c.b.op("Not", [row(c) as string]);

const bits =
  (logical: string, bitwise: string): Row =>
  (c) =>
    c.b.op(c.node.dtype === "bool" ? logical : bitwise, c.broadcasting);

/** BitShift takes unsigned integers; signed ones are multiplied or divided by a power of 2 in int64. */
const shifted =
  (direction: "LEFT" | "RIGHT"): Row =>
  (c) => {
    const { b, node } = c;
    const [x, y] = c.broadcasting as [string, string];
    if (node.dtype === "u8" || node.dtype === "u32") return b.op("BitShift", [x, y], { direction });
    const one = b.cast(b.int(1), "uint64");
    const power = b.op("BitShift", [one, b.cast(y, "uint64")], { direction: "LEFT" });
    const [wide, by] = [b.toInt64(x), b.toInt64(power)];
    const result =
      direction === "LEFT"
        ? b.op("Mul", [wide, by])
        : b.op("Div", [b.op("Sub", [wide, b.op("Mod", [wide, by])]), by]);
    return b.cast(result, elementTypeOf(node.dtype));
  };

/** tanh(x/2)·(eˣ + 1): no difference of near numbers, and right at ±∞. */
function expm1(c: RowContext): string {
  const { b } = c;
  const half = b.op("Mul", [c.x(0), number(c, 0.5)]);
  return b.op("Mul", [b.op("Tanh", [half]), b.op("Add", [b.op("Exp", [c.x(0)]), number(c, 1)])]);
}

/** 2·artanh(x / (x + 2)) near 0, where 1 + x would lose x. */
function log1p(c: RowContext): string {
  const { b } = c;
  const x = c.x(0);
  const ratio = b.op("Div", [x, b.op("Add", [x, number(c, 2)])]);
  const near = b.op("Mul", [b.op("Atanh", [ratio]), number(c, 2)]);
  const far = b.op("Log", [b.op("Add", [x, number(c, 1)])]);
  return b.op("Where", [b.op("Less", [b.op("Abs", [x]), number(c, 0.5)]), near, far]);
}

/** Less than 0, or −0. */
const isNegative = (b: Builder, c: RowContext, x: string): string =>
  b.op("Or", [
    b.op("Less", [x, number(c, 0)]),
    b.op("Less", [b.op("Reciprocal", [x]), number(c, 0)]),
  ]);

/** The angle between the axes first, from |y| and |x|; then the quadrant from their signs. */
function atan2(c: RowContext): string {
  const { b } = c;
  const [y, x] = c.broadcasting as [string, string];
  const [rise, run] = [b.op("Abs", [y]), b.op("Abs", [x])];
  const slope = b.op("Atan", [b.op("Div", [rise, run])]);
  const equal = b.op("Where", [
    b.op("Equal", [rise, number(c, 0)]),
    number(c, 0),
    number(c, Math.PI / 4),
  ]);
  const acute = b.op("Where", [b.op("Equal", [rise, run]), equal, slope]);
  const obtuse = b.op("Sub", [number(c, Math.PI), acute]);
  const upper = b.op("Where", [isNegative(b, c, x), obtuse, acute]);
  return b.op("Where", [isNegative(b, c, y), b.op("Neg", [upper]), upper]);
}

const trunc: Row = (c) => {
  const { b, node } = c;
  if (!isFloat(node.dtype)) return c.x(0);
  const below = b.op("Less", [c.x(0), number(c, 0)]);
  return b.op("Where", [below, b.op("Ceil", [c.x(0)]), b.op("Floor", [c.x(0)])]);
};

const neg: Row = (c) => widened(c.b, wrapping, c.node.dtype, [c.x(0)], (xs) => c.b.op("Neg", xs));

const isFiniteRow: Row = (c) => {
  const { b } = c;
  if (!isFloat(c.node.operands[0]!.dtype)) return b.op("Equal", [c.x(0), c.x(0)]);
  return b.op("Not", [b.op("Or", [b.op("IsInf", [c.x(0)]), b.op("IsNaN", [c.x(0)])])]);
};

const isNanRow: Row = (c) =>
  isFloat(c.node.operands[0]!.dtype)
    ? c.b.op("IsNaN", [c.x(0)])
    : c.b.op("Not", [c.b.op("Equal", [c.x(0), c.x(0)])]);

/** Integers of one size have the same bits when one wraps to the other. */
const bitcast: Row = (c) => {
  const { dtype } = c.node;
  if (isInteger(dtype) && isInteger(c.node.operands[0]!.dtype))
    return c.b.cast(c.x(0), elementTypeOf(dtype));
  if (c.b.opset < 26) throw new Unsupported("bitcast before opset 26");
  return c.b.op("BitCast", [c.x(0)], {
    to: elementTypes.indexOf(elementTypeOf(dtype)) + 1,
  });
};

export const elementwise: Readonly<Record<string, Row>> = {
  neg,
  abs,
  sign: (c) => widened(c.b, exact, c.node.dtype, [c.x(0)], (xs) => c.b.op("Sign", xs)),
  floor: rounding("Floor"),
  ceil: rounding("Ceil"),
  round: rounding("Round"),
  trunc,
  exp: plain("Exp"),
  exp2: (c) => c.b.op("Pow", [number(c, 2), c.x(0)]),
  expm1,
  log: plain("Log"),
  log2: (c) => c.b.op("Mul", [c.b.op("Log", [c.x(0)]), number(c, Math.LOG2E)]),
  log1p,
  sqrt: plain("Sqrt"),
  rsqrt: (c) => c.b.op("Reciprocal", [c.b.op("Sqrt", [c.x(0)])]),
  reciprocal: plain("Reciprocal"),
  sin: plain("Sin"),
  cos: plain("Cos"),
  tan: plain("Tan"),
  asin: plain("Asin"),
  acos: plain("Acos"),
  atan: plain("Atan"),
  sinh: plain("Sinh"),
  cosh: plain("Cosh"),
  asinh: plain("Asinh"),
  acosh: plain("Acosh"),
  atanh: plain("Atanh"),
  tanh: plain("Tanh"),
  sigmoid: plain("Sigmoid"),
  erf: plain("Erf"),
  isNan: isNanRow,
  isFinite: isFiniteRow,
  not: plain("Not"),
  bitwiseNot: plain("BitwiseNot"),
  stopGradient: (c) => c.x(0),
  after: (c) => c.x(0),
  add: arithmetic("Add"),
  sub: arithmetic("Sub"),
  mul: arithmetic("Mul"),
  div: divided("Div"),
  rem: divided("Mod", { fmod: 1 }),
  pow: plain("Pow"),
  atan2,
  maximum: extreme("Max"),
  minimum: extreme("Min"),
  and: bits("And", "BitwiseAnd"),
  or: bits("Or", "BitwiseOr"),
  xor: bits("Xor", "BitwiseXor"),
  shiftLeft: shifted("LEFT"),
  shiftRight: shifted("RIGHT"),
  equal: compared("Equal"),
  notEqual: negated(compared("Equal")),
  less: compared("Less"),
  lessEqual: compared("LessOrEqual"),
  greater: compared("Greater"),
  greaterEqual: compared("GreaterOrEqual"),
  select,
  convert: (c) => c.b.cast(c.x(0), elementTypeOf(c.node.dtype)),
  bitcast,
};
