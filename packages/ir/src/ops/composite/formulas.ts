/** What formulas of elementary functions are made of: the dtype they are computed in, and polynomials. */
import { isFloat } from "../../dtype.ts";
import type { Tensor } from "../../node.ts";
import { checkTensor } from "../apply.ts";
import { convert } from "../elementwise/convert.ts";
import { inFloat32 } from "./in-float32.ts";

/** A formula in f32, or f64; of integers too. */
export const inFloat = (name: string, x: Tensor, formula: (v: Tensor) => Tensor): Tensor => {
  checkTensor(name, x);
  return inFloat32([isFloat(x.dtype) ? x : convert(x, "f32")], formula);
};

/** Σ cₖ·xᵏ by Horner's rule, the last coefficient first. */
export const polynomial = (x: Tensor, coefficients: readonly number[]): Tensor => {
  const [last, ...rest] = [...coefficients].reverse() as [number, ...number[]];
  const [next, ...others] = rest as [number, ...number[]];
  return others.reduce((sum, c) => sum.mul(x).add(c), x.mul(last).add(next));
};
