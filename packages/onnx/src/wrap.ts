/**
 * Integers of 16 bits and fewer are held in wider dtypes; arithmetic on them wraps where ONNX's does.
 */
import { constant, type Tensor } from "@kiln-ml/ir";
import { narrowRange } from "./element.ts";
import type { ElementType } from "./proto/model.ts";

/** x brought into the range of `type`, modulo its number of values. Types that fill their dtype wrap by themselves. */
export function wrapped(x: Tensor, type: ElementType): Tensor {
  const range = narrowRange[type];
  if (!range) return x;
  const [low, high] = range;
  const count = high - low + 1;
  if (low === 0) return x.and(count - 1);
  const shift = constant(32 - Math.log2(count), "i32");
  const wide = x.convert("i32");
  return wide.shiftLeft(shift).shiftRight(shift).convert(x.dtype);
}
