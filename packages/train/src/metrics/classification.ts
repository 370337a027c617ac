/**
 * Measures of classes: sums of counts, exact in i32 up to 2³¹ samples an epoch.
 */
import { dimValue, sizeOf, type Tensor } from "@kiln-ml/ir";
import type { Metric } from "../meter.ts";

/** Share of samples whose largest score is at their class. scores: float[N, C], target: i32[N]. */
export const accuracy = (): Metric => ({
  name: "accuracy",
  mode: "max",
  batch(scores: Tensor, target: Tensor) {
    const right = scores.argMax(-1).equal(target.convert("i32")).convert("i32");
    return { right: right.sum(), count: dimValue(sizeOf(target.shape)) };
  },
  value: ({ right, count }) => right![0]! / count![0]!,
});
