/**
 * A function means the same of an extent that is a symbol as of one that is a number: the same values and gradients by the
 * reference evaluator. What a symbol does not allow may throw; it may not be something else.
 */
import {
  arange,
  argMax,
  argSort,
  avgPool,
  concat,
  convolution,
  cumsum,
  evaluate,
  flatten,
  grad,
  input,
  isFloat,
  logSumExp,
  makeValue,
  maxPool,
  normalize,
  oneHot,
  pad,
  reverse,
  ShapeError,
  select,
  sliceAxis,
  softmax,
  split,
  stack,
  std,
  swapAxes,
  type Tensor,
  take,
  takeAlongAxis,
  topK,
  variance,
  windows,
} from "@kiln-ml/ir";
import { attention } from "@kiln-ml/nn";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

/** x: [N, 3, M]. A list of results, as some functions give several. */
const functions: Readonly<Record<string, (x: Tensor, k: number) => Tensor | readonly Tensor[]>> = {
  take: (x, k) => take(x, k, 0),
  "take of the last axis": (x, k) => take(x, k, -1),
  "take of places": (x) => take(x, arange(x.shape[0]!).sub(1), 2),
  takeAlongAxis: (x) => takeAlongAxis(x, argSort(x, -1), -1),
  slice: (x, k) => sliceAxis(x, 0, Math.min(k, 0)),
  "slice to": (x, k) => sliceAxis(x, 2, 0, k < 0 ? k : 1),
  split: (x) => split(x, [1, 2], 1),
  concat: (x) => concat([x, x.neg()], 2),
  stack: (x) => stack([x, x.neg()], 1),
  flatten: (x) => flatten(x, 1),
  "reshape with −1": (x) => [x.reshape([-1, x.shape[2]!]), x.reshape([x.shape[0]!, -1])],
  reverse: (x) => reverse(x, [0, 2]),
  swapAxes: (x) => swapAxes(x, 0, -1),
  pad: (x, k) => pad(x, k, [1, 0, 2]),
  cumsum: (x) => [cumsum(x, 0), cumsum(x, -1, { reverse: true, exclusive: true })],
  moments: (x) => [x.mean(), variance(x, 0), std(x.add(arange(x.shape[2]!)), -1)],
  "an extent as an operand": (x) => {
    const [n, , m] = x.shape;
    return [x.div(n!), x.mul(m!).add(n!), x.greater(m!), select(x.less(n!), m!, n!), x.maximum(n!)];
  },
  softmax: (x) => [softmax(x, 0), logSumExp(x, [0, 2]), normalize(x, 2)],
  argMax: (x) => [argMax(x, 0), argMax(x)],
  oneHot: (x) => oneHot(arange(x.shape[0]!), x.shape[2]!),
  topK: (x) => topK(x, 1).values,
  windows: (x) => windows(x, { size: 1, stride: 2 }),
  pools: (x) => [maxPool(x, { size: 1, stride: 2 }), avgPool(x, { size: 2, padding: 1 })],
  convolution: (x) => convolution(x, x.mean(0).reshape([1, 3, -1]).slice([0, 0, 0], [1, 3, 1])),
  attention: (x) => attention(x, x, x, { causal: true, scale: 0.5 }),
};

/** The values of all results and of the gradient of their weighted sum; undefined if the function refuses x. */
function meaning(f: (x: Tensor) => Tensor | readonly Tensor[], x: Tensor, at: readonly number[]) {
  let results: readonly Tensor[];
  try {
    results = [f(x)].flat();
  } catch (error) {
    if (error instanceof ShapeError) return undefined;
    throw error;
  }
  const sums = results.filter((t) => isFloat(t.dtype)).map((t) => t.mul(t).sum());
  const loss = sums.reduce((a, b) => a.add(b), x.sum());
  const values = Array.from({ length: at[0]! * at[1]! * at[2]! }, (_, i) => ((i * 7) % 11) - 4);
  const inputs = new Map([[x, makeValue("f32", at, values)]]);
  return evaluate([...results, ...grad(loss, [x])], { inputs }).map((v) => [v.shape, [...v.data]]);
}

for (const [name, f] of Object.entries(functions))
  test(`${name} means the same of symbols`, () => {
    let met = 0;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: -3, max: 3 }),
        (n, m, k) => {
          const of = (x: Tensor) => f(x, k);
          const known = meaning(of, input("x", "f32", [n, 3, m]), [n, 3, m]);
          if (!known) return;
          for (const symbolic of [
            ["N", 3, m],
            [n, 3, "M"],
            ["N", 3, "M"],
          ]) {
            const found = meaning(of, input("x", "f32", symbolic), [n, 3, m]);
            if (!found) continue;
            met++;
            assert.equal(found, known);
          }
        },
      ),
      { numRuns: runs(40) },
    );
    assert.ok(met > 0, "no symbol was accepted");
  });

test.run();
