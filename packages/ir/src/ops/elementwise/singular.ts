/**
 * The rule of gradients at singular points: a zero cotangent gives zero, whatever the slope is there. What is masked is what the
 * cotangent is divided by, not the quotient, so that gradients of the gradient are finite as well.
 */
import type { Tensor } from "../../node.ts";
import { select } from "./compare.ts";

/** x, and 1 where no gradient arrives: 0/1 is 0 where 0/0 and 0·∞ would be NaN. */
export const unlessZero = (g: Tensor, x: Tensor): Tensor => select(g.equal(0), 1, x);
