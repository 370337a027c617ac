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

/** Where a loader stands: batches of epoch `epoch` that were handed out. */
export interface LoaderState {
  readonly epoch: number;
  readonly batch: number;
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
  /** Batches of the present epoch that were handed out. */
  #given = 0;
  /** Batches that the next iteration leaves out. */
  #skip = 0;
  #begun = false;

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

  /** Where the newest iteration is: the batch that follows is `batch` of epoch `epoch`. */
  state(): LoaderState {
    return this.#begun
      ? { epoch: this.epoch - 1, batch: this.#given }
      : { epoch: this.epoch, batch: this.#skip };
  }

  /**
   * Makes the next iteration go on from `state`: it gives what is left of that epoch, and those after it are whole again.
   * Throws GraphError for a batch that the epoch does not have.
   */
  load({ epoch, batch }: LoaderState): void {
    const whole = (n: number): boolean => Number.isInteger(n) && n >= 0;
    if (!whole(epoch) || !whole(batch) || batch > this.length)
      throw new GraphError(
        `dataLoader: there is no batch ${batch} of epoch ${epoch}: an epoch has ${this.length}\n  resume with the data set and the batch that the state was saved with`,
      );
    this.epoch = epoch;
    this.#skip = batch;
    this.#begun = false;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    let next: T | Promise<T> | undefined;
    let rows = 0;
    const skip = this.#skip;
    this.#skip = 0;
    this.#given = skip;
    this.#begun = true;
    for (const indices of this.order(this.epoch++).slice(skip)) {
      const ready = next;
      const count = rows;
      next = this.dataset.gather(indices);
      rows = indices.length;
      // An error of a batch that is never asked for must not end the process.
      if (next instanceof Promise) next.catch(() => {});
      if (ready !== undefined) yield this.#handed(await ready, count);
    }
    if (next !== undefined) yield this.#handed(await next, rows);
  }

  /** The batch that is given to the caller, who from here on has it. */
  #handed(batch: T, rows: number): T {
    this.#given++;
    return this.#shaped(batch, rows);
  }

  /** A batch of `rows` samples with its shapes on record. */
  #shaped(batch: T, rows: number): T {
    for (const [i, shape] of this.dataset.shapes.entries())
      if (batch[i]) setBatchShape(batch[i], [rows, ...shape]);
    return batch;
  }
}
