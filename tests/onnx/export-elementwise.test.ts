/** Elementwise rows of the export table, and operands that broadcast: what is exported computes what the reference does. */
import {
  abs,
  acos,
  acosh,
  add,
  and,
  asin,
  asinh,
  atan,
  atan2,
  atanh,
  bitcast,
  bitwiseNot,
  broadcastInDim,
  ceil,
  convert,
  cos,
  cosh,
  type Dtype,
  div,
  equal,
  erf,
  exp,
  exp2,
  expm1,
  floor,
  greater,
  greaterEqual,
  input,
  iota,
  isFinite as isFiniteOp,
  isNan,
  less,
  lessEqual,
  log,
  log1p,
  log2,
  makeValue,
  maximum,
  minimum,
  mul,
  neg,
  not,
  notEqual,
  or,
  pow,
  reciprocal,
  rem,
  round,
  rsqrt,
  select,
  shiftLeft,
  shiftRight,
  sigmoid,
  sign,
  sin,
  sinh,
  sqrt,
  stopGradient,
  sub,
  type Tensor,
  tan,
  tanh,
  transpose,
  trunc,
  xor,
} from "@kiln-ml/ir";
import { test } from "uvu";
import { agrees, exportTest, feed } from "./export-run.ts";

type Range = [number, number];
type Op1 = (x: Tensor) => Tensor;
type Op2 = (x: Tensor, y: Tensor) => Tensor;

const unaries: readonly (readonly [Op1, Dtype, Range?])[] = [
  ...[neg, abs, sign, floor, ceil, round, trunc, exp, expm1, exp2].map((f) => [f, "f32"] as const),
  ...[sin, cos, tan, sinh, cosh, asinh, atan, tanh, sigmoid, erf].map((f) => [f, "f32"] as const),
  ...[asin, acos, atanh].map((f) => [f, "f32", [-0.9, 0.9]] as [Op1, Dtype, Range]),
  ...[sqrt, rsqrt, log, log2, reciprocal].map((f) => [f, "f32", [0.1, 9]] as [Op1, Dtype, Range]),
  [log1p, "f32", [-0.9, 9]],
  [acosh, "f32", [1, 9]],
  ...(["i32", "i8", "u8", "u32"] as const).flatMap((d) =>
    [neg, abs, sign, floor, trunc, bitwiseNot].map(
      (f) => [f, d, d[0] === "i" ? [-9, 9] : [0, 9]] as [Op1, Dtype, Range],
    ),
  ),
  [not, "bool"],
  [isNan, "i32"],
  [isFiniteOp, "i32"],
  [stopGradient, "f32"],
];

exportTest("elementwise ops of one operand", async (engine) => {
  for (const [f, dtype, range] of unaries) {
    const x = input("x", dtype, [3, 5]);
    await agrees(engine, [f(x)], new Map([feed(x, [3, 5], range)]));
  }
});

exportTest("elementwise ops keep accuracy, infinities and NaN", async (engine) => {
  const x = input("x", "f32", [8]);
  const numbers = [0, 1e-6, -1e-6, 50, -200, Infinity, -Infinity, Number.NaN];
  const feeds = new Map([[x, makeValue("f32", [8], numbers)]]);
  const scaled = [expm1(x).mul(1e6), log1p(x.abs()).mul(1e6), trunc(x), sigmoid(x)];
  await agrees(engine, [...scaled, isNan(x), isFiniteOp(x), maximum(x, 1), minimum(x, 1)], feeds);
});

const binaries: readonly (readonly [Op2, readonly Dtype[], Range?])[] = [
  ...[add, sub, mul, maximum, minimum].map(
    (f) => [f, ["f32", "i32", "u32", "i8", "u8"], [1, 9]] as [Op2, Dtype[], Range],
  ),
  ...[div, rem].map((f) => [f, ["f32", "i32", "u32", "i8"], [1, 9]] as [Op2, Dtype[], Range]),
  [pow, ["f32"], [0.2, 3]],
  [atan2, ["f32"]],
  ...[and, or, xor].map((f) => [f, ["bool", "i32", "u32", "u8"], [0, 9]] as [Op2, Dtype[], Range]),
  ...[shiftLeft, shiftRight].map((f) => [f, ["u8", "u32"], [0, 5]] as [Op2, Dtype[], Range]),
  ...[equal, notEqual, less, lessEqual, greater, greaterEqual].map(
    (f) => [f, ["f32", "i32", "bool"], [-2, 2]] as [Op2, Dtype[], Range],
  ),
];

exportTest("elementwise ops of two operands", async (engine) => {
  for (const [f, dtypes, range] of binaries)
    for (const dtype of dtypes) {
      const [x, y] = [input("x", dtype, [2, 3]), input("y", dtype, [3])];
      await agrees(engine, [f(x, y)], new Map([feed(x, [2, 3], range), feed(y, [3], range)]));
    }
});

exportTest("integers: division by zero, signs, shifts of negative numbers", async (engine) => {
  const [x, y] = [input("x", "i32", [6]), input("y", "i32", [6])];
  const feeds = new Map([
    [x, makeValue("i32", [6], [7, -7, 7, -7, 5, -(2 ** 31)])],
    [y, makeValue("i32", [6], [2, 2, 3, 4, 0, 3])],
  ]);
  await agrees(engine, [div(x, y), rem(x, y), shiftRight(x, y), shiftLeft(x, y)], feeds);
});

exportTest("integers of one size share their bits", async (engine) => {
  const [x, y] = [input("x", "i32", [3]), input("y", "u8", [3])];
  const feeds = new Map([
    [x, makeValue("i32", [3], [-1, 7, -(2 ** 31)])],
    [y, makeValue("u8", [3], [255, 7, 128])],
  ]);
  await agrees(engine, [bitcast(x, "u32"), bitcast(y, "i8")], feeds);
});

exportTest("atan2 in all quadrants, on the axes and at infinities", async (engine) => {
  const values = [0, -0, 1, -1, 2, Infinity, -Infinity];
  const pairs = values.flatMap((a) => values.map((b) => [a, b] as const));
  const [y, x] = [input("y", "f32", [49]), input("x", "f32", [49])];
  const feeds = new Map([
    [
      y,
      makeValue(
        "f32",
        [49],
        pairs.map(([a]) => a),
      ),
    ],
    [
      x,
      makeValue(
        "f32",
        [49],
        pairs.map(([, b]) => b),
      ),
    ],
  ]);
  await agrees(engine, [atan2(y, x)], feeds);
});

exportTest("select, convert and broadcasts", async (engine) => {
  const [x, flag] = [input("x", "f32", [2, 3]), input("flag", "bool", [2, 1])];
  const turned = broadcastInDim(transpose(x), [4, 2, 3], [2, 1]);
  const converted = (["i32", "i8", "f64", "bool", "u8"] as const).map((d) =>
    convert(abs(x).mul(50), d),
  );
  const outputs = [select(flag, x, 1), turned, broadcastInDim(x, [2, 5, 3], [0, 2]), ...converted];
  await agrees(engine, outputs, new Map([feed(x, [2, 3]), feed(flag, [2, 1])]));
});

exportTest("operands that only repeat make the whole shape together", async (engine) => {
  const [x, y] = [input("x", "f32", [3]), input("y", "f32", [2])];
  const columns = broadcastInDim(x, [2, 3], [1]);
  const rows = broadcastInDim(y, [2, 3], [0]);
  const [twice, sums] = [columns.add(columns), columns.add(rows)];
  await agrees(
    engine,
    [twice, sums, columns, iota([2, 3], 1).add(iota([2, 3], 0))],
    new Map([feed(x, [3]), feed(y, [2])]),
  );
});

test.run();
