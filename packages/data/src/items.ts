/**
 * Samples one by one: what a data set of flat arrays cannot hold, such as texts, graphs and
 * sequences of any length. Either kind of source has names for its samples, so that an error can
 * say which file and row it is about.
 */
import { ArtifactError, GraphError, KilnError, kindOf, ShapeError } from "@kiln-ml/ir";
import { setBatchShape } from "./batch-shape.ts";
import type { Dataset, Fields, NumericArray } from "./dataset.ts";

/** Samples by index, of any kind; `get` may read a file. */
export interface Items<S> {
  readonly length: number;
  get(index: number): S | Promise<S>;
  /** What errors call a sample, such as `cats/3.png` or `a.csv: row 7`. */
  name?(index: number): string;
}

/** A data set of flat arrays, or samples one by one. */
export type Source<S> = Items<S> | Dataset<S & Fields>;

export const isDataset = (source: unknown): source is Dataset =>
  typeof (source as Dataset | undefined)?.gather === "function";

const isItems = (source: unknown): source is Items<unknown> =>
  typeof (source as Items<unknown> | undefined)?.get === "function";

/** Throws GraphError unless `source` holds samples. */
export function checkSource(op: string, source: unknown): void {
  if (!isDataset(source) && !isItems(source))
    throw new GraphError(
      `${op}: needs a data set or items, got ${kindOf(source)}\n  fromArrays and itemsOf make them`,
    );
}

/**
 * A list as items, or a data set as items whose samples are tuples, one array a field.
 * `torch.utils.data.Dataset`.
 *
 * @param source A data set, items or a list.
 * @example
 *   itemsOf(["a text", "another"]).get(1) // "another"
 *   const dataset = fromArrays([Float32Array.of(1, 2), Int32Array.of(7, 8)], [[], []]);
 *   itemsOf(dataset).get(0) // [[1], [7]]
 */
export function itemsOf<S>(source: readonly S[] | Source<S>): Items<S> {
  if (Array.isArray(source)) {
    const list = source as readonly S[];
    return { length: list.length, get: (i) => list[checkIndex(i, list.length)]! };
  }
  checkSource("itemsOf", source);
  if (!isDataset(source)) return source as Items<S>;
  const dataset = source as Dataset<S & Fields>;
  const one = (sample: S & Fields): S => {
    for (const [f, shape] of dataset.shapes.entries()) setBatchShape(sample[f]!, [1, ...shape]);
    return sample;
  };
  const get = (i: number): S | Promise<S> => {
    const sample = dataset.gather([i]);
    return sample instanceof Promise ? sample.then(one) : one(sample);
  };
  return named(dataset, { length: dataset.length, get });
}

/** Throws ShapeError for an index that no sample has. */
export function checkIndex(index: number, length: number): number {
  if (!(Number.isInteger(index) && index >= 0 && index < length))
    throw new ShapeError(`gather: sample ${kindOf(index)} is outside a data set of ${length}`);
  return index;
}

/** `result` with the names of `source`; `at` says which of its samples one is. */
export function named<R extends object>(
  source: { name?(index: number): string },
  result: R,
  at: (index: number) => number = (i) => i,
): R & { name?(index: number): string } {
  return source.name ? { ...result, name: (i: number) => source.name!(at(i)) } : result;
}

/** `sample 3 (cats/3.png)`, or without the name where a source has none. */
export const sampleName = (source: { name?(index: number): string }, index: number): string =>
  source.name ? `sample ${index} (${source.name(index)})` : `sample ${index}`;

/**
 * What went wrong with a sample, its name in front. The class stays that of the cause,
 * ArtifactError for files; what is no error of Kiln is a GraphError.
 */
export function sampleError(
  op: string,
  source: { name?(index: number): string },
  index: number,
  cause: unknown,
): KilnError {
  if (cause instanceof KilnError && told.has(cause)) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  const Kind = cause instanceof ArtifactError ? ArtifactError : GraphError;
  const error = new Kind(`${op}: ${sampleName(source, index)}: ${text}`, { cause });
  told.add(error);
  return error;
}

/** Errors that name their sample already. */
const told = new WeakSet<object>();

/** Marks an error that names file and row itself. */
export function naming<E extends KilnError>(error: E): E {
  told.add(error);
  return error;
}

/**
 * The samples at `indices`, one after the other. Rejects with the error of the first that fails,
 * named.
 */
export async function samplesAt<S>(
  op: string,
  source: Items<S>,
  indices: ArrayLike<number>,
): Promise<S[]> {
  const waiting: (S | Promise<S>)[] = [];
  for (let i = 0; i < indices.length; i++) {
    try {
      waiting.push(source.get(indices[i]!));
    } catch (error) {
      for (const w of waiting) if (w instanceof Promise) w.catch(() => {});
      throw sampleError(op, source, indices[i]!, error);
    }
  }
  // Settled together, so that of several bad samples the first is told and no rejection is left
  // alone.
  const settled = await Promise.allSettled(waiting);
  return settled.map((result, i) => {
    if (result.status === "fulfilled") return result.value;
    throw sampleError(op, source, indices[i]!, result.reason);
  });
}

/** A typed array of the kind of `like`. */
export const arrayLike = <A extends NumericArray>(like: A, length: number): A =>
  new (like.constructor as new (n: number) => A)(length);
