/** Concrete arrays for the evaluator of text: walking, looking up, rounding. */
import { type Dtype, roundTo } from "@kiln-ml/ir";
import type { Type } from "../../packages/stablehlo/src/text.ts";

export interface Arr extends Type {
  readonly data: Float64Array;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Every coordinate of `shape` in row-major order; a new list each. */
export function places(shape: readonly number[]): number[][] {
  const out: number[][] = [];
  const at = new Array<number>(shape.length).fill(0);
  for (let n = sizeOf(shape); n > 0; n--) {
    out.push([...at]);
    for (let a = shape.length - 1; a >= 0; a--) {
      if (++at[a]! < shape[a]!) break;
      at[a] = 0;
    }
  }
  return out;
}

export const offset = (shape: readonly number[], at: readonly number[]): number =>
  shape.reduce((n, extent, a) => n * extent + at[a]!, 0);

export const inside = (shape: readonly number[], at: readonly number[]): boolean =>
  shape.every((n, a) => Number.isInteger(at[a]) && at[a]! >= 0 && at[a]! < n);

export const element = (x: Arr, at: readonly number[]): number => x.data[offset(x.shape, at)]!;

/** An array of this type, rounded. */
export const filledBy = (type: Type, f: (at: readonly number[]) => number): Arr => ({
  dtype: type.dtype,
  shape: type.shape,
  data: Float64Array.from(places(type.shape), (at) => roundTo(type.dtype, f(at))),
});

export const mapped = (type: Type, xs: readonly Arr[], f: (...x: number[]) => number): Arr => ({
  dtype: type.dtype,
  shape: type.shape,
  data: Float64Array.from(xs[0]!.data, (_, i) =>
    roundTo(type.dtype, f(...xs.map((x) => x.data[i]!))),
  ),
});

export const scalar = (dtype: Dtype, x: number): Arr => ({
  dtype,
  shape: [],
  data: Float64Array.of(x),
});
