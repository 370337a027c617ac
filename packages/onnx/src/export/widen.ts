/**
 * Dtypes that runtimes seldom have arithmetic for go through one that they have. Sums and products wrap the same way when
 * they are cast back; for order and quotients the wider dtype holds every value exactly.
 */
import type { Dtype } from "@kiln-ml/ir";
import { elementTypeOf } from "../element.ts";
import type { ElementType } from "../proto/model.ts";
import type { Builder } from "./builder.ts";

export type Wider = Readonly<Partial<Record<Dtype, ElementType>>>;

/** For what wraps. */
export const wrapping: Wider = { i8: "int32", u8: "int32", u32: "int64" };

/** For what compares or divides. Not int64 for u32: a reader that holds int64 in 32 bits keeps f64 whole. */
export const exact: Wider = { bool: "int32", i8: "int32", u8: "int32", u32: "float64" };

/** The operands in the wider dtype of `dtype`. */
export function widen(
  b: Builder,
  wider: Wider,
  dtype: Dtype,
  operands: readonly string[],
): readonly string[] {
  const to = wider[dtype];
  return to ? operands.map((x) => b.cast(x, to)) : operands;
}

/** f of operands of `dtype` in the wider one, and back. */
export function widened(
  b: Builder,
  wider: Wider,
  dtype: Dtype,
  operands: readonly string[],
  f: (operands: readonly string[]) => string,
): string {
  const result = f(widen(b, wider, dtype, operands));
  return wider[dtype] ? b.cast(result, elementTypeOf(dtype)) : result;
}
