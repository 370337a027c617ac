/**
 * What a loop asks of its data: batches, one after the other, each a list of arrays of which the last is the target. `DataLoader`
 * is one such source; any async iterable of arrays is another, and may be resumed if it has `state` and `load`.
 */
import { batchShapeOf, type Dataset, type Fields } from "@kiln-ml/data";
import { GraphError, kindOf } from "@kiln-ml/ir";
import type { ArgumentType } from "./front.ts";

/** The arrays of a batch: inputs of the model in order, then the target. */
export type Batch = readonly unknown[];

/** One iteration is one epoch. */
export interface Batches extends AsyncIterable<Batch> {
  /** Batches an epoch, where that is known. */
  readonly length?: number;
  readonly dataset?: { readonly length: number };
  readonly options?: { readonly batch?: number; readonly dropLast?: boolean };
  /** Where it stands, as JSON; `load` makes the next iteration go on from there. */
  state?(): unknown;
  load?(state: never): void;
}

/** Throws GraphError unless `loader` gives batches, and for one that is known to have none. */
export function checkBatches(op: string, loader: unknown): asserts loader is Batches {
  if (!(loader instanceof Object) || !(Symbol.asyncIterator in loader))
    throw new GraphError(
      `${op}: takes a loader of batches, got ${kindOf(loader)}\n  give it a data.DataLoader, or an async iterable of lists of arrays`,
    );
  const { length, dataset } = loader as Batches;
  if (length === 0 || dataset?.length === 0) throw empty(op);
}

export const empty = (op: string): GraphError =>
  new GraphError(
    `${op}: the loader has no batches\n  check what the data set was read from, and its split`,
  );

/** Samples of a batch. */
export function rowsOf(batch: Batch): number {
  const last = batch.at(-1);
  return rowsOfArray(last);
}

function rowsOfArray(x: unknown): number {
  if (!(x instanceof Object)) return 1;
  const shape = batchShapeOf(x) ?? ("shape" in x && Array.isArray(x.shape) ? x.shape : undefined);
  if (shape) return Number(shape[0] ?? 1);
  return "length" in x ? Number(x.length) : 1;
}

const dtypes: readonly (readonly [new (n: number) => object, ArgumentType["dtype"]])[] = [
  [Float32Array, "f32"],
  [Float64Array, "f64"],
  [Int8Array, "i8"],
  [Int32Array, "i32"],
  [Uint8Array, "u8"],
  [Uint32Array, "u32"],
];

/**
 * The types of the batches of a loader, if it can tell. They depend on the loader alone and not on the batches seen so far, so that a
 * run that is resumed has the programs, and thereby the bits, of one that is not: the extent of the batch is a symbol where batches
 * differ in it.
 */
export async function typesOf(loader: Batches): Promise<ArgumentType[] | undefined> {
  const { dataset, options } = loader;
  if (!dataset || options?.batch === undefined || "collate" in options) return undefined;
  if (!isOfArrays(dataset)) return undefined;
  const even = options.dropLast || dataset.length % options.batch === 0;
  const sample = await dataset.gather([0]);
  const types = sample.map((array, i) => {
    const dtype = dtypes.find(([form]) => array instanceof form)?.[1];
    const shape = dataset.shapes[i];
    return dtype && shape ? { dtype, shape: [even ? options.batch! : "N", ...shape] } : undefined;
  });
  return types.every((t) => t !== undefined) ? types : undefined;
}

const isOfArrays = (x: object): x is Dataset<Fields> => "shapes" in x && "gather" in x;

/** The types of one batch as it is, for a loader that cannot tell before. */
export function typesOfBatch(batch: Batch): ArgumentType[] | undefined {
  const types = batch.map((x) => {
    const array = x instanceof Object && "data" in x ? x.data : x;
    const dtype = dtypes.find(([form]) => array instanceof form)?.[1];
    if (!dtype || !(x instanceof Object)) return undefined;
    const own = "shape" in x && Array.isArray(x.shape) ? (x.shape as number[]) : undefined;
    return { dtype, shape: batchShapeOf(x) ?? own ?? [(array as Float32Array).length] };
  });
  return types.every((t) => t !== undefined) ? types : undefined;
}
