/**
 * The gradient of every smooth elementwise op over its sampling domain, of the others away from
 * their kinks, and of random compositions, against differences.
 */
import {
  add,
  allOps,
  broadcastTo,
  convert,
  dotGeneral,
  evaluate,
  exp,
  grad,
  input,
  makeNode,
  makeValue,
  mul,
  type OpRecord,
  reshape,
  reverse,
  select,
  sin,
  slice,
  stopGradient,
  sum,
  type Tensor,
  tanh,
  transpose,
  type Value,
} from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Builder, random } from "../ir-structural/cases.ts";
import { runs } from "../support/setup.ts";
import { checkGradient } from "./differences.ts";

/**
 * Samples inside the domain, far enough from its ends and from integers and halves for a
 * difference.
 */
function samples([low, high]: readonly [number, number], count: number, offset: number): number[] {
  const [from, to] = [Math.max(low, -20), Math.min(high, 20)];
  return Array.from({ length: count }, (_, i) => {
    const x = from + ((i + 0.31 + offset) / (count + 0.7)) * (to - from);
    const near = Math.abs(x * 2 - Math.round(x * 2)) < 0.05;
    return near ? x + 0.04 : x;
  });
}

function nodeOf(record: OpRecord, operands: readonly Tensor[]): Tensor | undefined {
  try {
    return makeNode({ op: record.name, operands, attrs: {}, ...record.infer(operands, {}) });
  } catch {
    return undefined;
  }
}

const isDifferentiable = (r: OpRecord): boolean =>
  r.family === "elementwise" && !!r.vjp && !!r.eval && !!r.domain && r.eval.length <= 2;

for (const record of allOps().filter(isDifferentiable)) {
  const operands = [0, 1].map((i) => input(`x${i}`, "f64", [6]));
  const node = nodeOf(record, operands.slice(0, 1)) ?? nodeOf(record, operands);
  if (node?.dtype !== "f64" || record.name === "stopGradient") continue;
  test(`the gradient of ${record.name} agrees with differences`, () => {
    const inputs = new Map<Tensor, Value>();
    for (const [i, leaf] of node.operands.entries())
      inputs.set(leaf, makeValue("f64", [6], samples(record.domain!, 6, i * 0.17)));
    checkGradient(node, inputs);
  });
}

test("the gradient of select goes to the chosen side", () => {
  const b = new Builder(random(5));
  const c = b.leaf([2, 3], "bool", () => b.r.int(0, 1));
  checkGradient(select(c, b.leaf([2, 3]), b.leaf([2, 3])), b.inputs);
});

test("the gradient passes a change between float dtypes and stops at integers", () => {
  const x = input("x", "f64", [2]);
  const [g] = grad(sum(mul(convert(x, "f32"), 2)), [x]);
  assert.is(g!.dtype, "f64");
  const inputs = new Map([[x, makeValue("f64", [2], [1.5, 2.5])]]);
  assert.equal([...evaluate([g!], { inputs })[0]!.data], [2, 2]);
  const [stopped] = grad(sum(convert(convert(x, "i32"), "f64")), [x]);
  assert.equal([...evaluate([stopped!], { inputs })[0]!.data], [0, 0]);
});

test("stopGradient is a constant to grad", () => {
  const x = input("x", "f64", []);
  const [g] = grad(mul(x, stopGradient(x)), [x]);
  const inputs = new Map([[x, makeValue("f64", [], [3])]]);
  assert.equal([...evaluate([g!], { inputs })[0]!.data], [3]);
});

/** A random expression over two leaves; every step keeps a matrix of at most 4 by 4. */
function composition(b: Builder, depth: number, leaves: readonly Tensor[]): Tensor {
  if (depth === 0) return leaves[b.r.int(0, leaves.length - 1)]!;
  const x = composition(b, depth - 1, leaves);
  const other = () => composition(b, b.r.int(0, depth - 1), leaves);
  const steps = [
    () => tanh(x),
    () => sin(x),
    () => exp(mul(tanh(x), 0.5)),
    () => add(x, broadcastTo(sum(x, 0, { keepDims: true }), x.shape)),
    () => mul(tanh(x), broadcastTo(sum(tanh(other())), x.shape)),
    () => transpose(x),
    () => reverse(x, 1),
    () => reshape(transpose(x), x.shape),
    () => mul(x, x.mean()),
    () => dotGeneral(tanh(x), tanh(x), { lhsContract: [1], rhsContract: [1] }),
    () => slice(x, [0, 0], [-1, x.shape[1]!]),
    () => mul(x, sum(tanh(x), 1, { keepDims: true })),
  ];
  const y = steps[b.r.int(0, steps.length - 1)]!();
  return y.shape[0] === 0 ? x : y;
}

test("the gradients of random compositions agree with differences", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
      const b = new Builder(random(seed));
      const leaves = [b.leaf([3, 3]), b.leaf([3, 3])];
      checkGradient(tanh(composition(b, 4, leaves)), b.inputs);
    }),
    { numRuns: runs(60), includeErrorInReport: true },
  );
});

test.run();
