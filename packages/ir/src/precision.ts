/**
 * Mixed precision while a graph is built: in a scope of `autocast` the functions that build products take their operands in half
 * precision, and those that sum or exponentiate take theirs in full. Changes no graph that exists, and no gradient: that
 * follows the dtypes of what it is the gradient of.
 */
import { type Dtype, isFloat, isHalf, sumDtype } from "./dtype.ts";
import { DtypeError, GraphError } from "./errors.ts";
import { kindOf } from "./kind.ts";

const scopeDtypes = ["f16", "bf16", "f32"] as const;

/** What products are computed in; "f32" leaves dtypes alone. */
export type ProductDtype = (typeof scopeDtypes)[number];

let current: ProductDtype = "f32";

/**
 * Builds `define()` in mixed precision and returns what it returns.
 *
 * `matmul`, `dotGeneral` and `convolution` round float operands (but f64) to `dtype`, "f16" or "bf16", and give it: y = Σ h(a)·h(b),
 * summed in f32, rounded once. Sums, means, variances, norms, softmax, cumulative sums, exponentials,
 * logarithms, powers and reciprocals take halves as f32 and give f32. All else keeps the dtypes of its operands, f16 with f32
 * being f32; activations are computed in f32 and rounded once, in the scope and out of it. Parameters stay what they are: their
 * gradients arrive in their own dtype. "f32" switches an outer scope off.
 *
 * `define` must build its graph before it returns: throws GraphError if it gives a promise, DtypeError for other dtypes.
 * Micikevicius et al. 2018, section 3.
 */
export function autocast<T>(dtype: ProductDtype, define: () => T): T {
  if (!scopeDtypes.includes(dtype))
    throw new DtypeError(
      `autocast: dtype must be ${scopeDtypes.join(", ")}, got ${typeof dtype === "string" ? dtype : kindOf(dtype)}`,
    );
  const outer = current;
  current = dtype;
  try {
    const value = define();
    if (value instanceof Promise)
      throw new GraphError("autocast: the function gives a promise, it must give what it built");
    return value;
  } finally {
    current = outer;
  }
}

/** The dtype in which a product takes an operand here. */
export const productDtype = (dtype: Dtype): Dtype =>
  current !== "f32" && isFloat(dtype) && dtype !== "f64" ? current : dtype;

/** The dtype in which a sum, an exponential or a loss takes an operand here. */
export const fullDtype = (dtype: Dtype): Dtype =>
  current !== "f32" && isHalf(dtype) ? "f32" : dtype;

/** The dtype in which a reduction adds up or multiplies an operand of this one. */
export const totalDtype = (dtype: Dtype): Dtype => fullDtype(sumDtype(dtype));
