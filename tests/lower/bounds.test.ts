/**
 * What is known of values before a run: differences from a maximum over the element itself, and squares and magnitudes with their sign
 * turned, are known not to be positive.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { isNonPositive } from "../../compiler/src/lower/bounds.ts";

const [x, y] = ["x", "y"].map((name) => input(name, "f32", [3, 3])) as [Tensor, Tensor];
/** The maximum of each row as a broadcast over that axis of the result. */
const spread = (m: Tensor, axis: number): Tensor => m.reshape([3]).broadcastInDim([3, 3], [axis]);

test("a difference from the maximum of the row or of all is known", () => {
  assert.ok(isNonPositive(x.sub(spread(x.max(1), 0))));
  assert.ok(isNonPositive(x.sub(spread(x.max(0), 1))));
  assert.ok(isNonPositive(x.sub(x.max().broadcastInDim([3, 3], []))));
});

test("a difference from another maximum is not", () => {
  assert.not(isNonPositive(x.sub(spread(y.max(1), 0))));
  assert.not(isNonPositive(x.sub(spread(x.min(1), 0))));
  assert.not(isNonPositive(x.sub(spread(x.max(1), 1))));
  assert.not(isNonPositive(spread(x.max(1), 0).sub(x)));
  assert.not(isNonPositive(x.add(y)));
});

test("squares and magnitudes with their sign turned are known", () => {
  assert.ok(isNonPositive(x.mul(x).neg()));
  assert.ok(isNonPositive(x.abs().neg()));
  assert.ok(isNonPositive(x.mul(x).mul(-0.5)));
});

test("other products and values with their sign turned are not", () => {
  assert.not(isNonPositive(x.mul(x)));
  assert.not(isNonPositive(x.neg()));
  assert.not(isNonPositive(x.mul(y).neg()));
  assert.not(isNonPositive(x.mul(x).mul(0.5)));
  assert.not(isNonPositive(x.mul(-1)));
});

test.run();
