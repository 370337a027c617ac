/**
 * Elementwise ops computed one number at a time, for element types that ONNX Runtime has no kernel
 * of.
 */

import { fromHost, type HostArray } from "@kiln-ml/ir";
import type { ElementType, TensorDef } from "@kiln-ml/onnx";
import type { Result } from "./compare.ts";
import { isFloatType, tensorOf } from "./draw.ts";
import type { Sample } from "./sample.ts";

type Scalar = (x: number, y: number) => number;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** On floats. */
const unary: Readonly<
  Record<string, (x: number, a: (name: string, fallback: number) => number) => number>
> = {
  Acos: Math.acos,
  Acosh: Math.acosh,
  Asin: Math.asin,
  Asinh: Math.asinh,
  Atan: Math.atan,
  Atanh: Math.atanh,
  Cosh: Math.cosh,
  Sinh: Math.sinh,
  Tan: Math.tan,
  Sin: Math.sin,
  Cos: Math.cos,
  Exp: Math.exp,
  Log: Math.log,
  Sqrt: Math.sqrt,
  Abs: Math.abs,
  Floor: Math.floor,
  Ceil: Math.ceil,
  Reciprocal: (x) => 1 / x,
  Neg: (x) => -x,
  Softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  Softsign: (x) => x / (1 + Math.abs(x)),
  Sigmoid: sigmoid,
  Tanh: Math.tanh,
  Relu: (x) => Math.max(x, 0),
  HardSigmoid: (x, a) => Math.max(0, Math.min(1, a("alpha", 0.2) * x + a("beta", 0.5))),
  LeakyRelu: (x, a) => (x < 0 ? a("alpha", 0.01) * x : x),
  Elu: (x, a) => (x < 0 ? a("alpha", 1) * Math.expm1(x) : x),
  Selu: (x, a) =>
    a("gamma", 1.0507009873554805) * (x < 0 ? a("alpha", 1.6732632423543772) * Math.expm1(x) : x),
  ThresholdedRelu: (x, a) => (x > a("alpha", 1) ? x : 0),
  Swish: (x, a) => x * sigmoid(a("alpha", 1) * x),
};

const binary: Readonly<Record<string, Scalar>> = {
  Add: (x, y) => x + y,
  Sub: (x, y) => x - y,
  Mul: (x, y) => x * y,
  Max: (x, y) => Math.max(x, y),
  Min: (x, y) => Math.min(x, y),
  Equal: (x, y) => Number(x === y),
  Less: (x, y) => Number(x < y),
  Greater: (x, y) => Number(x > y),
  LessOrEqual: (x, y) => Number(x <= y),
  GreaterOrEqual: (x, y) => Number(x >= y),
};

const logical = new Set(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]);

const numbersOf = ({ type, data }: TensorDef): ArrayLike<number> =>
  type === "float16"
    ? fromHost("f16", data as HostArray)
    : Array.from(data as ArrayLike<number>, Number);

function broadcast(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const [x, y] = [a[i - rank + a.length] ?? 1, b[i - rank + b.length] ?? 1];
    return x === 1 ? y : x;
  });
}

/** The place in a tensor of `dims` of element i of what it is broadcast to. */
function placeOf(i: number, out: readonly number[], dims: readonly number[]): number {
  let [place, stride, left] = [0, 1, i];
  for (let k = 1; k <= out.length; k++) {
    const at = left % out[out.length - k]!;
    left = Math.floor(left / out[out.length - k]!);
    const extent = dims[dims.length - k];
    if (extent === undefined) continue;
    if (extent !== 1) place += at * stride;
    stride *= extent;
  }
  return place;
}

function wrapped(type: ElementType, values: readonly number[]): readonly number[] {
  if (isFloatType(type) || type === "bool" || type.endsWith("int64")) return values;
  const bits = Number(/\d+/.exec(type)![0]);
  return values.map((v) => {
    const low = Number(BigInt.asUintN(bits, BigInt(v)));
    return type.startsWith("u") || low < 2 ** (bits - 1) ? low : low - 2 ** bits;
  });
}

/** The result `y0`, or undefined where the op is not one of these. */
export function direct(op: string, sample: Sample): Result | undefined {
  const [x, ...rest] = sample.inputs as [TensorDef, ...TensorDef[]];
  const attribute = (name: string, fallback: number): number => {
    const a = sample.attributes?.[name];
    return typeof a === "object" && "value" in a ? Math.fround(a.value as number) : fallback;
  };
  const f = unary[op];
  if (f && rest.length === 0 && (isFloatType(x.type) || ["Abs", "Neg", "Relu"].includes(op))) {
    const all = Array.from(numbersOf(x), (v) => f(v, attribute));
    return tensorOf(x.type, x.dims, wrapped(x.type, all));
  }
  const g = binary[op];
  if (!g || rest.length !== 1) return undefined;
  const y = rest[0]!;
  const out = broadcast(x.dims, y.dims);
  const [a, b] = [numbersOf(x), numbersOf(y)];
  const size = out.reduce((n, d) => n * d, 1);
  const all = Array.from({ length: size }, (_, i) =>
    g(a[placeOf(i, out, x.dims)]!, b[placeOf(i, out, y.dims)]!),
  );
  const type = logical.has(op) ? "bool" : x.type;
  return tensorOf(type, out, wrapped(type, all));
}
