/**
 * The functions a user calls around the structural ops: their shapes, and their values on small
 * tensors.
 */
import {
  call,
  concat,
  dim,
  evaluate,
  type Graph,
  grad,
  inlineCalls,
  input,
  iota,
  loopVar,
  matmul,
  mulDim,
  opRecord,
  printDim,
  printShape,
  reshape,
  scatter,
  split,
  stack,
  sum,
  type Tensor,
  take,
  takeAlongAxis,
  tensor,
  topologicalOrder,
  zeros,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const values = (t: Tensor): number[] => [...evaluate([t])[0]!.data];
const shapeOf = (t: Tensor): string => printShape(t.shape);
const count = (...shape: number[]): Tensor =>
  reshape(iota([shape.reduce((a, b) => a * b, 1)], 0, "f32"), shape);

test("matmul follows NumPy for vectors, matrices and stacks", () => {
  const [v, m, s] = [count(3), count(2, 3), count(4, 3, 2)];
  assert.equal(values(matmul(v, v)), [5]);
  assert.equal(values(matmul(m, v)), [5, 14]);
  assert.is(shapeOf(matmul(v, s)), "[4,2]");
  assert.is(shapeOf(matmul(m, s)), "[4,2,2]");
  assert.is(shapeOf(matmul(s, m)), "[4,3,3]");
  assert.is(shapeOf(matmul(count(5, 1, 2, 3), s)), "[5,4,2,2]");
  assert.is(shapeOf(matmul(s, count(2))), "[4,3]");
  assert.equal(values(matmul(v, s)).slice(0, 2), [10, 13]);
});

test("slice counts negative bounds from the end", () => {
  assert.equal(values(count(5).slice([-3], [-1])), [2, 3]);
  assert.equal(values(count(6).slice([1], [6], [2])), [1, 3, 5]);
});

test("pad crops where an amount is negative", () => {
  assert.equal(values(count(3).pad(9, [1], [-1])), [9, 0, 1]);
  assert.equal(values(count(2).pad(9, 0, 0, 2)), [0, 9, 9, 1]);
});

test("cumulative ops take in what stands before, or what comes after", () => {
  const x = tensor([3, 1, 4, 2]);
  assert.equal(values(x.cumsum(0)), [3, 4, 8, 10]);
  assert.equal(values(x.cumsum(-1, { exclusive: true })), [0, 3, 4, 8]);
  assert.equal(values(x.cumsum(0, { reverse: true })), [10, 7, 6, 2]);
  assert.equal(values(x.cumsum(0, { exclusive: true, reverse: true })), [7, 6, 2, 0]);
  assert.equal(values(x.cumprod(0)), [3, 3, 12, 24]);
  assert.equal(values(x.cummax(0)), [3, 3, 4, 4]);
  assert.equal(values(x.cummin(0, { exclusive: true })), [Infinity, 3, 1, 1]);
  assert.equal(values(count(2, 3).cumsum(0)), [0, 1, 2, 3, 5, 7]);
  const few = tensor([true, false, true], { dtype: "bool" }).cumsum(0);
  assert.is(few.dtype, "i32");
  assert.equal(values(few), [1, 1, 2]);
  const least = tensor([200, 100], { dtype: "u8" }).cumsum(0);
  assert.is(least.dtype, "i32");
  assert.equal(values(least), [200, 300]);
  assert.equal(values(tensor([1, Number.NaN, 2]).cummax(0)), [1, Number.NaN, Number.NaN]);
});

test("concat, stack and split are inverse", () => {
  const x = count(2, 4);
  assert.is(concat(split(x, 2, 1), 1).op, "concat");
  assert.equal(values(concat(split(x, 2, 1), 1)), values(x));
  assert.equal(values(concat(split(x, [1, 3], -1), -1)), values(x));
  assert.is(shapeOf(stack([x, x], -1)), "[2,4,2]");
  assert.equal(values(stack([count(2), count(2)], 1)), [0, 0, 1, 1]);
});

test("take puts the axes of the indices where the axis was, and counts from the end", () => {
  const x = count(2, 3);
  assert.equal(values(take(x, tensor([2, 0], { dtype: "i32" }), 1)), [2, 0, 5, 3]);
  assert.equal(
    values(take(x, tensor([-1, 1, -2], { dtype: "i32" }), 0)),
    [3, 4, 5, 3, 4, 5, 0, 1, 2],
  );
  const clamped = take(x, tensor([-5, 9], { dtype: "i32" }), 0, { negative: "outside" });
  assert.equal(values(clamped), [0, 1, 2, 3, 4, 5]);
  assert.equal(values(take(x, -1, 1)), [2, 5]);
  assert.is(shapeOf(take(count(2, 3, 4), zeros([5, 6], "i32"), 1)), "[2,5,6,4]");
});

test("takeAlongAxis reads one element for each index", () => {
  const index = tensor([[2], [0]], { dtype: "i32" });
  assert.equal(values(takeAlongAxis(count(2, 3), index, 1)), [2, 3]);
});

test("scatter drops what is out of range; the last of several sets counts", () => {
  const index = tensor([1, 1, 7, -1], { dtype: "i32" });
  const updates = tensor([5, 6, 7, 8]);
  const places = { negative: "outside" } as const;
  assert.equal(values(scatter(zeros([3]), updates, [index], [0], "add", places)), [0, 11, 0]);
  assert.equal(values(scatter(zeros([3]), updates, [index], [0], "set", places)), [0, 6, 0]);
  const last = tensor([0, -1, -1, -3], { dtype: "i32" });
  assert.equal(values(scatter(zeros([3]), updates, [last], [0])), [13, 0, 13]);
});

test("reductions keep dims, count booleans, and take the first extreme or NaN", () => {
  const x = tensor([
    [1, 3, 3],
    [5, Number.NaN, 7],
  ]);
  assert.is(shapeOf(x.sum(-1, { keepDims: true })), "[2,1]");
  assert.equal(values(x.argMax(1)), [1, 1]);
  assert.equal(values(x.argMin(1)), [0, 1]);
  assert.equal(values(x.max(1)), [3, Number.NaN]);
  assert.equal(values(tensor([true, false, true]).sum()), [2]);
  assert.equal(values(x.argMax()), [4]);
});

test("integer products wrap instead of losing low bits", () => {
  const x = tensor([123456789, 987654321], { dtype: "i32" });
  assert.equal(values(x.prod()), [Math.imul(123456789, 987654321)]);
  assert.equal(values(matmul(x, x.reverse())), [(2 * Math.imul(123456789, 987654321)) | 0]);
});

test("reshape keeps the index of axes that survive", () => {
  const [n, vars] = [dim("N"), ["a", "b", "c"]];
  const pieces = (from: Tensor, to: Tensor) => printPieces(to, vars, from);
  const x = input("x", "f32", ["N", 4, 6]);
  assert.equal(pieces(x, x.reshape([n, 24])), ["a", "(b/6)", "(b%6)"]);
  assert.equal(pieces(x, x.reshape([n, 2, 12])), ["a", "2*b+(c/6)", "(c%6)"]);
  assert.equal(pieces(x, x.reshape([mulDim(n, 4), 6])), ["(a/4)", "(a%4)", "b"]);
  assert.equal(pieces(x, x.reshape([n, 1, 24])), ["a", "(c/6)", "(c%6)"]);
});

function printPieces(to: Tensor, names: readonly string[], from: Tensor): string[] {
  assert.is(to.operands[0], from);
  const vars = to.shape.map((d, i) => loopVar(names[i]!, d));
  return opRecord("reshape").pieces!(to, vars)[0]!.coords.map(printDim);
}

test("a call means its body, also to grad", () => {
  const p = input("p", "f32", [2]);
  const square: Graph = { params: [p], results: [p.mul(p), p.add(1)] };
  const x = input("x", "f32", [2]);
  const [a, b] = call(square, [x]) as [Tensor, Tensor];
  assert.is(b.op, "result");
  const y = sum(a.mul(b));
  const [inlined] = inlineCalls([y]) as [Tensor];
  assert.is(inlined, sum(x.mul(x).mul(x.add(1))));
  assert.is(grad(y, [x])[0], grad(inlined, [x])[0]);
  assert.not.ok(topologicalOrder(grad(y, [x])).some((t) => t.op === "call"));
  assert.is(inlineCalls([inlined])[0], inlined);
});

test.run();
