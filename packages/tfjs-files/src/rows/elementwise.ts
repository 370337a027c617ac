/**
 * Ops that see one element at a time. Functions of real numbers take integers as floats, as
 * TensorFlow.js does.
 */

import type { Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Row } from "@kiln-ml/onnx";
import { asBool, asFloat, isFirst } from "./operand.ts";
import { alike, tf } from "./row.ts";

type Unary = (x: Tensor) => Tensor;
type Binary = (a: Tensor, b: Tensor) => Tensor;

const real = (op: string, f: Unary): Row => tf(op, "", (n) => f(asFloat(n.tensor(0))));
const same = (op: string, f: Unary): Row => tf(op, "", (n) => f(n.tensor(0)));
/** Integers are whole as they are. */
const whole = (op: string, f: Unary): Row =>
  tf(op, "", (n) => (n.tensor(0).dtype === "f32" ? f(n.tensor(0)) : n.tensor(0)));

/** Where the dtypes differ, both are what holds both: booleans are integers, integers floats. */
const operands = (n: NodeContext): [Tensor, Tensor] => {
  const [a, b] = [n.tensor(0), n.tensor(1)];
  if (a.dtype === b.dtype) return [a, b];
  const to = a.dtype === "f32" || b.dtype === "f32" ? "f32" : "i32";
  return [a.convert(to), b.convert(to)];
};
const binary = (ops: string, f: Binary, attributes = ""): Row[] =>
  alike(ops, attributes, (n) => f(...operands(n)));
const floats = (op: string, f: Binary): Row =>
  tf(op, "", (n) => f(asFloat(n.tensor(0)), asFloat(n.tensor(1))));
const logical = (op: string, f: Binary): Row =>
  tf(op, "", (n) => f(asBool(n.tensor(0)), asBool(n.tensor(1))));
const bits = (op: string, f: Binary): Row => tf(op, "", (n) => f(n.tensor(0), n.tensor(1)));

/** ⌊a / b⌋, which TensorFlow.js gives as an integer. */
const floorDiv: Binary = (a, b) =>
  a.dtype === "f32" ? ir.floor(ir.div(a, b)).convert("i32") : ir.floorDivide(a, b);

/** Of integers it is the quotient rounded down. */
const divided: Binary = (a, b) => (a.dtype === "f32" ? ir.div(a, b) : floorDiv(a, b));

/** 0 where b is, whatever a is. */
const orZero =
  (f: Binary): Binary =>
  (a, b) =>
    ir.select(ir.equal(b, 0).broadcastTo(f(a, b).shape), 0, f(a, b));

/** f(a, b), and 0 wherever a is. */
const zeroOfZero =
  (f: Unary): Binary =>
  (a, b) => {
    const y = ir.mul(a, f(b));
    return ir.select(ir.equal(a, 0).broadcastTo(y.shape), 0, y);
  };

const sign: Unary = (x) => (x.dtype === "f32" ? ir.select(ir.isNan(x), 0, ir.sign(x)) : ir.sign(x));

export const prelu: Binary = (x, alpha) => {
  const scaled = ir.mul(alpha, x);
  return ir.select(ir.less(x, 0).broadcastTo(scaled.shape), scaled, x.broadcastTo(scaled.shape));
};

/** NaN is in no range, and stays. */
function clipped(n: NodeContext): Tensor {
  const [x, low, high] = [n.tensor(0), n.tensor(1), n.tensor(2)];
  return ir.minimum(ir.maximum(x, low), high);
}

/** Along channels, which NCHW has second. */
function biased(n: NodeContext): Tensor {
  const [x, bias] = [n.tensor(0), n.tensor(1)];
  return ir.add(x, isFirst(n) ? along(bias, x.rank) : bias);
}

/** [C] → [C, 1, …] beside an operand of this rank with channels second. */
export const along = (t: Tensor, rank: number): Tensor =>
  ir.reshape(t, [...t.shape, ...new Array<number>(rank - 2).fill(1)]);

function total(n: NodeContext): Tensor {
  return n.tensors().reduce((a, b) => ir.add(a, b));
}

/** The condition may be a vector that chooses along the first axis. */
function selected(n: NodeContext): Tensor {
  const [flags, t, e] = [asBool(n.tensor(0)), n.tensor(1), n.tensor(2)];
  const rows = n.node.op === "Select" && flags.rank === 1 && t.rank > 1;
  const condition = rows
    ? ir.reshape(flags, [flags.shape[0]!, ...t.shape.slice(1).map(() => 1)])
    : flags;
  return ir.where(condition, t, e);
}

// biome-ignore format: one op a row
export const elementwiseRows: readonly Row[] = [
  same("Abs",  ir.abs),
  same("Neg",  ir.neg),
  same("Sign", sign),
  same("Square", ir.square),
  same("Relu",  ir.relu),
  same("Relu6", ir.relu6),
  same("Invert", ir.bitwiseNot),
  whole("Ceil",  ir.ceil),
  whole("Floor", ir.floor),
  whole("Round", ir.round),
  whole("Rint",  ir.round),
  real("Acos",  ir.acos),
  real("Acosh", ir.acosh),
  real("Asin",  ir.asin),
  real("Asinh", ir.asinh),
  real("Atan",  ir.atan),
  real("Atanh", ir.atanh),
  real("Cos",   ir.cos),
  real("Cosh",  ir.cosh),
  real("Digamma", ir.digamma),
  real("Elu",   ir.elu),
  real("Erf",   ir.erf),
  real("Erfc",  (x) => ir.sub(1, ir.erf(x))),
  real("Erfinv", ir.erfinv),
  real("Exp",   ir.exp),
  real("Expm1", ir.expm1),
  real("Inv",   ir.reciprocal),
  real("IsFinite", ir.isFinite),
  real("IsInf", ir.isInf),
  real("IsNan", ir.isNan),
  real("Lgamma", ir.lgamma),
  real("Log",   ir.log),
  real("Log1p", ir.log1p),
  real("Reciprocal", ir.reciprocal),
  real("Rsqrt", ir.rsqrt),
  real("Selu",  ir.selu),
  real("Sigmoid", ir.sigmoid),
  real("Sin",   ir.sin),
  real("Sinh",  ir.sinh),
  real("Softplus", ir.softplus),
  real("Softsign", ir.softsign),
  real("Sqrt",  ir.sqrt),
  real("Tan",   ir.tan),
  real("Tanh",  ir.tanh),
  tf("LeakyRelu", "alpha", (n) => ir.leakyRelu(asFloat(n.tensor(0)), n.float("alpha", 0.2))),
  tf("LogicalNot", "", (n) => ir.not(asBool(n.tensor(0)))),
  tf("ClipByValue", "", clipped),
  ...binary("Add AddV2", ir.add),
  ...binary("Sub", ir.sub),
  ...binary("Mul", ir.mul),
  ...binary("Div RealDiv", divided),
  ...binary("TruncateDiv", ir.div),
  ...binary("FloorDiv", floorDiv),
  ...binary("Mod FloorMod", ir.remainder),
  ...binary("TruncateMod", ir.rem),
  ...binary("DivNoNan", orZero(ir.div)),
  ...binary("MulNoNan", orZero(ir.mul)),
  ...binary("Pow", ir.pow),
  ...binary("Maximum", ir.maximum),
  ...binary("Minimum", ir.minimum),
  ...binary("SquaredDifference", (a, b) => ir.square(ir.sub(a, b))),
  floats("Atan2", ir.atan2),
  floats("Xlogy", zeroOfZero(ir.log)),
  floats("Xlog1py", zeroOfZero(ir.log1p)),
  floats("Xdivy", zeroOfZero(ir.reciprocal)),
  ...binary("Equal", ir.equal, "incompatible_shape_error"),
  ...binary("NotEqual", ir.notEqual, "incompatible_shape_error"),
  ...binary("Less", ir.less),
  ...binary("LessEqual", ir.lessEqual),
  ...binary("Greater", ir.greater),
  ...binary("GreaterEqual", ir.greaterEqual),
  tf("ApproximateEqual", "tolerance", (n) => ir.less(ir.abs(ir.sub(n.tensor(0), n.tensor(1))), n.float("tolerance", 1e-5))),
  logical("LogicalAnd", ir.and),
  logical("LogicalOr",  ir.or),
  logical("LogicalXor", ir.xor),
  bits("BitwiseAnd", ir.and),
  bits("BitwiseOr",  ir.or),
  bits("BitwiseXor", ir.xor),
  bits("LeftShift",  ir.shiftLeft),
  bits("RightShift", ir.shiftRight),
  ...alike("BiasAdd BiasAddV1", "data_format", biased),
  ...alike("AddN AccumulateNV2", "", total),
  ...alike("Select SelectV2", "", selected),
  tf("Prelu", "", (n) => prelu(n.tensor(0), n.tensor(1))),
];
