/** The other rows of the export table: what is exported computes what the reference does. */
import {
  addDim,
  all,
  any,
  argMax,
  argMin,
  argSort,
  avgPool,
  broadcastInDim,
  concat,
  constant,
  convert,
  convolution,
  cummax,
  cummin,
  cumprod,
  cumsum,
  dim,
  dimValue,
  dotGeneral,
  floorDiv,
  gather,
  input,
  iota,
  makeNode,
  makeValue,
  matmul,
  max,
  maxPool,
  min,
  minDim,
  modDim,
  mulDim,
  pad,
  prod,
  reshape,
  reverse,
  scatter,
  slice,
  softmax,
  sort,
  sum,
  take,
  takeAlongAxis,
  tensor,
  topK,
  transpose,
  windows,
} from "@kiln-ml/ir";
import { test } from "uvu";
import { agrees, exportTest, feed } from "./export-run.ts";

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

exportTest("convolutions of integers", async (engine) => {
  const x = input("x", "i32", ["N", 4, 6, 5]);
  const w = input("w", "i32", [6, 2, 3, 2]);
  const outputs = [
    convolution(x, w, { groups: 2 }),
    convolution(x, w, { groups: 2, stride: 2, padding: 1, dilation: [1, 2] }),
    convolution(x, w, { groups: 2, lhsDilation: [2, 1] }),
  ];
  const range: [number, number] = [-9, 9];
  await agrees(
    engine,
    outputs,
    new Map([feed(x, [2, 4, 6, 5], range), feed(w, [6, 2, 3, 2], range)]),
  );
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
  const k = tensor([3, 9, 0], { dtype: "i32" });
  const outside = { negative: "outside" } as const;
  const outputs = (["add", "max", "min", "set"] as const).flatMap((mode) => [
    scatter(x, transpose(u, [0, 1, 2]), [k], [1], mode, outside),
    scatter(x, v, [i, j], [0, 1], mode, outside),
  ]);
  await agrees(engine, outputs, new Map([feed(x, [3, 4, 2]), feed(u, [3, 3, 2]), feed(v, [3, 2])]));
});

exportTest("what layers are made of", async (engine) => {
  const x = input("x", "f32", ["N", 5]);
  const outputs = [softmax(x), x.mean(1), x.sub(x.mean(0)).mul(constant(2))];
  await agrees(engine, outputs, new Map([feed(x, [4, 5])]));
});

test.run();
