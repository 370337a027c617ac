/**
 * Formulas of several steps on halves: f16 and bf16 operands are made f32 once, every step is f32, and the result is rounded once. A
 * sum that a half could not hold, or the small difference of two halves, is then as right as the operands are. The compiler
 * fuses the conversions.
 */
import { type Dtype, isFloat, isHalf, promote } from "../../dtype.ts";
import { Tensor } from "../../node.ts";
import { fullDtype } from "../../precision.ts";
import { convert } from "../elementwise/convert.ts";

/** The float dtype that the tensors among some arguments meet in. */
function floatOf(args: readonly unknown[]): Dtype | undefined {
  const floats = args.flatMap((x) => (x instanceof Tensor && isFloat(x.dtype) ? [x.dtype] : []));
  return floats.length ? floats.reduce(promote) : undefined;
}

/** A half as f32; anything else as it is. */
export const widened = <T>(x: T): T =>
  x instanceof Tensor && isHalf(x.dtype) ? (convert(x, "f32") as T & Tensor) : x;

type Arguments = readonly unknown[] | [];

function computed<A extends Arguments>(
  args: A,
  formula: (...wide: A) => Tensor,
  resultOf: (dtype: Dtype) => Dtype,
): Tensor {
  const dtype = floatOf(args);
  const y = formula(...(args.map(widened) as unknown as A));
  return dtype && isHalf(dtype) ? convert(y, resultOf(dtype)) : y;
}

/**
 * `formula` in f32 where its arguments are halves: y = round(formula(f32(x), …)), to the dtype that the float tensors among the
 * arguments meet in. Under `autocast` the result stays f32. Halves that the formula has from elsewhere become f32 where they
 * meet one.
 *
 *   const rootMean = (x: Tensor) => inFloat32([x], (v) => v.mul(v).mean().sqrt());
 */
export const inFloat32 = <A extends Arguments>(args: A, formula: (...wide: A) => Tensor): Tensor =>
  computed(args, formula, fullDtype);

/** The same for what takes and gives values in one range, as activations do: a half is given under `autocast` too. */
export const roundedOnce = <A extends Arguments>(
  args: A,
  formula: (...wide: A) => Tensor,
): Tensor => computed(args, formula, (dtype) => dtype);
