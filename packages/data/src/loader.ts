/**
 * Batches of a data set, in order or shuffled. One iteration is one epoch; it copies samples and does nothing
 * else, so that where the data go is the caller's matter.
 */
import { checkOptions, GraphError, type OptionNames } from "@kiln-ml/ir";
import { setBatchShape } from "./batch-shape.ts";
import type { Dataset, Fields } from "./dataset.ts";
import { permutation } from "./permutation.ts";

export interface LoaderOptions {
  /** Samples a batch. */
  readonly batch: number;
  /** A new order in every epoch. */
  readonly shuffle?: boolean;
  /** Fixes the orders, default 0. */
  readonly seed?: number;
  /** Leaves out a last batch that is not full. */
  readonly dropLast?: boolean;
}

const loaderOptions: OptionNames<LoaderOptions> = { batch: 1, shuffle: 1, seed: 1, dropLast: 1 };

/**
 * `for await (const [x, y] of new DataLoader(dataset, { batch: 32, shuffle: true }))` is one epoch. The next
 * batch is gathered while the caller works on this one. Throws GraphError for a batch below 1, and with
 * `dropLast` for a batch that no epoch could fill.
 */
export class DataLoader<T extends Fields> implements AsyncIterable<T> {
  readonly dataset: Dataset<T>;
  readonly options: LoaderOptions;
  /** Iterations begun so far; the next one's order depends on it, and it may be set to resume. */
  epoch = 0;

  constructor(dataset: Dataset<T>, options: LoaderOptions) {
    const { batch, dropLast } = checkOptions("dataLoader", options, loaderOptions);
    if (!Number.isInteger(batch) || batch < 1)
      throw new GraphError(`dataLoader: batch must be an integer of 1 or more, got ${batch}`);
    if (dropLast && batch > dataset.length)
      throw new GraphError(
        `dataLoader: no batch is full: batch ${batch}, data set ${dataset.length}`,
      );
    this.dataset = dataset;
    this.options = options;
  }

  /** Batches an epoch. */
  get length(): number {
    const whole = this.dataset.length / this.options.batch;
    return this.options.dropLast ? Math.floor(whole) : Math.ceil(whole);
  }

  /** The indices of the batches of epoch `epoch`. */
  order(epoch: number): Uint32Array[] {
    const { batch, shuffle, seed = 0 } = this.options;
    const n = this.dataset.length;
    const all = shuffle
      ? permutation(n, seed, epoch)
      : Uint32Array.from({ length: n }, (_, i) => i);
    return Array.from({ length: this.length }, (_, i) => all.subarray(i * batch, (i + 1) * batch));
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    let next: T | Promise<T> | undefined;
    let rows = 0;
    for (const indices of this.order(this.epoch++)) {
      const ready = next;
      const count = rows;
      next = this.dataset.gather(indices);
      rows = indices.length;
      // An error of a batch that is never asked for must not end the process.
      if (next instanceof Promise) next.catch(() => {});
      if (ready !== undefined) yield this.#shaped(await ready, count);
    }
    if (next !== undefined) yield this.#shaped(await next, rows);
  }

  /** A batch of `rows` samples with its shapes on record. */
  #shaped(batch: T, rows: number): T {
    for (const [i, shape] of this.dataset.shapes.entries())
      if (batch[i]) setBatchShape(batch[i], [rows, ...shape]);
    return batch;
  }
}
