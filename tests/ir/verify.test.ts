/**
 * What the verifier refuses, verbatim. The nodes are made behind the back of the functions that would refuse
 * them, as a wrong pass would make them.
 */
import {
  call,
  type Graph,
  input,
  makeNode,
  type NodeParts,
  param,
  type Tensor,
  tensor,
  verifyGraph,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const x = input("x", "f32", [2]);
const i = input("i", "i32", [2]);
const w = param([1, 2], { name: "w" });

const made = (parts: Partial<NodeParts>): Tensor =>
  makeNode({ op: "exp", operands: [x], attrs: {}, dtype: "f32", shape: [2], ...parts });
const region: Graph = { params: [x], results: [x.exp()] };

const refused: readonly (readonly [what: string, node: Tensor, message: string])[] = [
  [
    "a shape that the operands do not give",
    made({ shape: [3] }),
    "verify: exp has type f32[3], its operands give f32[2]",
  ],
  [
    "a dtype that the operands do not give",
    made({ dtype: "f64" }),
    "verify: exp has type f64[2], its operands give f32[2]",
  ],
  ["an op without a record", made({ op: "expp" }), 'verify: there is no op "expp"'],
  ["a missing operand", made({ operands: [] }), "exp: takes 1 operands, got 0"],
  [
    "an integer where a float is needed",
    made({ operands: [i], dtype: "i32" }),
    'exp: operands must be a float, got i32\n  convert them first: x.convert("f32")',
  ],
  [
    "operands of two dtypes",
    made({ op: "add", operands: [x, i] }),
    "add: dtypes differ: f32 and i32",
  ],
  [
    "operands of two shapes",
    made({ op: "add", operands: [x, tensor([1])] }),
    "add: shapes differ: [2] and [1]",
  ],
  [
    "a fault below the result",
    made({ shape: [3] }).neg(),
    "verify: exp has type f32[3], its operands give f32[2]",
  ],
];

for (const [what, node, message] of refused)
  test(`${what} does not verify`, () => {
    let thrown = "";
    try {
      verifyGraph({ params: [x, i], results: [node] });
    } catch (e) {
      thrown = (e as Error).message;
    }
    assert.is(thrown, message);
  });

test("an assignment of another type does not verify", () => {
  assert.throws(
    () => verifyGraph({ params: [w], results: [] }, new Map([[w, w.sum()]])),
    (e: Error) => e.message === "verify: assignment of f32[] to param f32[2]",
  );
});

test("a region sees the inputs around it, and nothing outside sees its own", () => {
  const a = input("a", "f32", [2]);
  const inner: Graph = { params: [a], results: [a.add(x)] };
  const [y] = call(inner, [x]) as [Tensor];
  verifyGraph({ params: [x], results: [y] });
  assert.throws(
    () => verifyGraph({ params: [x], results: [y.add(a)] }),
    (e: Error) => e.message === "verify: input a is read but is no parameter of the graph",
  );
});

test("a call whose region has other parameters does not verify", () => {
  const node = made({ op: "call", operands: [i], regions: [region] });
  assert.throws(() => verifyGraph({ params: [x, i], results: [node] }));
});

test.run();
