/**
 * The identity whose gradient is zero. Passes remove it once gradients are taken.
 */
import type { Tensor } from "../node.ts";
import { defineOp } from "../op.ts";
import { apply, checkCount } from "./apply.ts";

defineOp({
  name: "stopGradient",
  family: "elementwise",
  infer(operands) {
    checkCount("stopGradient", operands, 1);
    return { dtype: operands[0]!.dtype, shape: operands[0]!.shape };
  },
  eval: (x) => x,
  spell: (x) => x!,
  vjp: () => [undefined],
  domain: [-10, 10],
  ulp: 0,
});

/** x, taken as a constant by `grad`. */
export const stopGradient = (x: Tensor): Tensor => apply("stopGradient", [x]);
