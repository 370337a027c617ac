/**
 * Every error of the structural ops, verbatim, with the class that is thrown.
 */
import {
  argMax,
  broadcastInDim,
  concat,
  DtypeError,
  dotGeneral,
  expandDims,
  flatten,
  GraphError,
  input,
  matmul,
  opRecord,
  pad,
  reshape,
  reverse,
  slice,
  sliceAxis,
  split,
  squeeze,
  stack,
  sum,
  swapAxes,
  type Tensor,
  transpose,
  windows,
} from "@kiln-ml/ir";
import { test } from "uvu";
import { fails } from "./fails.ts";

const x = input("x", "f32", [2, 3]);
const v = input("v", "f32", [4]);
const i = input("i", "i32", [5]);

fails(
  () => x.cumsum(2),
  "cumsum: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(
  () => opRecord("cummax").infer([x], { axis: -1 }),
  "cummax: axis counts from the front, got -1",
);
fails(
  () => opRecord("cumprod").infer([x], { axis: 0, reverse: 1 }),
  "cumprod: exclusive and reverse are true or false, got false and 1",
  GraphError,
);
fails(
  () => input("b", "bool", [2]).cummin(0),
  'cummin: operand is bool, not a number\n  convert it first: x.convert("i32")',
  DtypeError,
);
const c = input("c", "bool", [2, 3]);
const n = input("n", "f32", ["N", 3]);
const infer = (op: string, operands: Tensor[], attrs = {}) => opRecord(op).infer(operands, attrs);

fails(
  () => reshape(x, [4, 2]),
  "reshape: element counts differ: [2,3] has 6, [4,2] has 8\n  give a shape of as many elements, or -1 for one extent",
);
fails(
  () => reshape(n, [6]),
  "reshape: element counts differ: [N,3] has 3*N, [6] has 6\n  give a shape of as many elements, or -1 for one extent",
);
fails(
  () => reshape(x, [-1, 4]),
  "reshape: cannot infer -1: [2,3] has 6 elements, target is [-1,4]",
);
fails(
  () => reshape(x, [-3, -2]),
  "reshape: [-3,-2] has an extent that is not 0 or more\n  give integers of 0 or more, or names of symbols",
);
fails(() => infer("reshape", [x]), "reshape: the target shape is missing", GraphError);
fails(
  () => infer("reshape", [x, x]),
  "reshape: takes 1 operands, got 2\n  pass as many as the op takes: docs/ops.md has them",
  GraphError,
);
fails(
  () => expandDims(x, 4),
  "expandDims: axis 4 is outside a tensor of rank 3\n  axes count from 0, or from the end: -1 is the last",
);
fails(
  () => squeeze(x, 1),
  "squeeze: axis 1 of [2,3] has extent 3, not 1\n  name axes of extent 1 only, or reshape",
);
fails(() => flatten(x, 1, 0), "flatten: axis 1 comes after axis 0\n  name the first axis first");
fails(() => transpose(x, [0, 0]), "transpose: [0,0] is not a permutation of the axes of [2,3]");
fails(
  () => transpose(x, [0, 2]),
  "transpose: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(
  () => swapAxes(x, 0, 2),
  "swapAxes: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(
  () => reverse(x, 2),
  "reverse: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(
  () => reverse(x, [0, -2]),
  "reverse: an axis is named twice: [0,0]\n  name each axis once; -1 is the last",
);
fails(
  () => broadcastInDim(x, [2, 4], [0, 1]),
  "broadcastInDim: axis 1 of [2,3] has 3, axis 1 of [2,4] has 4",
);
fails(
  () => broadcastInDim(x, [2, 3], [0]),
  "broadcastInDim: dims [0] do not name one axis for each of [2,3]",
);
fails(
  () => infer("broadcastInDim", [x], { dims: [0, 1] }),
  "broadcastInDim: the target shape is missing",
  GraphError,
);
fails(
  () => slice(x, [0, 2], [2, 4]),
  "slice: 2:4 is outside axis 1 of [2,3]\n  start and limit count from 0, with start <= limit <= extent",
);
fails(
  () => slice(x, [0, 2], [2, 1]),
  "slice: 2:1 is outside axis 1 of [2,3]\n  start and limit count from 0, with start <= limit <= extent",
);
fails(
  () => slice(x, [0], [2, 1]),
  "slice: start has 1 entries, operand [2,3] has 2 axes\n  give one entry for each axis",
);
fails(() => slice(x, [0, 0], [2, 3], 0), "slice: stride 0 of axis 0 is not 1 or more");
fails(() => slice(x, [0, 0], [2, 3], [1]), "slice: stride has 1 entries for 2 axes: [1]");
fails(
  () => sliceAxis(x, 2, 0),
  "slice: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(() => pad(x, v, 1), "pad: value is [4], not a scalar");
fails(() => pad(x, input("z", "i32", []), 1), "pad: value is i32, operand is f32", DtypeError);
fails(
  () => pad(x, 0, -2),
  "pad: axis 0 of [2,3] would have extent -2\n  cut off less: low and high may be negative as far as the extent goes",
);
fails(
  () => pad(x, 0, 0, 0, -1),
  "pad: interior -1 of axis 0 is not 0 or more\n  give 0 or more; negative low and high cut off",
);
fails(() => concat([]), "concat: no operands\n  pass one tensor or more", GraphError);
fails(() => stack([]), "concat: no operands\n  pass one tensor or more", GraphError);
fails(
  () => concat([x, v]),
  "concat: shapes differ off axis 0: [2,3] and [4]\n  make all other axes equal, or name another axis",
);
fails(
  () => concat([x, n], 1),
  "concat: shapes differ off axis 1: [2,3] and [N,3]\n  make all other axes equal, or name another axis",
);
fails(
  () => concat([v, i]),
  'concat: dtypes differ: f32 and i32\n  convert one to the dtype of the other: x.convert("f32")',
  DtypeError,
);
fails(
  () => split(x, 2, 1),
  "split: axis 1 of [2,3] does not divide into 2 parts\n  give the extents of the parts as a list",
);
fails(
  () => split(x, [1, 1], 1),
  "split: extents [1,1] sum to 2, axis 1 of [2,3] has 3\n  give extents whose sum is that of the axis",
);
fails(
  () => windows(x, { size: 3, dilation: 2 }),
  "windows: window 3 with dilation 2 does not fit axis 1 of [2,3]",
);
fails(() => windows(x, { size: 0 }), "windows: size 0 of axis 0 is not 1 or more");
fails(
  () => windows(v, { size: [1, 1] }),
  "windows: size, stride and dilation of 2, 2, 2 axes do not fit operand [4]",
);
const window = { size: [2], stride: [1], dilation: [1] };
fails(
  () => infer("fold", [x], { ...window, extent: [4] }),
  "fold: extent [4] has windows [3,2], operand is [2,3]",
);
fails(
  () => infer("fold", [c], { ...window, extent: [3] }),
  "fold: dtype bool has no sum",
  DtypeError,
);

fails(
  () => sum(x, 2),
  "sum: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(
  () => sum(x, [1, -1]),
  "sum: an axis is named twice: [1,1]\n  name each axis once; -1 is the last",
);
fails(
  () => argMax(c),
  'argMax: operand is bool, not a number\n  convert it first: x.convert("i32")',
  DtypeError,
);
fails(
  () => x.any(),
  "reduceAny: operand is f32, not bool\n  convert it first: x.notEqual(0)",
  DtypeError,
);

fails(
  () => matmul(x, v),
  "matmul: inner extents differ: lhs [2,3] has 3, rhs [4] has 4\n  the last axis of lhs and the last but one of rhs must be equal: swapAxes(-1, -2) or reshape one",
);
fails(
  () => matmul(x, n),
  "matmul: inner extents differ: lhs [2,3] has 3, rhs [N,3] has N\n  the last axis of lhs and the last but one of rhs must be equal: swapAxes(-1, -2) or reshape one",
);
fails(
  () => matmul(x, input("s", "f32", [])),
  "matmul: operands are [2,3] and [], a scalar has no matrix product",
);
fails(
  () => matmul(input("a", "f32", [2, 2, 3]), input("b", "f32", [3, 3, 2])),
  "matmul: shapes do not broadcast: [2] and [3] differ at axis -1: 2 and 3\n  shapes are lined up from the right, and extents must be equal or 1: reshape or expandDims one",
);
fails(
  () => dotGeneral(x, v, { lhsContract: [1], rhsContract: [0] }),
  "dotGeneral: contracted extents differ: lhs [2,3] has 3 at axis 1, rhs [4] has 4 at axis 0",
);
fails(
  () => dotGeneral(x, v, { lhsBatch: [0] }),
  "dotGeneral: batch axes are not paired: lhs [0], rhs []",
);
fails(
  () => dotGeneral(x, x, { lhsBatch: [0], rhsBatch: [0], lhsContract: [0], rhsContract: [1] }),
  "dotGeneral: an axis of lhs is named twice: [0,0]",
);
fails(
  () => dotGeneral(v, i, {}),
  'dotGeneral: dtypes differ: f32 and i32\n  convert one to the dtype of the other: x.convert("f32")',
  DtypeError,
);
fails(
  () => dotGeneral(c, c, {}),
  "dotGeneral: operands are bool, not a number\n  convert them to f32 or i32 first",
  DtypeError,
);

test.run();
