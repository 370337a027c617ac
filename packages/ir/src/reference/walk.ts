/**
 * Walking concrete arrays in row-major order, for the reference values of ops. Plain and slow on purpose: it shares
 * no code with the compiler that it is the reference for.
 */

import { printDim } from "../dim.ts";
import { evaluateDim } from "../dim-evaluate.ts";
import { type Dtype, isFloat, roundTo } from "../dtype.ts";
import { ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { printShape, type Shape } from "../shape.ts";
import type { Dims, Value } from "./value.ts";

/** Throws ShapeError where an extent is negative for these values of the symbols. */
export const concreteShape = (shape: Shape, dims: Dims): number[] =>
  shape.map((d) => {
    const extent = evaluateDim(d, dims);
    if (extent < 0)
      throw new ShapeError(
        `evaluate: extent ${printDim(d)} of ${printShape(shape)} is ${extent} here, must be at least 0`,
      );
    return extent;
  });

/** Every coordinate tuple of `shape` in row-major order. */
export function* coordinates(shape: readonly number[]): Generator<readonly number[]> {
  const total = shape.reduce((a, b) => a * b, 1);
  const at = new Array<number>(shape.length).fill(0);
  for (let i = 0; i < total; i++) {
    yield at;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at[axis]!++;
      if (at[axis]! < shape[axis]!) break;
      at[axis] = 0;
    }
  }
}

export function rowMajor(shape: readonly number[], at: readonly number[]): number {
  let offset = 0;
  for (const [axis, extent] of shape.entries()) offset = offset * extent + at[axis]!;
  return offset;
}

export const inside = (shape: readonly number[], at: readonly number[]): boolean =>
  at.every((c, axis) => Number.isInteger(c) && c >= 0 && c < shape[axis]!);

export const elementAt = (value: Value, at: readonly number[]): number =>
  value.data[rowMajor(value.shape, at)]!;

/** The value of type `node` whose element at each coordinate is `element(coordinate)`, rounded. */
export function tabulate(
  node: Tensor,
  dims: Dims,
  element: (at: readonly number[]) => number,
): Value {
  const shape = concreteShape(node.shape, dims);
  const data = new Float64Array(shape.reduce((a, b) => a * b, 1));
  let i = 0;
  for (const at of coordinates(shape)) data[i++] = roundTo(node.dtype, element(at));
  return { dtype: node.dtype, shape, data };
}

/** x·y; modulo 2³² in the integer dtypes, where a double would lose low bits. */
export const multiply = (dtype: Dtype, x: number, y: number): number =>
  isFloat(dtype) ? x * y : roundTo(dtype, Math.imul(x, y));

/** x + y; wrapped in the integer dtypes, so that no sum, however long, needs more bits than a double has. */
export const plus = (dtype: Dtype, x: number, y: number): number =>
  isFloat(dtype) ? x + y : roundTo(dtype, x + y);
