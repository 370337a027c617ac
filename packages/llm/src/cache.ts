/**
 * Keys and values of what has run, layer by layer: parameters that steps write rows of, where their
 * tokens stand, and read up to the longest text.
 */
import { assign, type Dim, iota, param, scatter, type Tensor } from "kiln-ml/ir";
import type { DecoderConfig } from "./config.ts";

/** Keys and values: [batch, capacity, kvHeads, headWidth] each. */
export interface CachePair {
  readonly key: Tensor;
  readonly value: Tensor;
}

/** Those of one layer. */
export interface LayerCache extends CachePair {
  /** Of what was heard, where a model hears. */
  readonly heard?: CachePair;
}

export function emptyCache(name: string, shape: readonly number[]): CachePair {
  const size = shape.reduce((a, b) => a * b, 1);
  const empty = (part: string): Tensor =>
    param(new Float32Array(size), { name: `${name}.${part}`, shape, trainable: false });
  return { key: empty("key"), value: empty("value") };
}

/** Empty caches for `batch` texts of up to `capacity` tokens. */
export const caches = (config: DecoderConfig, batch: number, capacity: number): LayerCache[] =>
  Array.from({ length: config.layers }, (_, i) =>
    emptyCache(`cache.${i}`, [batch, capacity, config.kvHeads, config.headWidth]),
  );

/**
 * The first `keys` of a cache, with rows of this step where their tokens stand; those beyond its
 * capacity are dropped.
 */
export function written(cache: Tensor, rows: Tensor, positions: Tensor, keys: Dim): Tensor {
  const text = iota(positions.shape, 0);
  assign(cache, scatter(cache, rows, [text, positions], [0, 1], "set"));
  const [b, , heads, width] = cache.shape as [Dim, Dim, Dim, Dim];
  return cache.slice([0, 0, 0, 0], [b, keys, heads, width]);
}
