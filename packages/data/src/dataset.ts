/**
 * Data sets: samples by index, gathered into flat typed arrays ready for a compiled step. Holds no
 * tensors and reads no files.
 */

import { checkList, kindOf, printShape, ShapeError } from "@kiln-ml/ir";
import { checkValues } from "./check.ts";
import { checkIndex, checkSource, type Items, isDataset, named, type Source } from "./items.ts";
import { permutation } from "./permutation.ts";

export type NumericArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array;

/** One array for each field, such as images and labels. */
export type Fields = readonly NumericArray[];

/** Samples with the fields `T`; `gather` gives those at `indices`, one after the other. */
export interface Dataset<T extends Fields = Fields> {
  readonly length: number;
  /** The shape of one sample of each field; [] for a number. */
  readonly shapes: readonly (readonly number[])[];
  gather(indices: ArrayLike<number>): T | Promise<T>;
  /** What errors call a sample, such as `cats/3.png` or `a.csv: row 7`. */
  name?(index: number): string;
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/**
 * A data set over arrays that hold all samples, one after the other; nothing is copied.
 *
 * `shapes` says what one sample of each field is. Throws ShapeError if the fields do not hold
 * equally many. `torch.utils.data.TensorDataset`.
 *
 * @param arrays An array for each field, of all samples.
 * @example
 *   const dataset = fromArrays([Float32Array.of(1, 2, 3, 4), Int32Array.of(7, 8)], [[2], []]);
 *   dataset.length // 2
 *   itemsOf(dataset).get(1) // [[3, 4], [8]]
 */
export function fromArrays<const T extends Fields>(
  arrays: T,
  shapes: readonly (readonly number[])[],
): Dataset<T> {
  checkList("fromArrays", "arrays", arrays);
  checkList("fromArrays", "shapes", shapes);
  if (arrays.length === 0 || arrays.length !== shapes.length)
    throw new ShapeError(
      `fromArrays: needs a shape for each field: ${arrays.length} fields, ${shapes.length} shapes`,
    );
  const counts = arrays.map((array, i) => {
    checkList("fromArrays", `shape ${i}`, shapes[i]);
    checkValues("fromArrays", `field ${i}`, array);
    const size = sizeOf(shapes[i]!);
    if (!(size > 0) || array.length % size)
      throw new ShapeError(
        `fromArrays: field ${i} has ${array.length} elements, not a multiple of a sample ${printShape(shapes[i]!)}`,
      );
    return array.length / size;
  });
  if (counts.some((n) => n !== counts[0]))
    throw new ShapeError(`fromArrays: fields differ in samples: ${counts.join(", ")}`);
  const length = counts[0]!;
  return {
    length,
    shapes,
    gather(indices) {
      checkValues("gather", "indices", indices);
      const rows = arrays.map((array, i) => gatherRows(array, sizeOf(shapes[i]!), indices, length));
      return rows as unknown as T;
    },
  };
}

function gatherRows(
  array: NumericArray,
  size: number,
  indices: ArrayLike<number>,
  length: number,
): NumericArray {
  const out = new (array.constructor as new (n: number) => NumericArray)(indices.length * size);
  for (let i = 0; i < indices.length; i++) {
    const at = checkIndex(indices[i]!, length);
    out.set(array.subarray(at * size, (at + 1) * size), i * size);
  }
  return out;
}

/**
 * The samples of `dataset` at `indices`, as a data set. `torch.utils.data.Subset`.
 *
 * @param items Items.
 * @param source A data set or items.
 * @example
 *   subset(itemsOf(["a", "b", "c"]), [2, 0]).get(0) // "c"
 */
export function subset<T extends Fields>(
  dataset: Dataset<T>,
  indices: ArrayLike<number>,
): Dataset<T>;
/** The items at `indices`, as items. */
export function subset<S>(items: Items<S>, indices: ArrayLike<number>): Items<S>;
export function subset<S>(source: Source<S>, indices: ArrayLike<number>): Source<S>;
export function subset<S>(source: Source<S>, indices: ArrayLike<number>): Source<S> {
  checkSource("subset", source);
  checkValues("subset", "indices", indices);
  const at = (i: number): number => indices[checkIndex(i, indices.length)]!;
  const { length } = indices;
  return named(
    source,
    isDataset(source)
      ? { length, shapes: source.shapes, gather: (places) => source.gather(Array.from(places, at)) }
      : { length, get: (i: number) => (source as Items<S>).get(at(i)) },
    at,
  ) as Source<S>;
}

/**
 * Disjoint parts of the given fractions, drawn at random by `seed`; with fractions that sum to 1 no
 * sample is left out. Throws ShapeError for fractions that are not positive or exceed 1 together.
 * `torch.utils.data.random_split`.
 *
 * @param dataset A data set.
 * @param fractions Shares of all samples, positive, at most 1 together.
 * @example
 *   const [training, test] = split(fromArrays([new Float32Array(10)], [[]]), [0.8, 0.2]);
 *   training.length // 8
 *   test.length // 2
 */
export function split<T extends Fields>(
  dataset: Dataset<T>,
  fractions: readonly number[],
  seed = 0,
): Dataset<T>[] {
  checkSource("split", dataset);
  checkList("split", "fractions", fractions);
  checkFractions("split", fractions);
  const order = permutation(dataset.length, seed);
  let sum = 0;
  let start = 0;
  return fractions.map((fraction) => {
    sum += fraction;
    // The rounding error of a sum such as 0.7 + 0.2 + 0.1 must not cost a sample.
    const limit = Math.floor(sum * dataset.length + 1e-6);
    const part = subset(dataset, order.subarray(start, limit));
    start = limit;
    return part;
  });
}

/** Throws ShapeError unless the fractions are positive and sum to at most 1. */
export function checkFractions(op: string, fractions: readonly number[]): void {
  const total = fractions.reduce((a, b) => a + (typeof b === "number" ? b : Number.NaN), 0);
  const isShare = (f: unknown): boolean => typeof f === "number" && f > 0;
  if (!fractions.length || !Array.from(fractions).every(isShare) || total > 1 + 1e-9)
    throw new ShapeError(
      `${op}: fractions must be positive and sum to at most 1, got [${Array.from(fractions, kindOf)}]`,
    );
}
