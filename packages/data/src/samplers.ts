/**
 * Orders in which a loader takes samples. A sampler gives the indices of an epoch from its seed and
 * the epoch's number alone, so that a run that is resumed goes on in the same order.
 */

import {
  checkOptions,
  checkRecord,
  GraphError,
  kindOf,
  type OptionNames,
  ShapeError,
  threefry2x32,
} from "@kiln-ml/ir";
import { checkValues } from "./check.ts";
import { permutation } from "./permutation.ts";

/** The samples of an epoch, in order; some may come twice, or not at all. */
export interface Sampler {
  /** Samples an epoch. */
  readonly length: number;
  indices(epoch: number): ArrayLike<number>;
}

/** The batches of an epoch, in order, as lists of samples. */
export interface BatchSampler {
  /** Batches an epoch. */
  readonly length: number;
  batches(epoch: number): readonly ArrayLike<number>[];
}

export interface SamplerOptions {
  /** Fixes the draws, default 0. */
  readonly seed?: number;
  /** Samples an epoch; as many as there are by default. */
  readonly count?: number;
}

export interface WeightedOptions extends SamplerOptions {
  /** Whether a sample may come twice an epoch; true by default. */
  readonly replacement?: boolean;
}

const samplerOptions: OptionNames<SamplerOptions> = { seed: 1, count: 1 };
const weightedOptions: OptionNames<WeightedOptions> = { seed: 1, count: 1, replacement: 1 };

/** Uniform numbers in (0, 1), a stream for each seed and epoch: (bits + ½)/2³². */
export function uniforms(op: string, seed: number, epoch: number): (place: number) => number {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new ShapeError(`${op}: seed must be an integer of 0 or more, got ${kindOf(seed)}`);
  const key = threefry2x32(Math.floor(seed / 2 ** 32), seed >>> 0, epoch, 1);
  return (place) => ((threefry2x32(key[0], key[1], place, 0)[0] >>> 0) + 0.5) / 2 ** 32;
}

function checkCount(op: string, count: number): number {
  if (!Number.isInteger(count) || count < 1)
    throw new GraphError(`${op}: count must be an integer of 1 or more, got ${kindOf(count)}`);
  return count;
}

/**
 * `count` of `length` samples an epoch, drawn evenly; a sample may come twice.
 * `torch.utils.data.RandomSampler(replacement=True)`.
 * @example
 *   const sampler = withReplacement(3, { count: 5 });
 *   sampler.indices(0).length // 5
 */
export function withReplacement(length: number, options: SamplerOptions = {}): Sampler {
  const { seed = 0, count = length } = checkOptions("withReplacement", options, samplerOptions);
  checkCount("withReplacement", length);
  checkCount("withReplacement", count);
  return {
    length: count,
    indices(epoch) {
      const draw = uniforms("withReplacement", seed, epoch);
      return Uint32Array.from({ length: count }, (_, i) => Math.floor(draw(i) * length));
    },
  };
}

/**
 * Sample i with probability wᵢ/Σw at each draw. Without replacement a drawn sample leaves the rest:
 * the `count` largest of ln(u)/w. Efraimidis & Spirakis 2006. Throws GraphError for weights that
 * are negative, not finite or all 0. `torch.utils.data.WeightedRandomSampler`.
 *
 * @param weights One for each sample, 0 or more.
 * @example
 *   const sampler = weighted([0, 1, 0]);
 *   sampler.indices(0) // [1, 1, 1]
 */
export function weighted(weights: ArrayLike<number>, options: WeightedOptions = {}): Sampler {
  checkValues("weighted", "weights", weights);
  const {
    seed = 0,
    count = weights.length,
    replacement = true,
  } = checkOptions("weighted", options, weightedOptions);
  checkCount("weighted", count);
  let open = 0;
  for (let i = 0; i < weights.length; i++) {
    if (
      typeof weights[i] !== "number" ||
      !(weights[i]! >= 0 && weights[i]! < Number.POSITIVE_INFINITY)
    )
      throw new GraphError(
        `weighted: weight ${i} is ${kindOf(weights[i])}, must be finite and 0 or more`,
      );
    if (weights[i]! > 0) open++;
  }
  if (open === 0) throw new GraphError("weighted: no weight is above 0");
  if (!replacement && count > open)
    throw new GraphError(
      `weighted: count ${count} exceeds the ${open} samples with a weight above 0\n  draw fewer, or with replacement`,
    );
  return {
    length: count,
    indices: (epoch) =>
      replacement
        ? drawn(weights, count, uniforms("weighted", seed, epoch))
        : largestKeys(weights, count, uniforms("weighted", seed, epoch)),
  };
}

function drawn(weights: ArrayLike<number>, count: number, draw: (i: number) => number) {
  const ends = new Float64Array(weights.length);
  let total = 0;
  for (let i = 0; i < ends.length; i++) ends[i] = total += weights[i]!;
  return Uint32Array.from({ length: count }, (_, i) => firstAbove(ends, draw(i) * total));
}

/** The first index whose running total is above `x`, so that a sample of weight 0 is never it. */
function firstAbove(ends: Float64Array, x: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

function largestKeys(weights: ArrayLike<number>, count: number, draw: (i: number) => number) {
  const keys = Float64Array.from({ length: weights.length }, (_, i) =>
    weights[i]! > 0 ? Math.log(draw(i)) / weights[i]! : Number.NEGATIVE_INFINITY,
  );
  const order = Array.from(keys.keys()).sort((a, b) => keys[b]! - keys[a]! || a - b);
  return Uint32Array.from(order.slice(0, count));
}

/** A label of a sample, for strata and groups. */
export type Label = number | string | bigint | boolean;

/** The samples of each label, in order of first appearance. */
export function byLabel(labels: ArrayLike<Label>): Map<Label, number[]> {
  const members = new Map<Label, number[]>();
  for (let i = 0; i < labels.length; i++) {
    const list = members.get(labels[i]!);
    if (list) list.push(i);
    else members.set(labels[i]!, [i]);
  }
  return members;
}

/**
 * Every stretch of an epoch has the labels in the shares that they have in all: the j-th of n
 * samples of a label stands at about (j + u)/n of the epoch, u uniform in [0, 1) for each label.
 * Every sample once. No counterpart in PyTorch.
 *
 * @param labels A label for each sample, numbers or texts.
 * @param options `seed` fixes the draws.
 * @example
 *   const labels = [0, 0, 1, 1];
 *   const order = [...stratified(labels).indices(0)];
 *   order.slice(0, 2).map((i) => labels[i]).sort() // [0, 1]; each half has both
 */
export function stratified(labels: ArrayLike<Label>, options: { readonly seed?: number } = {}) {
  checkValues("stratified", "labels", labels);
  const { seed = 0 } = checkOptions("stratified", options, { seed: 1 });
  const members = [...byLabel(labels).values()];
  const { length } = labels;
  return {
    length,
    indices(epoch: number): Uint32Array {
      const draw = uniforms("stratified", seed, epoch);
      const places = new Float64Array(length);
      for (const [g, list] of members.entries())
        for (const [j, at] of permutation(list.length, seed, epoch).entries())
          places[list[at]!] = (j + draw(g)) / list.length;
      const order = Array.from(places.keys()).sort((a, b) => places[a]! - places[b]! || a - b);
      return Uint32Array.from(order);
    },
  } satisfies Sampler;
}

/**
 * Batches of samples of one group each, such as one patient or one document, in an order drawn anew
 * every epoch; the last batch of a group may be short. No counterpart in PyTorch.
 *
 * @param groups The group of each sample, numbers or texts.
 * @param options `batch`, the samples of a batch, and `seed`.
 * @example
 *   const sampler = byGroup(["ann", "bob", "ann"], { batch: 2 });
 *   sampler.batches(0).map((batch) => [...batch].sort()).sort() // [[0, 2], [1]]
 */
export function byGroup(
  groups: ArrayLike<Label>,
  options: { readonly batch: number; readonly seed?: number },
): BatchSampler {
  checkValues("byGroup", "groups", groups);
  checkRecord("byGroup", options);
  const { batch, seed = 0 } = checkOptions("byGroup", options, { batch: 1, seed: 1 });
  checkBatch("byGroup", batch);
  const members = [...byLabel(groups).values()];
  return {
    length: members.reduce((n, list) => n + Math.ceil(list.length / batch), 0),
    batches: (epoch) =>
      inDrawnOrder(
        members.flatMap((list) => {
          const order = permutation(list.length, seed, epoch);
          return cut(
            Array.from(order, (at) => list[at]!),
            batch,
          );
        }),
        seed,
        epoch,
      ),
  };
}

export interface BucketOptions {
  /** Samples of a batch. */
  readonly batch: number;
  /**
   * Batches whose samples are sorted together; 50 by default. The more, the less padding and the
   * less chance.
   */
  readonly pool?: number;
  /** Fixes the order, default 0. */
  readonly seed?: number;
}

const bucketOptions: OptionNames<BucketOptions> = { batch: 1, pool: 1, seed: 1 };

/**
 * Batches of samples of about one length, so that little is padded: a shuffled epoch is cut into
 * pools of `pool` batches, each pool sorted by length and cut into batches, and the batches come in
 * an order drawn anew. Every sample once. `tf.data.Dataset.bucket_by_sequence_length`.
 *
 * @param lengths The length of each sample.
 * @example
 *   const sampler = bucketByLength([9, 1, 8, 2], { batch: 2 });
 *   sampler.batches(0).map((batch) => [...batch].sort()).sort() // [[0, 2], [1, 3]]
 */
export function bucketByLength(lengths: ArrayLike<number>, options: BucketOptions): BatchSampler {
  checkValues("bucketByLength", "lengths", lengths);
  checkRecord("bucketByLength", options);
  const { batch, pool = 50, seed = 0 } = checkOptions("bucketByLength", options, bucketOptions);
  checkBatch("bucketByLength", batch);
  checkCount("bucketByLength", pool);
  return {
    length: Math.ceil(lengths.length / batch),
    batches(epoch) {
      const order = Array.from(permutation(lengths.length, seed, epoch));
      const pools = cut(order, batch * pool);
      for (const part of pools) part.sort((a, b) => lengths[a]! - lengths[b]!);
      return inDrawnOrder(
        pools.flatMap((part) => cut(part, batch)),
        seed,
        epoch,
      );
    },
  };
}

export function checkBatch(op: string, batch: unknown): void {
  if (!Number.isInteger(batch) || (batch as number) < 1)
    throw new GraphError(`${op}: batch must be an integer of 1 or more, got ${kindOf(batch)}`);
}

function cut(list: readonly number[], size: number): number[][] {
  const parts: number[][] = [];
  for (let at = 0; at < list.length; at += size) parts.push(list.slice(at, at + size));
  return parts;
}

const inDrawnOrder = <T>(list: readonly T[], seed: number, epoch: number): T[] =>
  Array.from(permutation(list.length, seed, epoch), (at) => list[at]!);
