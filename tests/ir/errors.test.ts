/**
 * The messages of errors that building a graph may throw, verbatim.
 */
import {
  add,
  assign,
  convert,
  evaluate,
  hostDataOf,
  input,
  iota,
  makeValue,
  param,
  random,
  select,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const x = input("x", "f32", [2, 3]);
const y = input("y", "f32", [2, 4]);
const w = param([1, 2], { name: "w" });

const messages: readonly (readonly [name: string, run: () => unknown, message: string])[] = [
  [
    "ShapeError",
    () => add(x, y),
    "add: shapes do not broadcast: [2,3] and [2,4] differ at axis -1: 3 and 4\n  shapes are lined up from the right, and extents must be equal or 1: reshape or expandDims one",
  ],
  [
    "DtypeError",
    () => x.and(1),
    'and: operands must be an integer or bool, got f32\n  convert them first, x.convert("i32"), or compare: x.greater(0)',
  ],
  [
    "DtypeError",
    () => x.bitwiseNot(),
    'bitwiseNot: operands must be an integer, got f32\n  convert them first: x.convert("i32")',
  ],
  [
    "DtypeError",
    () => x.not(),
    "not: operands must be bool, got f32\n  compare first: x.notEqual(0)",
  ],
  [
    "DtypeError",
    () => x.bitcast("f64"),
    "bitcast: f32 and f64 have no bits in common\n  take a dtype of the same width, or convert the value with convert",
  ],
  [
    "ShapeError",
    () => x.broadcastTo([4, 3]),
    "broadcastTo: shapes do not broadcast: [2,3] and [4,3] differ at axis -2: 2 and 4\n  shapes are lined up from the right, and extents must be equal or 1: reshape or expandDims one",
  ],
  [
    "ShapeError",
    () => x.broadcastTo([3]),
    "broadcastTo: [2,3] does not broadcast to [3]\n  only axes of extent 1 and new ones in front are repeated: reshape, or give another shape",
  ],
  [
    "ShapeError",
    () => tensor([[1, 2], [3]]),
    "tensor: nested lists are ragged: [1] has length 1, expected length 2\n  make all lists of one depth as long as the first, or pad them",
  ],
  [
    "ShapeError",
    () => tensor([[1], 2]),
    "tensor: nested lists are ragged: [1] has a scalar, expected length 1\n  make all lists of one depth as long as the first, or pad them",
  ],
  [
    "ShapeError",
    () => tensor([1, 2, 3], { shape: [2, 2] }),
    "tensor: [2,2] has 4 elements, the values are 3\n  give a shape of as many elements",
  ],
  [
    "ShapeError",
    () => input("x", "f32", [-1]),
    "input: [-1] has an extent that is not 0 or more\n  give integers of 0 or more, or names of symbols",
  ],
  [
    "ShapeError",
    () => iota([2, 3], 2),
    "iota: axis 2 is outside a tensor of rank 2\n  axes count from 0, or from the end: -1 is the last",
  ],
  [
    "DtypeError",
    () => iota([2], 0, "bool"),
    'iota: bool does not count\n  take "i32", and compare',
  ],
  [
    "DtypeError",
    () => param([1], { dtype: "i32", name: "n", trainable: true }),
    "param: n is i32 and cannot be trainable\n  pass { trainable: false }, or make it f32",
  ],
  [
    "ShapeError",
    () => param(input("v", "f32", ["N"]), { name: "n" }),
    "param: n has the symbolic extent N\n  give numbers: the shape of a parameter is fixed",
  ],
  [
    "GraphError",
    () => hostDataOf(x),
    "data: input node holds no host data\n  only tensor(…) has values before a run: await x.data() reads others",
  ],
  [
    "ShapeError",
    () => random.bits(x, [2]),
    "randomBits: key must be u32[2], got f32[2,3]\n  take a key from random.key(seed) or random.split(key)",
  ],
  [
    "DtypeError",
    () => random.uniform(random.key(0), [2], { dtype: "i32" }),
    'uniform: dtype must be a float, got i32\n  take randint for integers, or "f32"',
  ],
  [
    "ShapeError",
    () => x.dot(y),
    "dot: operands must have rank 1, got [2,3] and [2,4]\n  use matmul for matrices, or flatten both",
  ],
  [
    "GraphError",
    () => evaluate([x]),
    "evaluate: input x has no value\n  give one for every input that the results read",
  ],
  [
    "ShapeError",
    () => evaluate([x], { inputs: new Map([[x, makeValue("f32", [1], [0])]]) }),
    "evaluate: x is [2,3], here [2,3], got [1]\n  give a value of that shape",
  ],
  [
    "GraphError",
    () => assign(x, x),
    "assign: target is input, not a parameter\n  make it with param(…), or return the value instead",
  ],
  [
    "GraphError",
    () => assign(w, x.sum(0).sum().add(w)),
    "assign: the new value of w reads an input, which has a value only while a compiled function runs\n  take the step within the function that compile is given, or compute the loss of data",
  ],
  [
    "GraphError",
    () => assign(param([0, 0], { name: "mean", trainable: false }), x.sum(0).sum().add(w)),
    "assign: the new value of mean reads an input, which has a value only while a compiled function runs\n  assign within the function that compile is given, or compute the value of data",
  ],
  [
    "ShapeError",
    () => assign(w, x),
    "assign: shapes differ: w is [2], value is [2,3]\n  reshape or broadcastTo the value to the shape of the parameter",
  ],
  [
    "DtypeError",
    () => assign(w, convert(w, "f64")),
    "assign: dtypes differ: w is f32, value is f64\n  convert the value to the dtype of the parameter",
  ],
];

for (const [name, run, message] of messages)
  test(message, () => {
    let thrown: Error | undefined;
    try {
      run();
    } catch (e) {
      thrown = e as Error;
    }
    assert.is(thrown?.message, message);
    assert.is(thrown?.name, name);
  });

test("errors of a select name it", () => {
  const c = x.greater(0) as Tensor;
  assert.throws(() => select(c, x, y), "select: shapes do not broadcast");
});

test.run();
