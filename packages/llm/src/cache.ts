/**
 * Keys and values of what has run, layer by layer: parameters that steps write rows of, where their
 * tokens stand, and read up to the longest text. Rows may be kept as halves or bytes, and layers
 * with a window keep no more than it needs.
 */
import {
  assign,
  type Dim,
  type Dtype,
  iota,
  param,
  scatter,
  select,
  type Tensor,
} from "kiln-ml/ir";
import type { DecoderConfig } from "./config.ts";
import { LanguageModelError, shown } from "./errors.ts";

/** What rows of a cache are kept as; bytes have a scale for each token and head. */
export type CacheDtype = "f32" | "f16" | "int8";

export interface CacheOptions {
  /** Default "f32". */
  readonly dtype?: CacheDtype;
  /** The most tokens of a step; the capacity by default. */
  readonly chunk?: number;
}

/** Rows of one kind: [batch, rows, kvHeads, headWidth]. */
export interface CacheRows {
  readonly rows: Tensor;
  /** Of bytes: f32[batch, rows, kvHeads, 1]. */
  readonly scales?: Tensor;
}

/** A position p stands in row p mod `size`; those of `capacity` and beyond stand nowhere. */
export interface Ring {
  readonly size: number;
  readonly capacity: number;
}

/** Keys and values of one layer. */
export interface LayerCache {
  readonly key: CacheRows;
  readonly value: CacheRows;
  /** Where rows are used again. */
  readonly ring?: Ring;
  /** Of what was heard, where a model hears. */
  readonly heard?: { readonly key: Tensor; readonly value: Tensor };
}

const dtypes: Readonly<Record<CacheDtype, Dtype>> = { f32: "f32", f16: "f16", int8: "i8" };

export function emptyRows(name: string, shape: readonly number[], dtype: CacheDtype): CacheRows {
  const of = (path: string, extents: readonly number[], kind: Dtype): Tensor => {
    const size = extents.reduce((a, b) => a * b, 1);
    const zeros = kind === "i8" ? new Int8Array(size) : new Float32Array(size);
    return param(zeros, { name: path, shape: extents, dtype: kind, trainable: false });
  };
  const rows = of(name, shape, dtypes[dtype]);
  if (dtype !== "int8") return { rows };
  return { rows, scales: of(`${name}.scale`, [...shape.slice(0, -1), 1], "f32") };
}

/** Throws LanguageModelError for a name of no dtype of caches. */
export function checkCacheDtype(dtype: unknown): void {
  if (typeof dtype !== "string" || !Object.hasOwn(dtypes, dtype))
    throw new LanguageModelError(
      `textSession: unknown cache ${shown(dtype)}\n  known are ${Object.keys(dtypes).join(", ")}`,
    );
}

/**
 * Rows that a layer with a window needs: those that its oldest query sees, and those that a step
 * writes after them; a step more, so that a text that is taken up some tokens earlier finds its own.
 */
const ringOf = (window: number, capacity: number, chunk: number): Ring | undefined => {
  const size = window + 2 * chunk;
  return size < capacity ? { size, capacity } : undefined;
};

/** Empty caches for `batch` texts of up to `capacity` tokens. */
export function caches(
  config: DecoderConfig,
  batch: number,
  capacity: number,
  { dtype = "f32", chunk = capacity }: CacheOptions = {},
): LayerCache[] {
  const { layers, kvHeads, headWidth, window, local } = config;
  return Array.from({ length: layers }, (_, i) => {
    const ring = window && local[i] ? ringOf(window, capacity, chunk) : undefined;
    const shape = [batch, ring?.size ?? capacity, kvHeads, headWidth];
    return {
      key: emptyRows(`cache.${i}.key`, shape, dtype),
      value: emptyRows(`cache.${i}.value`, shape, dtype),
      ...(ring && { ring }),
    };
  });
}

/**
 * How many tokens before its end a text can be taken up again: what stood in the rows of those after
 * it must have left the window.
 */
export const reachOf = (all: readonly LayerCache[], window: number | undefined): number =>
  Math.min(...all.map(({ ring }) => (ring && window ? ring.size - window : Infinity)));

/** Where positions stand in a ring; one row too far for those that stand nowhere. */
export const slotsOf = (positions: Tensor, { size, capacity }: Ring): Tensor =>
  select(positions.less(capacity), positions.rem(size), size);

/**
 * The positions that the rows of a ring hold once a step has written: i32[B, size], below 0 for rows
 * that hold none. Of row s it is the greatest p ≤ last with p mod size = s.
 */
export function heldBy(positions: Tensor, { size, capacity }: Ring): Tensor {
  const last = select(positions.less(capacity), positions, 0).max([1], { keepDims: true });
  const row = iota([size]).expandDims(0);
  return last.sub(last.sub(row).add(size).rem(size));
}

/**
 * Rows of a cache as f32, with rows of this step where their tokens stand, in `places`; those beyond
 * its end are dropped. The first `keys` of them, or all of a ring.
 */
export function written({ rows, scales }: CacheRows, x: Tensor, places: Tensor, keys: Dim): Tensor {
  const text = iota(places.shape, 0);
  const put = (kept: Tensor, values: Tensor): Tensor => {
    const own = values.convert(kept.dtype);
    assign(kept, scatter(kept, own, [text, places], [0, 1], "set"));
    const [b, , heads, width] = kept.shape as [Dim, Dim, Dim, Dim];
    return kept.slice([0, 0, 0, 0], [b, keys, heads, width]).convert("f32");
  };
  if (!scales) return put(rows, x);
  const size = x.abs().max([-1], { keepDims: true }).div(127);
  const bytes = x.div(size.maximum(1e-30)).round();
  return put(rows, bytes).mul(put(scales, size));
}
