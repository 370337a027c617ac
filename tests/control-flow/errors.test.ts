/** What the builders and `verify` refuse, verbatim; and nodes with equal regions are one. */
import {
  assign,
  cond,
  constant,
  DtypeError,
  GraphError,
  input,
  param,
  parseGraph,
  ShapeError,
  scan,
  tensor,
  whileLoop,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const x = input("x", "f32", [2]);
const xs = input("xs", "f32", [3, 2]);
const p = input("p", "bool");
const w = param([1, 2], { name: "w" });

// biome-ignore format: one mistake a row
const cases: readonly [type: new (m: string) => Error, message: string, build: () => unknown][] = [
  [DtypeError, "cond: the predicate is f32[2], not bool[]\n  return one bool of rank 0: x.sum().less(10)", () => cond(x, () => [x], () => [x])],
  [ShapeError, "cond: result 0 is f32[2], the other branch has f32[3,2]\n  make both of one dtype and shape: convert, reshape or broadcastTo one", () => cond(p, () => [x], () => [xs])],
  [DtypeError, "cond: result 0 is f32[2], the other branch has i32[2]\n  make both of one dtype and shape: convert, reshape or broadcastTo one", () => cond(p, () => [x], () => [x.convert("i32")])],
  [GraphError, "cond: the number of results is 1, the other branch has 2\n  return one result for each", () => cond(p, () => [x], () => [x, x])],
  [GraphError, "cond: has no results\n  give it a carry, or return one tensor or more", () => cond(p, () => [], () => [])],
  [GraphError, "cond: a body returns a list of tensors, got 3\n  return an array, also of one: [x]", () => cond(p, () => 3 as never, () => [x])],
  [GraphError, "cond: the body assigns w, which a region may not\n  carry the value, and assign the result outside",
    () => cond(p, () => { assign(w, w.mul(2)); return [x]; }, () => [x])],
  [ShapeError, "scan: carry 0 is f32[2], the body returns f32[]\n  make both of one dtype and shape: convert, reshape or broadcastTo one", () => scan([x], [xs], ([c]) => ({ carry: [c!.sum()], ys: [] }))],
  [GraphError, "scan: the number of carries is 1, the body returns 0\n  return one result for each", () => scan([x], [xs], () => ({ carry: [], ys: [] }))],
  [GraphError, "scan: has no results\n  give it a carry, or return one tensor or more", () => scan([], [xs], () => ({ carry: [], ys: [] }))],
  [GraphError, "scan: there is no sequence and no length\n  pass a sequence, or { length }", () => scan([x], [], (c) => ({ carry: c, ys: [] }))],
  [ShapeError, "scan: sequence 1 has 2 steps, the scan 3\n  slice or pad the sequences to one length; their first axis is the steps", () => scan([x], [xs, x], (c) => ({ carry: c, ys: [] }))],
  [DtypeError, "whileLoop: the condition is f32[], not bool[]\n  return one bool of rank 0: x.sum().less(10)", () => whileLoop([x], (c) => c.sum(), (c) => [c])],
  [DtypeError, "whileLoop: carry 0 is f32[2], the body returns i32[2]\n  make both of one dtype and shape: convert, reshape or broadcastTo one", () => whileLoop([x], () => constant(true, "bool"), (c) => [c.convert("i32")])],
  [GraphError, "whileLoop: maxTrips is 1.5, not an integer from 0\n  give an integer of 0 or more, or leave it out for no bound", () => whileLoop([x], () => p, (c) => [c], { maxTrips: 1.5 })],
];

for (const [type, message, build] of cases)
  test(`refused: ${message.split("\n")[0]}`, () => {
    try {
      build();
    } catch (e) {
      assert.instance(e, type);
      assert.is((e as Error).message, message);
      return;
    }
    assert.unreachable("no error");
  });

const text = (
  body: string,
  attrs = "carries=1, xs=1, length=3, reverse=false",
): string => `graph f(%x: f32[2], %xs: f32[3,2]) {
  %1: (f32[2]) = scan %x %xs {${attrs}} (%step: i32[], %c: f32[2], %e: f32[2]) {
    ${body}
  }
  %2: f32[2] = result %1 {index=0}
  return %2
}
`;

// biome-ignore format: one text a row
const texts: readonly [string, string][] = [
  [text("return %x"), "scan: a region reads x, which is none of its parameters (line 2, column 18)"],
  [text("%3: f32[] = reduceSum %c {axes=[0]}\n    return %3"), "scan: carry 0 is f32[2], the body returns f32[] (line 2, column 18)\n  make both of one dtype and shape: convert, reshape or broadcastTo one"],
  [text("return %c", "carries=2, xs=0, length=3, reverse=false"), "scan: operand 2 is f32[3,2], the region takes f32[2] (line 2, column 18)\n  make both of one dtype and shape: convert, reshape or broadcastTo one"],
  [text("return %c", "carries=1, xs=1, length=4, reverse=false"), "scan: sequence 0 has 3 steps, the scan 4 (line 2, column 18)\n  slice or pad the sequences to one length; their first axis is the steps"],
];

for (const [source, message] of texts)
  test(`text that is refused: ${message}`, () => {
    try {
      parseGraph(source);
    } catch (e) {
      assert.is((e as Error).message, `parse: ${message}`);
      return;
    }
    assert.unreachable("no error");
  });

test("nodes whose regions compute the same are one node", () => {
  const build = (factor: number) =>
    scan([x], [xs], ([c], [e]) => ({ carry: [c!.add(e!).mul(factor)], ys: [c!] }));
  assert.is(build(2).carry[0], build(2).carry[0]);
  assert.is(build(2).ys[0], build(2).ys[0]);
  assert.is.not(build(2).carry[0], build(3).carry[0]);
  const choose = (a: boolean) =>
    cond(
      p,
      () => [x],
      () => [a ? x : x.neg()],
    )[0];
  assert.is(choose(true), choose(true));
  assert.is.not(choose(true), choose(false));
});

test("what does not change in a loop is computed outside it, what is in a branch is not", () => {
  const big = tensor([
    [1, 2],
    [3, 4],
  ]);
  const { carry } = scan([x], [xs], ([c], [e]) => ({
    carry: [c!.add(e!).mul(big.exp().sum(0))],
    ys: [],
  }));
  const loop = carry[0]!.operands[0]!;
  assert.is(loop.operands.at(-1)!.op, "reduceSum");
  const [y] = cond(
    p,
    () => [big.exp().sum(0)],
    () => [x],
  );
  assert.ok(y!.operands[0]!.operands.includes(big));
});

test.run();
