/**
 * Batches of a data set, in order, shuffled or as a sampler says. One iteration is one epoch. A
 * batch is gathered while the caller works on an earlier one, here or by workers; where the data go
 * is the caller's matter.
 */
import { checkOptions, checkRecord, GraphError, kindOf, type OptionNames } from "@kiln-ml/ir";
import { setBatchShape } from "./batch-shape.ts";
import { type Collate, stack } from "./collate.ts";
import type { Dataset, Fields } from "./dataset.ts";
import { checkSource, type Items, isDataset, itemsOf, type Source, samplesAt } from "./items.ts";
import { permutation } from "./permutation.ts";
import { type BatchSampler, checkBatch, type Sampler } from "./samplers.ts";
import { WorkerCrew, type Workers } from "./worker-crew.ts";

export interface LoaderOptions {
  /** Samples a batch; not with `batches`. */
  readonly batch?: number;
  /** A new order in every epoch. */
  readonly shuffle?: boolean;
  /** Fixes the orders, default 0. */
  readonly seed?: number;
  /** Leaves out a last batch that is not full. */
  readonly dropLast?: boolean;
  /** Which samples an epoch has, in place of all in their order. */
  readonly sampler?: Sampler;
  /** Which batches an epoch has, as `bucketByLength` and `byGroup` make them. */
  readonly batches?: BatchSampler;
  /** Batches begun before they are asked for: 1, or two for each worker. */
  readonly prefetch?: number;
  /** Threads that make the batches, each by a call of `serveBatches` on the same samples. */
  readonly workers?: Workers;
}

export interface CollatingOptions<S, B> extends LoaderOptions {
  /** Makes the batch of its samples; by default `stack`. */
  readonly collate: Collate<S, B>;
}

/** Where a loader stands: plain numbers, for a checkpoint. */
export interface LoaderState {
  /** The epoch, from 0. */
  readonly epoch: number;
  /** Batches of it that were given out. */
  readonly batch: number;
  /** Batches an epoch, by which `load` knows that the loader is the same. */
  readonly length: number;
}

const loaderOptions: OptionNames<CollatingOptions<unknown, unknown>> = {
  batch: 1,
  shuffle: 1,
  seed: 1,
  dropLast: 1,
  sampler: 1,
  batches: 1,
  prefetch: 1,
  workers: 1,
  collate: 1,
};

type Orders =
  | { readonly length: number; batches(epoch: number): readonly ArrayLike<number>[] }
  | BatchSampler;

/**
 * `for await (const [x, y] of new DataLoader(dataset, { batch: 32, shuffle: true }))` is one epoch.
 * Items are made a batch of by `collate`. Batches come in order, whoever made them; an error names
 * the sample and comes where its batch would.
 *
 * `state()` in the loop says how many batches were given out, and a loader that `load`s it begins
 * with the one after. Throws GraphError for a batch below 1, for options that exclude each other,
 * and with `dropLast` for a batch that no epoch could fill. `torch.utils.data.DataLoader`.
 *
 * @param source A data set or items.
 * @param dataset A data set.
 * @example
 *   const [values, labels] = [Float32Array.of(1, 2, 3, 4), Int32Array.of(0, 1, 0, 1)];
 *   const dataset = fromArrays([values, labels], [[1], []]);
 *   const sums = [];
 *   for await (const [x, y] of new DataLoader(dataset, { batch: 2 })) sums.push(x[0] + x[1]);
 *   sums // [3, 7]
 */
export class DataLoader<B = Fields, S = unknown> implements AsyncIterable<B> {
  readonly dataset: Source<S>;
  readonly options: LoaderOptions;
  /** Iterations begun so far; the next one's order depends on it, and it may be set to resume. */
  epoch = 0;
  readonly #orders: Orders;
  readonly #make: (indices: ArrayLike<number>, loop: object) => unknown;
  readonly #crew: WorkerCrew | undefined;
  #position = { epoch: 0, batch: 0 };
  /** Set by `load`: the iteration of this epoch leaves out so many batches. */
  #resume: { readonly epoch: number; readonly batch: number } | undefined;

  constructor(source: Dataset<S & Fields>, options: CollatingOptions<S, B>);
  constructor(source: Items<S>, options: CollatingOptions<S, B>);
  constructor(dataset: Dataset<B & Fields>, options: LoaderOptions);
  constructor(source: Source<S>, options: LoaderOptions & { readonly collate?: Collate<S, B> }) {
    checkRecord("dataLoader", options);
    checkOptions<LoaderOptions>("dataLoader", options, loaderOptions);
    checkSource("dataLoader", source);
    this.dataset = source;
    this.options = options;
    this.#orders = ordersOf(source.length, options);
    checkPrefetch(options.prefetch);
    this.#crew = options.workers && new WorkerCrew(options.workers);
    const { collate } = options;
    this.#make = this.#crew
      ? (indices, loop) => this.#crew!.request(indices, loop)
      : batchMaker("dataLoader", source, collate as Collate<unknown, unknown> | undefined);
  }

  /** Batches an epoch. */
  get length(): number {
    return this.#orders.length;
  }

  /** The indices of the batches of epoch `epoch`. */
  order(epoch: number): readonly ArrayLike<number>[] {
    return this.#orders.batches(epoch);
  }

  /** Where the loader stands: in a loop, behind the batch that the loop works on. */
  state(): LoaderState {
    return { ...this.#position, length: this.length };
  }

  /**
   * The next iteration goes on where `state` was taken; no batch before it is gathered. It has no
   * batch if all of the epoch were given out. Throws GraphError for the state of a loader with
   * other batches.
   */
  load(state: LoaderState): void {
    checkRecord("dataLoader", state, "state");
    const { epoch, batch, length } = state;
    if (length !== this.length)
      throw new GraphError(
        `dataLoader: state is of a loader of ${length} batches an epoch, this one has ${this.length}\n  load it with the same data, batch and dropLast`,
      );
    if (![epoch, batch].every((n) => Number.isInteger(n) && n >= 0) || batch > length)
      throw new GraphError(`dataLoader: state has epoch ${epoch} and batch ${batch} of ${length}`);
    this.epoch = epoch;
    this.#resume = { epoch, batch };
    this.#position = { epoch, batch };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<B, void, undefined> {
    const epoch = this.epoch++;
    const start = this.#resume?.epoch === epoch ? this.#resume.batch : 0;
    this.#resume = undefined;
    this.#position = { epoch, batch: start };
    const order = this.order(epoch);
    const ahead = this.options.prefetch ?? this.#crew?.ahead ?? 1;
    const queue: unknown[] = [];
    let next = start;
    try {
      for (let at = start; at < order.length; at++) {
        while (next < order.length && next <= at + ahead)
          queue.push(this.#begun(order[next++]!, queue));
        const batch = (await queue.shift()) as B;
        this.#position = { epoch, batch: at + 1 };
        yield batch;
      }
      this.#position = { epoch: epoch + 1, batch: 0 };
    } finally {
      this.#crew?.forget(queue);
    }
  }

  /** A batch that is on its way, or that could not be begun: an error comes when its turn has. */
  #begun(indices: ArrayLike<number>, loop: object): unknown {
    try {
      const batch = this.#make(indices, loop);
      // An error of a batch that is never asked for must not end the process.
      if (batch instanceof Promise) batch.catch(() => {});
      return batch;
    } catch (error) {
      const failed = Promise.reject(error);
      failed.catch(() => {});
      return failed;
    }
  }

  /** Ends the workers. They keep no process alive, so it is needed only where memory is. */
  async close(): Promise<void> {
    await this.#crew?.close();
  }
}

function checkPrefetch(prefetch: number | undefined): void {
  if (prefetch !== undefined && !(Number.isInteger(prefetch) && prefetch >= 0))
    throw new GraphError(
      `dataLoader: prefetch must be an integer of 0 or more, got ${kindOf(prefetch)}`,
    );
}

/**
 * How batches are made here, in a worker as well: gathered by the data set, or collated of items.
 */
export function batchMaker(
  op: string,
  source: Source<unknown>,
  collate: Collate<unknown, unknown> | undefined,
): (indices: ArrayLike<number>) => unknown {
  if (!isDataset(source) || collate) {
    const items = itemsOf(source);
    const join = collate ?? stack;
    return async (indices) => join(await samplesAt(op, items, indices));
  }
  const shaped = (batch: Fields, rows: number): Fields => {
    for (const [i, shape] of source.shapes.entries())
      if (batch[i]) setBatchShape(batch[i], [rows, ...shape]);
    return batch;
  };
  return (indices) => {
    const batch = source.gather(indices);
    return batch instanceof Promise
      ? batch.then((b) => shaped(b, indices.length))
      : shaped(batch, indices.length);
  };
}

function ordersOf(n: number, options: LoaderOptions): Orders {
  const { batch, shuffle, seed = 0, dropLast, sampler, batches } = options;
  const excluded = batches
    ? (["batch", "shuffle", "dropLast", "sampler"] as const)
    : sampler
      ? (["shuffle"] as const)
      : [];
  const [other] = excluded.filter((name) => options[name] !== undefined);
  if (other)
    throw new GraphError(
      `dataLoader: ${other} and ${batches ? "batches" : "sampler"} are both given\n  leave one out: ${batches ? "batches" : "the sampler"} decides what ${other} would`,
    );
  if (batches) return batches;
  checkBatch("dataLoader", batch);
  const size = batch!;
  const count = sampler ? sampler.length : n;
  if (dropLast && size > count)
    throw new GraphError(`dataLoader: no batch is full: batch ${size}, data set ${count}`);
  const length = dropLast ? Math.floor(count / size) : Math.ceil(count / size);
  const inOrder = Uint32Array.from({ length: sampler || shuffle ? 0 : n }, (_, i) => i);
  return {
    length,
    batches(epoch) {
      const all = sampler
        ? Uint32Array.from(sampler.indices(epoch))
        : shuffle
          ? permutation(n, seed, epoch)
          : inOrder;
      return Array.from({ length }, (_, i) => all.subarray(i * size, (i + 1) * size));
    },
  };
}
