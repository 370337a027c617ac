/**
 * Arguments of compiled functions: tensors, numbers, nested lists, typed arrays, or typed arrays with a shape. Finds
 * the leaves of an argument tree and brings each to a dtype, a shape and something to feed. Copies only what must be
 * converted.
 */
import { batchShapeOf } from "@kiln-ml/data";
import {
  type Dtype,
  DtypeError,
  dtypeOfArray,
  flattenNested,
  GraphError,
  type HostArray,
  isFloat,
  listToHost,
  type Nested,
  printShape,
  ShapeError,
  storedForm,
  Tensor,
} from "@kiln-ml/ir";
import type { Static } from "./static.ts";
import { isRecord } from "./tree.ts";

/** A typed array with the shape it stands for. */
export interface ShapedArray {
  readonly data: HostArray;
  readonly shape: readonly number[];
}

/** What may stand for a tensor in the arguments of a compiled function. */
export type TensorLike =
  | Tensor
  | number
  | readonly Nested[]
  | HostArray
  | Uint8ClampedArray
  | ShapedArray;

/**
 * The arguments of a compiled function: what `fn` declares, with any TensorLike in place of a tensor. A number that `fn` takes as
 * a number is given as `asStatic(n)`: by itself it is a tensor.
 */
export type Feed<T> = T extends Tensor
  ? TensorLike
  : T extends number
    ? Static<T>
    : T extends boolean | string
      ? T | Static<T>
      : T extends object
        ? { readonly [K in keyof T]: Feed<T[K]> } | Static<T>
        : T;

/** One leaf of the arguments. `shape` is absent where a typed array came alone. */
export interface Fed {
  readonly path: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly from: Tensor | HostArray;
}

const isNested = (x: unknown): x is Nested =>
  typeof x === "number" ||
  typeof x === "boolean" ||
  (Array.isArray(x) && x.every((v) => isNested(v) || ArrayBuffer.isView(v)));

const isShaped = (x: unknown): x is ShapedArray =>
  isRecord(x) && ArrayBuffer.isView(x.data) && Array.isArray(x.shape);

/** True for what stands for one tensor where no type is declared. A boolean by itself is static. */
export const isFeed = (x: unknown): boolean =>
  x instanceof Tensor ||
  ArrayBuffer.isView(x) ||
  (isNested(x) && typeof x !== "boolean") ||
  isShaped(x);

/**
 * A leaf of the arguments. `dtype` and `rank`-complete `extents` come from the declared inputs, if any.
 *
 * Throws GraphError for what is no tensor, ShapeError or DtypeError where it does not fit.
 */
export function feedOf(
  value: unknown,
  path: string,
  want?: { readonly dtype?: Dtype; readonly shape: readonly (number | undefined)[] },
): Fed {
  if (value instanceof Tensor) return fromTensor(value, path, want?.dtype);
  if (isShaped(value)) {
    const fed = fromArray(value.data, path, value.shape, want?.dtype);
    checkSize(fed, value.data.length);
    return fed;
  }
  if (ArrayBuffer.isView(value)) {
    const array = value as HostArray;
    const known = batchShapeOf(array);
    // A batch of a loader has its shape; one of another rank is taken for numbers in a row, as a flat picture is.
    const isKnown = known && (!want || known.length === want.shape.length);
    const shape = isKnown
      ? known
      : want
        ? fillShape(path, want.shape, array.length)
        : [array.length];
    return fromArray(array, path, shape, want?.dtype);
  }
  if (isNested(value)) return fromNested(value, path, want?.dtype);
  throw new GraphError(
    `compile: argument ${path} is ${nameOf(value)}, not a tensor, number, list or typed array\n  pass it as a tensor, or let the function close over it`,
  );
}

function fromTensor(t: Tensor, path: string, dtype: Dtype | undefined): Fed {
  if (dtype && t.dtype !== dtype)
    throw new DtypeError(
      `run: input ${path} must be ${dtype}, got ${t.dtype}\n  convert it, or declare that dtype in inputs`,
    );
  for (const d of t.shape)
    if (typeof d !== "number")
      throw new ShapeError(
        `run: input ${path} has the symbolic shape ${printShape(t.shape)}\n  pass values: what has no numbers yet is for the function that is compiled`,
      );
  return { path, dtype: t.dtype, shape: t.shape as readonly number[], from: t };
}

function fromNested(value: Nested, path: string, dtype: Dtype | undefined): Fed {
  const { shape, flat, dtype: own } = flattenNested(value);
  const to = dtype ?? own ?? (typeof flat[0] === "boolean" ? "bool" : "f32");
  return { path, dtype: to, shape, from: listToHost(`run: input ${path}`, to, flat) };
}

function fromArray(
  array: HostArray,
  path: string,
  shape: readonly number[],
  dtype: Dtype | undefined,
): Fed {
  // A copy, as the run may wait for its turn and the caller use its array again.
  if (dtype && storedAs(array, dtype)) return { path, dtype, shape, from: array.slice() };
  const own = dtypeOfArray(array);
  if (!own)
    throw new DtypeError(`run: input ${path} is a ${array.constructor.name}, which holds no dtype`);
  const to = dtype ?? own;
  if (to === own)
    return { path, dtype: to, shape, from: own === "f16" ? storedForm(to, array) : copyOf(array) };
  if (isFloat(own) && !isFloat(to))
    throw new DtypeError(
      `run: input ${path} must be ${to}, got ${own} in a ${array.constructor.name}\n  copy it into the typed array of that dtype, or declare the other in inputs`,
    );
  return { path, dtype: to, shape, from: storedForm(to, array) };
}

/** Clamped bytes, as a canvas has them, are bytes. */
const copyOf = (array: HostArray | Uint8ClampedArray): HostArray =>
  array instanceof Uint8ClampedArray ? Uint8Array.from(array) : array.slice();

/** f16 and bf16 are passed as bits, bool as bytes. */
const storedAs = (array: HostArray, dtype: Dtype): boolean =>
  (array instanceof Uint16Array && (dtype === "f16" || dtype === "bf16")) ||
  (array instanceof Uint8Array && dtype === "bool");

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

function checkSize({ path, shape }: Fed, length: number): void {
  if (sizeOf(shape) !== length)
    throw new ShapeError(
      `run: input ${path} ${printShape(shape)} has ${sizeOf(shape)} elements, the array ${length}\n  give data and shape as many elements`,
    );
}

/** A declared shape with its one unknown extent found from the number of elements. */
function fillShape(path: string, shape: readonly (number | undefined)[], length: number): number[] {
  const known = shape.reduce<number>((a, d) => a * (d ?? 1), 1);
  const open = shape.filter((d) => d === undefined).length;
  const text = `[${shape.map((d) => d ?? "?")}]`;
  if (open > 1)
    throw new ShapeError(
      `run: input ${path} ${text} has ${open} unknown extents, the array has no shape\n  pass { data, shape }`,
    );
  const rest = known === 0 ? 0 : length / known;
  if (open === 1 ? !Number.isInteger(rest) : known !== length)
    throw new ShapeError(
      `run: input ${path} ${text} does not fit an array of ${length} elements\n  pass { data, shape }`,
    );
  return shape.map((d) => d ?? rest);
}

function nameOf(x: unknown): string {
  if (x === null || x === undefined) return String(x);
  return typeof x === "object" ? `a ${x.constructor?.name ?? "object"}` : `a ${typeof x}`;
}
