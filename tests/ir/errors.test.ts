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
    "add: shapes do not broadcast: [2,3] and [2,4] differ at axis -1: 3 and 4",
  ],
  ["DtypeError", () => x.and(1), "and: operands must be an integer or bool, got f32"],
  ["DtypeError", () => x.bitwiseNot(), "bitwiseNot: operands must be an integer, got f32"],
  ["DtypeError", () => x.not(), "not: operands must be bool, got f32"],
  ["DtypeError", () => x.bitcast("f64"), "bitcast: f32 and f64 have no bits in common"],
  [
    "ShapeError",
    () => x.broadcastTo([4, 3]),
    "broadcastTo: shapes do not broadcast: [2,3] and [4,3] differ at axis -2: 2 and 4",
  ],
  ["ShapeError", () => x.broadcastTo([3]), "broadcastTo: [2,3] does not broadcast to [3]"],
  [
    "ShapeError",
    () => tensor([[1, 2], [3]]),
    "tensor: nested lists are ragged: [1] has length 1, expected length 2",
  ],
  [
    "ShapeError",
    () => tensor([[1], 2]),
    "tensor: nested lists are ragged: [1] has a scalar, expected length 1",
  ],
  [
    "ShapeError",
    () => tensor([1, 2, 3], { shape: [2, 2] }),
    "tensor: [2,2] has 4 elements, the values are 3",
  ],
  ["ShapeError", () => input("x", "f32", [-1]), "input: [-1] has an extent that is not 0 or more"],
  ["ShapeError", () => iota([2, 3], 2), "iota: axis 2 is outside a tensor of rank 2"],
  ["DtypeError", () => iota([2], 0, "bool"), "iota: bool does not count"],
  [
    "DtypeError",
    () => param([1], { dtype: "i32", name: "n", trainable: true }),
    "param: n is i32 and cannot be trainable",
  ],
  [
    "ShapeError",
    () => param(input("v", "f32", ["N"]), { name: "n" }),
    "param: n has the symbolic extent N",
  ],
  ["GraphError", () => hostDataOf(x), "data: input node holds no host data"],
  ["ShapeError", () => random.bits(x, [2]), "randomBits: key must be u32[2], got f32[2,3]"],
  [
    "DtypeError",
    () => random.uniform(random.key(0), [2], { dtype: "i32" }),
    "uniform: dtype must be a float, got i32",
  ],
  ["ShapeError", () => x.dot(y), "dot: operands must have rank 1, got [2,3] and [2,4]"],
  ["GraphError", () => evaluate([x]), "evaluate: input x has no value"],
  [
    "ShapeError",
    () => evaluate([x], { inputs: new Map([[x, makeValue("f32", [1], [0])]]) }),
    "evaluate: x is [2,3], here [2,3], got [1]",
  ],
  ["GraphError", () => assign(x, x), "assign: target is input, not a parameter"],
  ["ShapeError", () => assign(w, x), "assign: shapes differ: w is [2], value is [2,3]"],
  [
    "DtypeError",
    () => assign(w, convert(w, "f64")),
    "assign: dtypes differ: w is f32, value is f64",
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
