/**
 * Rows of kernels that see one element at a time. Functions of real numbers take integers as
 * floats, as the kernels of tfjs do.
 */
import type { ClipByValueAttrs, LeakyReluAttrs, StepAttrs } from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import { asBool, asFloat } from "./operand.ts";

type Unary = (x: Tensor) => Tensor;
type Binary = (a: Tensor, b: Tensor) => Tensor;

/** A function of real numbers. */
const real =
  (fn: Unary) =>
  ({ x }: Operands): Tensor =>
    fn(asFloat(x!));

/**
 * A function whose result is of the dtype of its operand; booleans it leaves to the cpu backend.
 */
const same =
  (fn: Unary) =>
  ({ x }: Operands): Tensor | undefined =>
    x!.dtype === "bool" ? undefined : fn(x!);

const whole =
  (fn: Unary) =>
  ({ x }: Operands): Tensor =>
    x!.dtype === "f32" ? fn(x!) : x!;

const arithmetic =
  (fn: Binary) =>
  ({ a, b }: Operands): Tensor | undefined =>
    a!.dtype === "bool" ? undefined : fn(a!, b!);

const between =
  (fn: Binary) =>
  ({ a, b }: Operands): Tensor =>
    fn(a!, b!);

const logical =
  (fn: Binary) =>
  ({ a, b }: Operands): Tensor =>
    fn(asBool(a!), asBool(b!));

/** ⌊a / b⌋, which tfjs gives as an integer. */
const floorDiv: Binary = (a, b) => {
  if (a.dtype === "f32") return ir.floor(ir.div(a, b)).convert("i32");
  return ir.floorDivide(a, b);
};

/** x > 0 ? 1 : alpha, and NaN of NaN. */
const step = (x: Tensor, alpha: number): Tensor => {
  const stepped = ir.select(ir.greater(x, 0), ir.fullLike(x, 1), ir.fullLike(x, alpha));
  return x.dtype === "f32" ? ir.select(ir.isNan(x), x, stepped) : stepped;
};

export const prelu: Binary = (x, alpha) => ir.select(ir.less(x, 0), ir.mul(alpha, x), x);

const sign: Unary = (x) =>
  ir.select(
    ir.greater(x, 0),
    ir.fullLike(x, 1),
    ir.select(ir.less(x, 0), ir.fullLike(x, -1), ir.fullLike(x, 0)),
  );

/** Sums from left to right. */
function addN(operands: Operands): Tensor | undefined {
  const [first, ...rest] = Object.values(operands);
  return first!.dtype === "bool" ? undefined : rest.reduce((a, b) => ir.add(a, b), first!);
}

/** The condition may be a vector that chooses along the first axis. */
function select({ condition, t, e }: Operands): Tensor {
  const flags = asBool(condition!);
  const rows = flags.rank === 1 && t!.rank > 1;
  const shape = rows ? [flags.shape[0]!, ...t!.shape.slice(1).map(() => 1)] : flags.shape;
  return ir.select(ir.broadcastTo(ir.reshape(flags, shape), t!.shape), t!, e!);
}

/** NaN stays NaN, also where a driver takes comparisons with it for what it likes. */
function clip({ x }: Operands, { clipValueMin, clipValueMax }: ClipByValueAttrs): Tensor {
  const low = ir.minimum(x!, ir.fullLike(x!, clipValueMax));
  return ir.maximum(low, ir.fullLike(x!, clipValueMin));
}

// biome-ignore format: one kernel a row
export const elementwise: Rows = {
  Abs:      same(ir.abs),
  Acos:     real(ir.acos),
  Acosh:    real(ir.acosh),
  Asin:     real(ir.asin),
  Asinh:    real(ir.asinh),
  Atan:     real(ir.atan),
  Atanh:    real(ir.atanh),
  Ceil:     whole(ir.ceil),
  Cos:      real(ir.cos),
  Cosh:     real(ir.cosh),
  Elu:      real(ir.elu),
  Erf:      real(ir.erf),
  Exp:      real(ir.exp),
  Expm1:    real(ir.expm1),
  Floor:    whole(ir.floor),
  IsFinite: real(ir.isFinite),
  IsInf:    real(ir.isInf),
  IsNan:    real(ir.isNan),
  Log:      real(ir.log),
  Log1p:    real(ir.log1p),
  Neg:      same(ir.neg),
  Reciprocal: real(ir.reciprocal),
  Relu:     same(ir.relu),
  Relu6:    same(ir.relu6),
  Round:    whole(ir.round),
  Rsqrt:    real(ir.rsqrt),
  Selu:     real(ir.selu),
  Sigmoid:  real(ir.sigmoid),
  Sign:     same(sign),
  Sin:      real(ir.sin),
  Sinh:     real(ir.sinh),
  Softplus: real(ir.softplus),
  Sqrt:     real(ir.sqrt),
  Square:   same(ir.square),
  Tan:      real(ir.tan),
  Tanh:     real(ir.tanh),

  LogicalNot:  ({ x }: Operands) => ir.not(asBool(x!)),
  LeakyRelu:   ({ x }: Operands, { alpha }: LeakyReluAttrs) => ir.leakyRelu(asFloat(x!), alpha),
  Step:        ({ x }: Operands, { alpha }: StepAttrs) => step(x!, alpha ?? 0),
  ClipByValue: clip,

  Add:      arithmetic(ir.add),
  Sub:      arithmetic(ir.sub),
  Multiply: arithmetic(ir.mul),
  RealDiv:  ({ a, b }: Operands) => (a!.dtype === "f32" ? ir.div(a!, b!) : undefined),
  FloorDiv: arithmetic(floorDiv),
  Mod:      arithmetic(ir.remainder),
  Pow:      arithmetic(ir.pow),
  Atan2:    arithmetic(ir.atan2),
  Maximum:  arithmetic(ir.maximum),
  Minimum:  arithmetic(ir.minimum),
  SquaredDifference: arithmetic((a, b) => ir.square(ir.sub(a, b))),
  BitwiseAnd: between(ir.and),

  Equal:        between(ir.equal),
  NotEqual:     between(ir.notEqual),
  Less:         between(ir.less),
  LessEqual:    between(ir.lessEqual),
  Greater:      between(ir.greater),
  GreaterEqual: between(ir.greaterEqual),
  LogicalAnd:   logical(ir.and),
  LogicalOr:    logical(ir.or),
  LogicalXor:   logical(ir.xor),

  Prelu:   ({ x, alpha }: Operands) => prelu(x!, alpha!),
  EluGrad: ({ dy, y }: Operands) => ir.select(ir.greaterEqual(y!, 0), dy!, ir.mul(dy!, ir.add(y!, 1))),
  AddN:    addN,
  Select:  select,
};
