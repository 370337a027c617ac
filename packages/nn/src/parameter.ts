/**
 * How layers make their parameters and check what they are given. Values come from an initialiser when the
 * layer is constructed; names are extended to paths by `Module`.
 */
import {
  checkList,
  type Dim,
  DtypeError,
  GraphError,
  kindOf,
  param,
  printDim,
  printShape,
  ShapeError,
  Tensor,
} from "@kiln-ml/ir";
import { spendElements } from "./allowance.ts";
import type { Initializer } from "./init.ts";

/** A trainable parameter. */
export function weight(
  name: string,
  shape: readonly number[],
  init: Initializer,
  trainable = true,
): Tensor {
  spendElements(shape);
  return param(init(shape), { name, shape, trainable });
}

/** A parameter that only `assign` changes. */
export const buffer = (name: string, shape: readonly number[], init: Initializer): Tensor =>
  weight(name, shape, init, false);

/** Throws unless `value` is an integer of at least `least`. */
export function checkCount(op: string, what: string, value: number, least = 1): void {
  if (!Number.isInteger(value) || value < least)
    throw new ShapeError(
      `${op}: ${what} must be an integer of ${least} or more, got ${kindOf(value)}\n  give a whole number; symbols are for inputs, not for layers`,
    );
}

/** Throws unless low ≤ value ≤ high. */
export function checkWithin(
  op: string,
  what: string,
  value: number,
  low: number,
  high: number,
): void {
  if (!(value >= low && value <= high))
    throw new GraphError(
      `${op}: ${what} must be from ${low} to ${high}, got ${value}\n  give a number of that range`,
    );
}

/** Throws for a list or an array, which `forward` does not take though a compiled function does. */
function checkInput(op: string, x: unknown): void {
  if (!(x instanceof Tensor))
    throw new DtypeError(
      `${op}: input must be a tensor, got ${x instanceof Object ? x.constructor.name : String(x)}\n  wrap it in tensor(…), or call what compile made of the function`,
    );
}

/** Throws unless axis `axis` of `x` is `size`; counts from the end when negative. */
export function checkExtent(op: string, x: Tensor, axis: number, size: Dim, what: string): void {
  checkInput(op, x);
  const found = x.shape.at(axis);
  if (found === undefined || (typeof found === "number" && found !== size))
    throw new ShapeError(
      `${op}: ${what} differ: layer has ${printDim(size)}, input is ${printShape(x.shape)}\n  make the layer for what the input has there, or transpose the input`,
    );
}

/** Throws unless the rank is one of `ranks`. */
export function checkRank(op: string, x: Tensor, ...ranks: number[]): void {
  checkInput(op, x);
  if (!ranks.includes(x.rank))
    throw new ShapeError(
      `${op}: input must have rank ${ranks.join(" or ")}, got ${printShape(x.shape)}\n  put a batch axis in front with expandDims(0), or take the layer of that rank`,
    );
}

/**
 * One whole number of at least `least` for each of `axes` axes; a number counts for all of them.
 */
export function each(
  op: string,
  what: string,
  value: number | readonly number[],
  axes: number,
  least = 1,
): number[] {
  const list = typeof value === "number" ? new Array<number>(axes).fill(value) : value;
  checkLength(op, what, list, axes);
  for (const v of list) checkCount(op, what, v, least);
  return [...list];
}

/** Throws unless there is one entry an axis. */
export function checkLength(
  op: string,
  what: string,
  list: readonly unknown[],
  axes: number,
): void {
  checkList(op, what, list);
  if (list.length !== axes)
    throw new ShapeError(
      `${op}: ${what} needs ${axes === 1 ? "1 number" : `1 or ${axes} numbers`}, got [${list.join(",")}]\n  give one number for all axes, or one for each`,
    );
}
