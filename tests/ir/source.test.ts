/**
 * Sources: what host data become, what parameters start as, and what reading a parameter means after an
 * assignment.
 */
import {
  assign,
  constant,
  type Dtype,
  dataLeaf,
  dim,
  dimValue,
  evaluate,
  full,
  grad,
  hostDataOf,
  initialValueOf,
  input,
  iota,
  makeValue,
  ones,
  param,
  type Tensor,
  tensor,
  trace,
  zeros,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data];

test("nested lists are row-major, and numbers are f32", () => {
  const t = tensor([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  assert.is(String(t), "Tensor f32[2,3] (data)");
  assert.equal(hostDataOf(t), Float32Array.of(1, 2, 3, 4, 5, 6));
  assert.is(String(tensor(7)), "Tensor f32[] (data)");
  assert.is(String(tensor([])), "Tensor f32[0] (data)");
  assert.is(String(tensor([true, false])), "Tensor bool[2] (data)");
});

test("a typed array keeps its dtype and is copied", () => {
  const cases: [Parameters<typeof tensor>[0], Dtype][] = [
    [new Float64Array(2), "f64"],
    [new Float32Array(2), "f32"],
    [new Int32Array(2), "i32"],
    [new Uint32Array(2), "u32"],
    [new Int8Array(2), "i8"],
    [new Uint8Array(2), "u8"],
  ];
  for (const [values, dtype] of cases) assert.is(tensor(values).dtype, dtype);
  const values = Float32Array.of(1, 2);
  const t = tensor(values);
  values[0] = 9;
  assert.equal(numbersOf(t), [1, 2]);
});

test("values are rounded into the storage form of the dtype", () => {
  assert.equal(hostDataOf(tensor([1, -2], { dtype: "f16" })), Uint16Array.of(0x3c00, 0xc000));
  assert.equal(hostDataOf(tensor([1, -2], { dtype: "bf16" })), Uint16Array.of(0x3f80, 0xc000));
  assert.equal(hostDataOf(tensor([0.1], { dtype: "bool" })), Uint8Array.of(1));
  assert.throws(
    () => dataLeaf("f16", [1], new Float32Array(1)),
    "data: f16 is stored in Uint16Array, got Float32Array",
  );
});

test("data and inputs are told apart by identity, constants by value", () => {
  const leaf = tensor([1]);
  assert.ok(tensor([1]) !== leaf);
  const first = zeros([2, 3]);
  assert.ok(first === full([2, 3], 0));
  assert.ok(first !== ones([2, 3]));
  assert.ok(constant(1, "f32") !== constant(1, "f64"));
});

test("iota counts along its axis", () => {
  assert.equal(numbersOf(iota([2, 3], 0)), [0, 0, 0, 1, 1, 1]);
  assert.equal(numbersOf(iota([2, 3], -1)), [0, 1, 2, 0, 1, 2]);
});

test("a symbolic extent can be read as a number", () => {
  const x = input("x", "f32", [dim("N"), 2]);
  const roots = [x.sum().mul(0).add(dimValue(x.shape[0]!, "f32"))];
  const inputs = new Map([[x, makeValue("f32", [3, 2], new Float64Array(6))]]);
  assert.equal([...evaluate(roots, { inputs })[0]!.data], [3]);
});

test("a parameter starts as data or as an expression", () => {
  const w = param([1, 2], { name: "w" });
  assert.equal(w.attrs, { name: "w", trainable: true });
  assert.equal(numbersOf(w), [1, 2]);
  const b = param(zeros([2]).add(3), { name: "b", trainable: false });
  assert.is(initialValueOf(b).op, "add");
  assert.equal(numbersOf(b.mul(w)), [3, 6]);
  assert.is(param(0, { dtype: "i32" }).attrs.trainable, false);
});

test("a read after an assignment sees the new value, a read before it the old", () => {
  const w = param([1], { name: "w" });
  const { value, updates } = trace(() => {
    const before = w.mul(10);
    assign(w, w.add(1));
    const after = w.mul(10);
    assign(w, w.add(1));
    return [before, after, w.mul(10)];
  });
  assert.equal(value.flatMap(numbersOf), [10, 20, 30]);
  assert.equal(numbersOf(updates.get(w)!), [3]);
  assert.equal(numbersOf(w.mul(10)), [10]);
});

test("a gradient taken after an assignment is that of the graph before it", () => {
  const w = param([3], { name: "w" });
  const { value } = trace(() => {
    const y = w.mul(w).sum();
    assign(w, w.add(100));
    return grad(y, [w]);
  });
  assert.equal(value.flatMap(numbersOf), [6]);
});

test.run();
