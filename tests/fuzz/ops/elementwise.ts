/**
 * Samples of ops that work element by element, with the hard values of their types.
 */

import { type ElementType, elementTypes } from "@kiln-ml/onnx";
import {
  type Draw,
  every,
  floats,
  isFloatType,
  numeric,
  signed,
  tensorOf,
  type Values,
} from "./draw.ts";
import { type Attribute, float, type Sample } from "./sample.ts";

export type Sampler = (d: Draw) => Sample;

/** An op of one tensor. */
const unary =
  (
    types: readonly ElementType[],
    values: Values = "any",
    attributes: (d: Draw) => Record<string, Attribute> = () => ({}),
    since = 7,
  ): Sampler =>
  (d) => ({
    opset: d.opset(since),
    attributes: attributes(d),
    inputs: [d.tensor(d.pick(types), d.shape(), values)],
  });

/** An op of two tensors that broadcast. */
const binary =
  (types: readonly ElementType[], values: Values = "any", since = 7): Sampler =>
  (d) => {
    const type = d.pick(types);
    const shape = d.shape();
    const [a, b] = [
      d.tensor(type, d.below(shape, 0.1), values),
      d.tensor(type, d.below(shape), values),
    ];
    return { opset: d.opset(since), inputs: d.chance(0.5) ? [a, b] : [b, a] };
  };

const variadic =
  (types: readonly ElementType[], since = 8): Sampler =>
  (d) => {
    const type = d.pick(types);
    const shape = d.shape();
    return {
      opset: d.opset(since),
      inputs: d.list(d.int(1, 4), () => d.tensor(type, d.below(shape), "any")),
    };
  };

const f = (d: Draw, p = 0.6): Attribute => d.maybe(float(Math.fround(d.real(-2, 2))), p);

function pow(d: Draw): Sample {
  const [base, exponent] = [d.pick(numeric), d.pick(numeric)];
  const shape = d.shape();
  const opset = d.opset(7);
  const b = opset < 12 || d.chance(0.4) ? base : exponent;
  const values: Values = isFloatType(base) && isFloatType(b) ? "any" : [0, 3];
  const scalar = d.chance(0.3);
  return {
    opset,
    inputs: [
      d.tensor(base, d.below(shape, 0.1), values),
      scalar ? tensorOf(b, [], [d.pick([0, 1, 2, 3])]) : d.tensor(b, d.below(shape), values),
    ],
  };
}

function clip(d: Draw): Sample {
  const opset = d.opset(7);
  const type = opset < 12 ? d.pick(["float32", "float64"] as const) : d.pick(numeric);
  // A bound that is left out is the greatest finite number for the runtime.
  const x = d.tensor(type, d.shape(), "large");
  const [min, max] = [d.maybe(d.number(type, "finite")), d.maybe(d.number(type, "finite"))];
  if (opset < 11)
    return {
      opset,
      attributes: {
        min: min === undefined ? undefined : float(Math.fround(min)),
        max: max === undefined ? undefined : float(Math.fround(max)),
      },
      inputs: [d.tensor("float32", x.dims, "large")],
    };
  const bound = (v: number | undefined) => (v === undefined ? undefined : tensorOf(type, [], [v]));
  return { opset, inputs: [x, bound(min), bound(max)] };
}

function mod(d: Draw): Sample {
  const type = d.pick(numeric);
  const shape = d.shape();
  const fmod = isFloatType(type) ? 1 : d.maybe(d.int(0, 1));
  const values: Values = isFloatType(type) ? "any" : "large";
  const y = d.tensor(type, d.below(shape), values);
  // A division by 0 of integers is not defined.
  const data = isFloatType(type)
    ? y
    : tensorOf(
        type,
        y.dims,
        Array.from(y.data as ArrayLike<number>, (v) => Number(v) || 1),
      );
  return {
    opset: d.opset(10),
    attributes: { fmod },
    inputs: [d.tensor(type, shape, values), data],
  };
}

function div(d: Draw): Sample {
  const s = binary(numeric)(d);
  const [x, y] = s.inputs as [NonNullable<Sample["inputs"][0]>, NonNullable<Sample["inputs"][0]>];
  if (isFloatType(x.type)) return s;
  const data = Array.from(y.data as ArrayLike<number>, (v) => Number(v) || 1);
  // The least integer over −1 is beyond the type.
  return {
    ...s,
    inputs: [
      x,
      tensorOf(
        y.type,
        y.dims,
        data.map((v) => (v === -1 ? 3 : v)),
      ),
    ],
  };
}

function where(d: Draw): Sample {
  const shape = d.shape();
  const type = d.pick(every);
  return {
    opset: d.opset(9),
    inputs: [
      d.tensor("bool", d.below(shape)),
      d.tensor(type, d.below(shape), "any"),
      d.tensor(type, d.below(shape), "any"),
    ],
  };
}

function shift(d: Draw): Sample {
  const type = d.pick(["uint8", "uint32", "uint16", "uint64"] as const);
  const shape = d.shape();
  return {
    opset: d.opset(11),
    attributes: { direction: d.pick(["LEFT", "RIGHT"]) },
    inputs: [d.tensor(type, d.below(shape), "large"), d.tensor(type, d.below(shape), [0, 7])],
  };
}

function prelu(d: Draw): Sample {
  const type = d.pick(["float32", "float64", "int32", "uint32", "int64", "float16"] as const);
  const shape = d.shape();
  return { opset: d.opset(9), inputs: [d.tensor(type, shape), d.tensor(type, d.below(shape))] };
}

function cast(d: Draw): Sample {
  const from = d.pick(every);
  // Of 64 bits without a sign 32 are held.
  const to = d.pick(every.filter((t) => t !== "uint64" || !from.startsWith("int")));
  const values: Values = isFloatType(from)
    ? isFloatType(to) || to === "bool"
      ? "any"
      : to.startsWith("uint")
        ? [0, 100]
        : [-100, 100]
    : isFloatType(to)
      ? "large"
      : "any";
  return {
    opset: d.opset(9),
    attributes: { to: typeNumber(to) },
    inputs: [d.tensor(from, d.shape(), values)],
  };
}

export const typeNumber = (type: ElementType): number => elementTypes.indexOf(type) + 1;

function castLike(d: Draw): Sample {
  const s = cast(d);
  const to = elementTypes[(s.attributes!.to as number) - 1] as ElementType;
  return { opset: Math.max(15, s.opset), inputs: [s.inputs[0], d.tensor(to, d.shape())] };
}

const f3 = (d: Draw): Record<string, Attribute> => ({ alpha: f(d) });
const single: readonly ElementType[] = ["float32", "float32", "float16", "float64"];
const comparable: readonly ElementType[] = numeric;

export const elementwise: Readonly<Record<string, Sampler>> = {
  Abs: unary(numeric),
  Neg: unary([...floats, ...signed]),
  // Of NaN the runtime gives 0.
  Sign: unary(numeric, "large", undefined, 9),
  Ceil: unary(floats),
  Floor: unary(floats),
  Round: unary(floats, "any", undefined, 11),
  Sqrt: unary(floats),
  Reciprocal: unary(floats),
  Exp: unary(floats),
  Log: unary(floats),
  Sin: unary(floats),
  Cos: unary(floats),
  Tan: unary(floats),
  Asin: unary(floats),
  Acos: unary(floats),
  Atan: unary(floats),
  Sinh: unary(floats, "any", undefined, 9),
  Cosh: unary(floats, "any", undefined, 9),
  Tanh: unary(floats),
  Asinh: unary(floats, "any", undefined, 9),
  Acosh: unary(floats, "any", undefined, 9),
  Atanh: unary(floats, "any", undefined, 9),
  Erf: unary([...single], "any", undefined, 9),
  IsNaN: unary(floats, "any", undefined, 9),
  IsInf: unary(
    ["float32", "float64"],
    "any",
    (d) => ({ detect_negative: d.maybe(d.int(0, 1)), detect_positive: d.maybe(d.int(0, 1)) }),
    10,
  ),
  Not: unary(["bool"]),
  BitwiseNot: unary([...signed, "uint8", "uint16", "uint32"], "any", undefined, 18),
  Relu: unary([...single, "int32", "int8"], "any", undefined, 14),
  Sigmoid: unary(single),
  Softplus: unary(single),
  Softsign: unary(single),
  HardSwish: unary(single, "any", undefined, 14),
  Mish: unary(single, "any", undefined, 18),
  // Of −∞ the definition has 0 · ∞.
  Gelu: unary(single, "large", (d) => ({ approximate: d.maybe(d.pick(["none", "tanh"])) }), 20),
  Elu: unary(single, "any", f3),
  Celu: unary(["float32"], "finite", (d) => ({ alpha: float(d.real(0.1, 2)) }), 12),
  Selu: unary(single, "any", (d) => ({ alpha: f(d), gamma: d.maybe(float(d.real(0.2, 2))) })),
  LeakyRelu: unary(single, "any", f3),
  ThresholdedRelu: unary(single, "any", f3, 10),
  HardSigmoid: unary(single, "any", (d) => ({ alpha: f(d), beta: f(d) })),
  Shrink: unary(
    numeric,
    "finite",
    (d) => ({ lambd: d.maybe(float(d.real(0, 1))), bias: d.maybe(float(d.real(0, 1))) }),
    9,
  ),
  Swish: unary(single, "any", f3, 24),
  Add: binary(numeric),
  // A negative result wraps in the 32 bits that hold 64.
  Sub: binary(numeric.filter((t) => t !== "uint64")),
  Mul: binary(numeric),
  Div: div,
  Mod: mod,
  Pow: pow,
  Max: variadic(numeric, 12),
  Min: variadic(numeric, 12),
  Sum: variadic(floats),
  Mean: variadic(floats),
  Clip: clip,
  Equal: binary(every, "any", 11),
  Less: binary(comparable, "any", 9),
  Greater: binary(comparable, "any", 9),
  LessOrEqual: binary(comparable, "any", 12),
  GreaterOrEqual: binary(comparable, "any", 12),
  And: binary(["bool"]),
  Or: binary(["bool"]),
  Xor: binary(["bool"]),
  BitwiseAnd: binary([...signed, "uint8", "uint16", "uint32"], "any", 18),
  BitwiseOr: binary([...signed, "uint8", "uint16", "uint32"], "any", 18),
  BitwiseXor: binary([...signed, "uint8", "uint16", "uint32"], "any", 18),
  BitShift: shift,
  Where: where,
  PRelu: prelu,
  Cast: cast,
  CastLike: castLike,
};
