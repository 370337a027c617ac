/**
 * Walking concrete arrays in row-major order, for the reference values of ops. Plain and slow on purpose: it shares
 * no code with the compiler that it is the reference for.
 */
import { evaluateDim } from "../dim-evaluate.ts";
import { type Dtype, isFloat, roundTo } from "../dtype.ts";
import type { Tensor } from "../node.ts";
import type { Shape } from "../shape.ts";
import type { Dims, Value } from "./value.ts";

export const concreteShape = (shape: Shape, dims: Dims): number[] =>
  shape.map((d) => evaluateDim(d, dims));

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

/** x·y; exact modulo 2³² in the integer dtypes, where a double would lose low bits. */
export const multiply = (dtype: Dtype, x: number, y: number): number =>
  isFloat(dtype) || Math.abs(x * y) < 2 ** 53 ? x * y : Math.imul(x, y);
