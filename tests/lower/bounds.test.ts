/**
 * What is known of values before a run: only differences from a maximum over the element itself are known not to be positive.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { isBelowMaximum } from "../../compiler/src/lower/bounds.ts";

const [x, y] = ["x", "y"].map((name) => input(name, "f32", [3, 3])) as [Tensor, Tensor];
/** The maximum of each row as a broadcast over that axis of the result. */
const spread = (m: Tensor, axis: number): Tensor => m.reshape([3]).broadcastInDim([3, 3], [axis]);

test("a difference from the maximum of the row or of all is known", () => {
  assert.ok(isBelowMaximum(x.sub(spread(x.max(1), 0))));
  assert.ok(isBelowMaximum(x.sub(spread(x.max(0), 1))));
  assert.ok(isBelowMaximum(x.sub(x.max().broadcastInDim([3, 3], []))));
});

test("a difference from another maximum is not", () => {
  assert.not(isBelowMaximum(x.sub(spread(y.max(1), 0))));
  assert.not(isBelowMaximum(x.sub(spread(x.min(1), 0))));
  assert.not(isBelowMaximum(x.sub(spread(x.max(1), 1))));
  assert.not(isBelowMaximum(spread(x.max(1), 0).sub(x)));
  assert.not(isBelowMaximum(x.add(y)));
});

test.run();
