/**
 * Building a node of a named op from its record, and reading its attributes back. Rules inside one
 * record reach other ops through here by name, so records of different families do not import each
 * other in circles.
 */
import { type Dim, DimExpr, printDim, sameDim } from "../dim.ts";
import { type Dtype, sumDtype } from "../dtype.ts";
import { DtypeError, GraphError, ShapeError } from "../errors.ts";
import { type Attrs, type AttrValue, attrKey, makeNode, type ResultType, Tensor } from "../node.ts";
import { opRecord } from "../op.ts";
import { productDtype } from "../precision.ts";
import type { Shape } from "../shape.ts";
import { currentValue } from "../trace.ts";
import { constant } from "./source.ts";

/**
 * The node `op(operands) {attrs}`, checked by the record. Parameters are read as they stand after
 * assignments. `type` is for ops whose result type is not determined by operands and attributes.
 */
export function apply(
  op: string,
  operands: readonly Tensor[],
  attrs: Attrs = {},
  type?: ResultType,
): Tensor {
  for (const x of operands) checkTensor(op, x);
  const read = operands.map(currentValue);
  const { dtype, shape } = opRecord(op).infer(read, attrs, type);
  return makeNode({ op, operands: read, attrs, dtype, shape });
}

export const inDtype = (t: Tensor, dtype: Dtype): Tensor =>
  dtype === t.dtype ? t : apply("convert", [t], {}, { dtype, shape: t.shape });

/** The dtype of an operand of a product: what sums need, and mixed precision gives. */
export const factorDtype = (dtype: Dtype): Dtype =>
  dtype === "bool" ? dtype : sumDtype(productDtype(dtype));

/** An operand of a product in that dtype. */
export const asFactor = (t: Tensor): Tensor => inDtype(t, factorDtype(t.dtype));

/** For callers that no type checker has seen. */
export function checkTensor(op: string, x: unknown): void {
  if (!(x instanceof Tensor))
    throw new DtypeError(`${op}: operands must be tensors, got ${kindOf(x)}`);
}

/** What something that is no tensor is, for messages. */
export const kindOf = (x: unknown): string =>
  x instanceof Object ? x.constructor.name : typeof x === "string" ? JSON.stringify(x) : String(x);

/** `value` in every element of `shape`. */
export function filled(value: number, dtype: Dtype, shape: Shape): Tensor {
  const scalar = constant(value, dtype);
  return shape.length ? apply("broadcastInDim", [scalar], { dims: [] }, { dtype, shape }) : scalar;
}

/** A list attribute; absent, it is empty. Throws where text gave something else. */
function listOf<T>(value: AttrValue | undefined, what: string, holds: (x: AttrValue) => boolean) {
  const list = value ?? [];
  if (!Array.isArray(list) || !list.every(holds))
    throw new GraphError(`attributes: a list of ${what} is needed, got ${attrKey(list)}`);
  return list as readonly T[];
}

export const numbersOf = (value: AttrValue | undefined): readonly number[] =>
  listOf<number>(value, "numbers", (x) => typeof x === "number");
export const dimsOf = (value: AttrValue | undefined): readonly Dim[] =>
  listOf<Dim>(value, "dims", (x) => typeof x === "number" || x instanceof DimExpr);

/** Throws unless there are `count` operands. */
export function checkCount(op: string, operands: readonly Tensor[], count: number): void {
  if (operands.length !== count)
    throw new GraphError(`${op}: takes ${count} operands, got ${operands.length}`);
}

/** Throws unless all operands have the dtype of the first. */
export function checkSameDtype(op: string, operands: readonly Tensor[]): void {
  for (const t of operands)
    if (t.dtype !== operands[0]!.dtype)
      throw new DtypeError(`${op}: dtypes differ: ${operands[0]!.dtype} and ${t.dtype}`);
}

/** One value for each of `count` axes: a number counts for all of them. */
export function perAxis<T extends Dim>(
  op: string,
  what: string,
  value: T | readonly T[] | undefined,
  count: number,
  otherwise: T,
): T[] {
  if (value === undefined) return new Array<T>(count).fill(otherwise);
  if (!Array.isArray(value)) return new Array<T>(count).fill(value as T);
  if (value.length !== count)
    throw new ShapeError(
      `${op}: ${what} has ${value.length} entries for ${count} axes: [${value.map(printDim).join(",")}]`,
    );
  return [...value] as T[];
}

/** The axes of `rank` not in `axes`, ascending. */
export const otherAxes = (rank: number, axes: readonly number[]): number[] =>
  Array.from({ length: rank }, (_, i) => i).filter((i) => !axes.includes(i));

export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** True where the axis is stretched by a broadcast from 1. */
export const isStretched = (from: Dim, to: Dim): boolean => from === 1 && !sameDim(to, 1);
