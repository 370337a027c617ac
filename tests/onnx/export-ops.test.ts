/** Every row of the export table: what ONNX Runtime computes of the exported op is what the reference does. */
import {
  abs,
  acos,
  acosh,
  add,
  addDim,
  all,
  and,
  any,
  argMax,
  argMin,
  argSort,
  asin,
  asinh,
  atan,
  atan2,
  atanh,
  avgPool,
  bitwiseNot,
  broadcastInDim,
  ceil,
  concat,
  constant,
  convert,
  convolution,
  cos,
  cosh,
  cummax,
  cummin,
  cumprod,
  cumsum,
  type Dtype,
  dim,
  dimValue,
  div,
  dotGeneral,
  equal,
  erf,
  exp,
  exp2,
  expm1,
  floor,
  floorDiv,
  gather,
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
  makeNode,
  makeValue,
  matmul,
  max,
  maximum,
  maxPool,
  min,
  minDim,
  minimum,
  modDim,
  mul,
  mulDim,
  neg,
  not,
  notEqual,
  or,
  pad,
  pow,
  prod,
  reciprocal,
  rem,
  reshape,
  reverse,
  round,
  rsqrt,
  scatter,
  select,
  shiftLeft,
  shiftRight,
  sigmoid,
  sign,
  sin,
  sinh,
  slice,
  softmax,
  sort,
  sqrt,
  stopGradient,
  sub,
  sum,
  type Tensor,
  take,
  takeAlongAxis,
  tan,
  tanh,
  tensor,
  topK,
  transpose,
  trunc,
  windows,
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

exportTest("movement with numbers and with symbols", async (engine) => {
  for (const n of [4, "N"] as const) {
    const x = input("x", "f32", [n, 6]);
    const [rows] = x.shape as [(typeof x.shape)[0] & {}];
    const outputs = [
      reshape(x, [rows, 2, 3]),
      reshape(x, [mulDim(rows, 6)]),
      reshape(x, [3, mulDim(rows, 2)]),
      transpose(x),
      slice(x, [1, 0], [rows, 6], [1, 2]),
      slice(x, [floorDiv(rows, 2), 1], [rows, 5]),
      pad(x, 0.5, [1, 2], [0, 1]),
      pad(x, 0.5, [-1, 2], [1, -2]),
      pad(x, -1, [0, 1], [2, 0], [1, 2]),
      concat([x, x.neg()], 0),
      reverse(x, 1),
      reverse(x),
      windows(x, { size: [2, 3], stride: [1, 2] }),
      windows(x, { size: 2, dilation: 3 }),
      iota([rows, 3], 0),
      iota([2, rows], 1, "f32"),
      dimValue(addDim(mulDim(rows, 2), 1)),
      dimValue(modDim(addDim(rows, 7), 3)),
      dimValue(minDim(rows, 3)),
    ];
    await agrees(engine, outputs, new Map([feed(x, [4, 6])]));
  }
});

exportTest("a symbol that stands in a compound extent is solved for", async (engine) => {
  const x = input("x", "f32", [addDim(mulDim(dim("N"), 2), 1)]);
  await agrees(engine, [dimValue(dim("N")), x.add(1)], new Map([feed(x, [7])]), { dims: { N: 3 } });
});

exportTest("fold adds what came from one place", async (engine) => {
  const x = input("x", "f32", [2, 3, 4, 2, 2]);
  const attrs = { size: [2, 2], stride: [2, 1], dilation: [1, 2], extent: [6, 6] };
  const y = makeNode({ op: "fold", operands: [x], attrs, dtype: "f32", shape: [2, 6, 6] });
  await agrees(engine, [y], new Map([feed(x, [2, 3, 4, 2, 2])]));
});

exportTest("reductions", async (engine) => {
  for (const dtype of ["f32", "i32", "u32", "i8"] as const) {
    const x = input("x", dtype, [2, 3, 4]);
    const feeds = new Map([feed(x, [2, 3, 4], [0, 3])]);
    const outputs = [sum, prod, max, min].flatMap((f) => [f(x), f(x, 1), f(x, [0, 2])]);
    const places = [argMax(x, 1), argMin(x, 2), argMax(x, [0, 2]), argMin(x)];
    await agrees(engine, [...outputs, ...places], feeds);
  }
  const flags = input("x", "bool", [2, 3]);
  await agrees(engine, [any(flags, 1), all(flags, 0), any(flags)], new Map([feed(flags, [2, 3])]));
});

exportTest("cumulative ops", async (engine) => {
  const x = input("x", "f32", [2, 4, 3]);
  const options = [true, false].flatMap((exclusive) =>
    [true, false].map((backwards) => ({ exclusive, reverse: backwards })),
  );
  const outputs = [cumsum, cumprod, cummax, cummin].flatMap((f) =>
    options.flatMap((o) => [f(x, 1, o), f(x, 2, o)]),
  );
  await agrees(engine, outputs, new Map([feed(x, [2, 4, 3])]));
});

exportTest("sorting", async (engine) => {
  for (const dtype of ["f32", "i32", "u8"] as const) {
    const x = input("x", dtype, [3, 7]);
    const top = topK(x, 2, 0);
    const outputs = [
      argSort(x, 1),
      argSort(x, 0, { descending: true }),
      sort(x),
      top.values,
      top.indices,
    ];
    await agrees(engine, outputs, new Map([feed(x, [3, 7], [0, 4])]));
  }
});

exportTest("pools, and windows that are none", async (engine) => {
  const x = input("x", "f32", ["N", 3, 8, 7]);
  const outputs = [
    maxPool(x, { size: 2 }),
    maxPool(x, { size: [3, 2], stride: 2, padding: 1 }),
    maxPool(x, { size: 2, stride: 1, dilation: 2 }),
    avgPool(x, { size: 2 }),
    avgPool(x, { size: 3, stride: 2, padding: 1 }),
    avgPool(x, { size: 3, stride: 2, padding: 1, countIncludePad: false }),
    sum(windows(x, { size: [2, 2] }), [4, 5]),
    max(windows(x, { size: [2, 2] }), [5]),
    min(windows(x, { size: [2, 2] }), [4, 5]),
  ];
  await agrees(engine, outputs, new Map([feed(x, [2, 3, 8, 7])]));
});

exportTest("contractions", async (engine) => {
  const a = input("a", "f32", [2, 3, 4]);
  const b = input("b", "f32", [4, 2, 5]);
  const v = input("v", "f32", [4]);
  const outputs = [
    matmul(
      a,
      tensor([
        [1, 2],
        [3, 4],
        [5, 6],
        [7, 8],
      ]),
    ),
    matmul(a, transpose(a, [0, 2, 1])),
    dotGeneral(a, b, { lhsBatch: [0], rhsBatch: [1], lhsContract: [2], rhsContract: [0] }),
    dotGeneral(a, b, { lhsContract: [2, 0], rhsContract: [0, 1] }),
    dotGeneral(a, v, { lhsContract: [2], rhsContract: [0] }),
    dotGeneral(v, v, { lhsContract: [0], rhsContract: [0] }),
    dotGeneral(v, v, {}),
    dotGeneral(a, a, { lhsBatch: [0, 1, 2], rhsBatch: [0, 1, 2] }),
    dotGeneral(v, b, { lhsContract: [0], rhsContract: [0] }),
    matmul(convert(a.mul(5), "i8"), convert(v.mul(5), "i8")),
  ];
  await agrees(engine, outputs, new Map([feed(a, [2, 3, 4]), feed(b, [4, 2, 5]), feed(v, [4])]));
});

exportTest("convolutions", async (engine) => {
  const x = input("x", "f32", ["N", 4, 6, 5]);
  const w = input("w", "f32", [6, 2, 3, 2]);
  const line = input("line", "f32", [2, 3, 9]);
  const k = input("k", "f32", [4, 3, 3]);
  const outputs = [
    convolution(x, w, { groups: 2 }),
    convolution(x, w, {
      groups: 2,
      stride: 2,
      padding: [
        [1, 2],
        [0, 1],
      ],
      dilation: [1, 2],
    }),
    convolution(x, w, { groups: 2, lhsDilation: [2, 3], padding: 1 }),
    convolution(x, w, {
      groups: 2,
      padding: [
        [-1, 1],
        [1, -1],
      ],
    }),
    convolution(line, k, { padding: "same", stride: 2 }),
  ];
  const feeds = [
    feed(x, [2, 4, 6, 5]),
    feed(w, [6, 2, 3, 2]),
    feed(line, [2, 3, 9]),
    feed(k, [4, 3, 3]),
  ];
  await agrees(engine, outputs, new Map(feeds));
});

exportTest("gather clamps indices", async (engine) => {
  const x = input("x", "f32", [3, "N", 2]);
  const i = input("i", "i32", [2, 2]);
  const j = input("j", "i32", [2, 2]);
  const feeds = new Map([
    feed(x, [3, 4, 2]),
    [i, makeValue("i32", [2, 2], [0, 2, 9, -1])],
    [j, makeValue("i32", [2, 2], [3, -9, 1, 4])],
  ]);
  const outputs = [
    gather(x, [i], [0]),
    gather(x, [j], [1]),
    gather(x, [i, j], [0, 1]),
    gather(x, [j, i], [1, 2]),
    take(x, i, 1),
    take(x, 1, 0),
    takeAlongAxis(x, broadcastInDim(iota([2], 0), [3, x.shape[1]!, 2], [2]), 1),
  ];
  await agrees(engine, outputs, feeds);
});

exportTest("scatter drops updates that are out of range", async (engine) => {
  const x = input("x", "f32", [3, 4, 2]);
  const u = input("u", "f32", [3, 3, 2]);
  const v = input("v", "f32", [3, 2]);
  const i = tensor([0, 2, -1], { dtype: "i32" });
  const j = tensor([3, 1, 4], { dtype: "i32" });
  const outputs = (["add", "max", "min", "set"] as const).flatMap((mode) => [
    scatter(x, transpose(u, [0, 1, 2]), [tensor([3, 9, 0], { dtype: "i32" })], [1], mode),
    scatter(x, v, [i, j], [0, 1], mode),
  ]);
  await agrees(engine, outputs, new Map([feed(x, [3, 4, 2]), feed(u, [3, 3, 2]), feed(v, [3, 2])]));
});

exportTest("what layers are made of", async (engine) => {
  const x = input("x", "f32", ["N", 5]);
  const outputs = [softmax(x), x.mean(1), x.sub(x.mean(0)).mul(constant(2))];
  await agrees(engine, outputs, new Map([feed(x, [4, 5])]));
});

test.run();
