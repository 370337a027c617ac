/**
 * Every error of convolutions, indexing and what comes after them, verbatim, with the class that is thrown.
 */
import {
  avgPool,
  call,
  convolution,
  DtypeError,
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
  scatter,
  softmax,
  std,
  type Tensor,
  take,
  takeAlongAxis,
  variance,
} from "@kiln-ml/ir";
import { test } from "uvu";
import { fails } from "./fails.ts";

const x = input("x", "f32", [2, 3]);
const v = input("v", "f32", [4]);
const i = input("i", "i32", [5]);
const c = input("c", "bool", [2, 3]);
const infer = (op: string, operands: Tensor[], attrs = {}) => opRecord(op).infer(operands, attrs);

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
