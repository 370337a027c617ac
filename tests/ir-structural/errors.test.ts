/**
 * Every error of the structural ops, verbatim, with the class that is thrown.
 */
import {
  argMax,
  avgPool,
  broadcastInDim,
  call,
  concat,
  convolution,
  DtypeError,
  dotGeneral,
  expandDims,
  flatten,
  GraphError,
  gather,
  input,
  logSoftmax,
  logSumExp,
  makeNode,
  matmul,
  maxPool,
  mean,
  norm,
  normalize,
  opRecord,
  pad,
  reshape,
  reverse,
  ShapeError,
  scatter,
  slice,
  sliceAxis,
  softmax,
  split,
  squeeze,
  stack,
  std,
  sum,
  swapAxes,
  type Tensor,
  take,
  takeAlongAxis,
  transpose,
  variance,
  windows,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Class = typeof ShapeError | typeof DtypeError | typeof GraphError;

function fails(build: () => unknown, message: string, type: Class = ShapeError): void {
  test(message.split("\n")[0]!, () => {
    try {
      build();
    } catch (e) {
      assert.is((e as Error).message, message);
      assert.instance(e, type);
      return;
    }
    assert.unreachable("no error");
  });
}

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

const image = input("image", "f32", [1, 4, 5]);
const kernel = (...shape: number[]) => input("w", "f32", shape);
fails(
  () => convolution(image, kernel(2, 3, 3)),
  "convolution: channels differ: x [1,4,5] has 4, w [2,3,3] takes 1 groups of 3\n  x must have groups times as many channels as w takes: change w, or the groups",
);
fails(
  () => convolution(image, kernel(3, 2, 3), { groups: 2 }),
  "convolution: 3 output channels do not divide into 2 groups",
);
fails(
  () => convolution(image, kernel(3, 4, 3), { groups: 0 }),
  "convolution: groups is 0, not 1 or more",
);
fails(
  () => convolution(image, kernel(3, 4, 6)),
  "convolution: kernel [6] does not fit padded axis 2 of [1,4,5]",
);
fails(
  () => convolution(image, kernel(3, 4, 3, 3)),
  "convolution: x is [1,4,5], w is [3,4,3,3], not [N,C,...] and [O,C,...] of one rank",
);
fails(
  () => convolution(image, kernel(3, 4, 3), { stride: 0 }),
  "convolution: stride 0 of axis 0 is not 1 or more",
);
fails(
  () => convolution(image, kernel(3, 4, 3), { padding: [1, 1] }),
  "convolution: padding has 2 entries for 1 axes",
);
fails(
  () => convolution(image, kernel(3, 4, 3), { padding: "full" as "same" }),
  'convolution: padding "full" is not "same" or "valid"',
);
fails(
  () => convolution(image, input("w", "f64", [3, 4, 3])),
  'convolution: dtypes differ: f32 and f64\n  convert one to the dtype of the other: x.convert("f32")',
  DtypeError,
);
fails(
  () => maxPool(x, { size: 2 }),
  "maxPool: x is [2,3], not [N,C,...]\n  put axes of extent 1 in front: x.expandDims(0)",
);
fails(
  () => avgPool(input("u", "i32", [1, 1, 4]), { size: 2 }),
  'avgPool: x is i32, not a float\n  convert it first: x.convert("f32")',
  DtypeError,
);

const integers = "\n  give them as an Int32Array, or a tensor or input of dtype i32";
fails(() => gather(x, [v], [0]), `gather: indices are f32, not an integer${integers}`, DtypeError);
fails(() => take(x, v), `take: indices are f32, not an integer${integers}`, DtypeError);
fails(
  () => takeAlongAxis(x, x, 1),
  `takeAlongAxis: indices are f32, not an integer${integers}`,
  DtypeError,
);
fails(
  () => take(x, 3, 1),
  "take: 3 is not a place on axis 1 of [2,3]\n  indices are integers from 0 to the extent less 1, or from the end, -1 the last",
);
fails(
  () => take(x, -3),
  "take: -3 is not a place on axis 0 of [2,3]\n  indices are integers from 0 to the extent less 1, or from the end, -1 the last",
);
fails(
  () => take(x, 0.5),
  "take: 0.5 is not a place on axis 0 of [2,3]\n  indices are integers from 0 to the extent less 1, or from the end, -1 the last",
);
fails(
  () => matmul([1, 2] as unknown as Tensor, x),
  "matmul: operands must be tensors, got Array",
  DtypeError,
);
for (const [name, f] of Object.entries({
  mean,
  variance,
  std,
  norm,
  softmax,
  logSoftmax,
  normalize,
}))
  fails(
    () => f(x, 2),
    `${name}: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last`,
  );
fails(
  () => logSumExp(x, 2),
  "logSumExp: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(() => gather(x, [i], [0, 1]), "gather: 1 index tensors do not name one axis each: [0,1]");
fails(
  () => gather(x, [i, input("j", "i32", [2])], [0, 1]),
  "gather: index shapes differ: [5] and [2]",
);
fails(
  () => take(x, i, 2),
  "take: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
);
fails(() => takeAlongAxis(x, i), "takeAlongAxis: shapes differ off axis 1: x [2,3], indices [5]");
fails(() => scatter(x, v, [i], [0]), "scatter: updates are [4], indices and operand ask for [5,3]");
fails(
  () => scatter(v, input("u", "i32", [5]), [i], [0]),
  "scatter: updates are i32, operand is f32",
  DtypeError,
);
fails(
  () => scatter(v, input("u", "f32", [5]), [i], [0], "mean" as "add"),
  'scatter: mode "mean" is not add, mul, max, min or set\n  take one of these; a mean is a sum by add, divided by the counts',
  GraphError,
);
fails(
  () => scatter(c, input("u", "bool", [5, 3]), [i], [0]),
  'scatter: mode add does not combine bool\n  use mode "set", or convert to i32 first',
  DtypeError,
);

const p = input("p", "f32", [2]);
const body = { params: [p], results: [p.neg()] };
fails(
  () => call(body, []),
  "call: the graph takes 1 operands, got 0\n  pass one operand for each of its parameters",
  GraphError,
);
fails(
  () => call(body, [v]),
  "call: operand 0 is [4], the graph takes [2]\n  reshape it, or build the graph for that shape",
);
fails(
  () => call(body, [input("q", "f64", [2])]),
  "call: operand 0 is f64, the graph takes f32\n  convert it, or build the graph for that dtype",
  DtypeError,
);
fails(
  () => call({ params: [], results: [] }, []),
  "call: the graph has no results\n  return a tensor from the function",
  GraphError,
);
const node = makeNode({
  op: "call",
  operands: [p],
  attrs: {},
  dtype: "f32",
  shape: [2],
  regions: [body],
});
fails(
  () => infer("result", [node], { index: 1 }),
  "result: index 1 is outside the 1 results of call\n  count results from 0",
  GraphError,
);

test.run();
