/**
 * Shapes: lists of dims. Sizes, row-major strides, axes and NumPy broadcasting. Knows no ops; the
 * callers name the op in the errors.
 */

import {
  addDim,
  type Dim,
  divideTerm,
  isStatic,
  mulDim,
  printDim,
  sameDim,
  subDim,
} from "./dim.ts";
import { ShapeError } from "./errors.ts";
import { checkExtents, checkList, kindOf } from "./kind.ts";
import { requireAtLeast } from "./requirement.ts";
import { unequal } from "./unequal.ts";

export type Shape = readonly Dim[];

/**
 * A shape as text: `[2,N]`. No counterpart in PyTorch.
 *
 * @param shape The shape.
 * @example
 *   printShape([2, dim("N")]) // "[2,N]"
 */
export const printShape = (shape: Shape): string => `[${shape.map(printDim).join(",")}]`;
export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((d, i) => sameDim(d, b[i]!));
export function sizeOf(shape: Shape): Dim {
  let size: Dim = 1;
  for (const d of shape)
    size = typeof size === "number" && typeof d === "number" ? size * d : mulDim(size, d);
  return size;
}

/** Row-major strides in elements. */
export function stridesOf(shape: Shape): Dim[] {
  const strides: Dim[] = new Array(shape.length).fill(1);
  for (let i = shape.length - 2; i >= 0; i--) strides[i] = mulDim(strides[i + 1]!, shape[i + 1]!);
  return strides;
}

/** The row-major offset of `coords` in `shape`. */
export function offsetOf(shape: Shape, coords: readonly Dim[]): Dim {
  const strides = stridesOf(shape);
  return coords.reduce<Dim>((sum, c, i) => addDim(sum, mulDim(c, strides[i]!)), 0);
}

/** An axis counted from the front: −1 is the last one. */
export function checkAxis(op: string, axis: number, rank: number): number {
  if (typeof axis !== "number")
    throw new ShapeError(`${op}: axis must be a number, got ${kindOf(axis)}`);
  const a = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(axis) || a < 0 || a >= rank)
    throw new ShapeError(
      `${op}: axis ${axis} is outside a tensor of rank ${rank}\n  axes count from 0, or from the end: -1 is the last`,
    );
  return a;
}

/** Distinct axes counted from the front, ascending; all of them when none are given. */
export function checkAxes(op: string, axes: number | readonly number[] | undefined, rank: number) {
  if (axes === undefined) return Array.from({ length: rank }, (_, i) => i);
  if (typeof axes !== "number") checkList(op, "axes", axes);
  const list = (typeof axes === "number" ? [axes] : [...axes]).map((a) => checkAxis(op, a, rank));
  if (new Set(list).size !== list.length)
    throw new ShapeError(
      `${op}: an axis is named twice: [${list.join(",")}]\n  name each axis once; -1 is the last`,
    );
  return list.sort((a, b) => a - b);
}

/**
 * The shape two operands broadcast to, as NumPy does it: axes aligned from the right, 1 stretches.
 * A symbolic dim stretches only if it is literally 1. `torch.broadcast_shapes`,
 * `numpy.broadcast_shapes`.
 *
 * @param op What errors call the operation.
 * @param a A shape.
 * @param b The other shape.
 * @example
 *   broadcastShapes("add", [2, 1], [3]) // [2, 3]
 *   broadcastShapes("add", [2], [3]) // throws ShapeError
 */
export function broadcastShapes(op: string, a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  const out: Dim[] = [];
  for (let i = 0; i < rank; i++) {
    const x = a[a.length - rank + i] ?? 1;
    const y = b[b.length - rank + i] ?? 1;
    if (sameDim(x, y) || y === 1) out.push(x);
    else if (x === 1) out.push(y);
    else
      throw unequal(
        `${op}: shapes do not broadcast: ${printShape(a)} and ${printShape(b)} differ at axis ${i - rank}: ${printDim(x)} and ${printDim(y)}\n  shapes are lined up from the right, and extents must be equal or 1: reshape or expandDims one`,
        x,
        y,
      );
  }
  return out;
}

/** A shape with the given axes removed, or kept as 1. */
export function dropAxes(shape: Shape, axes: readonly number[], keep = false): Dim[] {
  return shape.flatMap((d, i) => (axes.includes(i) ? (keep ? [1] : []) : [d]));
}

const notExtents = (op: string, shape: Shape): ShapeError =>
  new ShapeError(
    `${op}: ${printShape(shape)} has an extent that is not 0 or more\n  give integers of 0 or more, or names of symbols`,
  );

/** Throws unless every extent is 0 or more, or symbolic. */
export function checkNumbers(op: string, shape: Shape): void {
  for (const d of shape)
    if (isStatic(d) && !(Number.isInteger(d) && d >= 0)) throw notExtents(op, shape);
}

/** Throws unless every extent is 0 or more; symbolic ones must be when the program runs. */
export function checkShape(op: string, shape: Shape): void {
  checkNumbers(op, shape);
  for (const d of shape) requireAtLeast(d, 0, () => notExtents(op, shape));
}

/** Resolves one −1 in a reshape from the number of elements. */
export function inferReshape(op: string, from: Shape, to: Shape): Dim[] {
  checkExtents(op, "the shape", to);
  const open = to.indexOf(-1);
  if (open < 0) return [...to];
  const rest = sizeOf(to.filter((_, i) => i !== open));
  const size = sizeOf(from);
  const q = exactQuotient(size, rest);
  if (q === undefined || to.filter((d) => d === -1).length > 1)
    throw new ShapeError(
      `${op}: cannot infer -1: ${printShape(from)} has ${printDim(size)} elements, target is ${printShape(to)}`,
    );
  return to.map((d, i) => (i === open ? q : d));
}

/** a / b where it is exact for every value of the symbols. */
export function exactQuotient(a: Dim, b: Dim): Dim | undefined {
  if (typeof a === "number" && typeof b === "number")
    return b !== 0 && a % b === 0 ? a / b : undefined;
  if (typeof a === "number") return undefined;
  let q: Dim = 0;
  for (const t of a.terms) {
    const part = divideTerm(t, b);
    if (part === undefined) return undefined;
    q = addDim(q, part);
  }
  return sameDim(subDim(mulDim(q, b), a), 0) ? q : undefined;
}
