/**
 * What a session needs of a model: how many tokens it knows and what each step computes. Decoders
 * and models that hear are such.
 */
import type { nn } from "kiln-ml";
import type { Tensor } from "kiln-ml/ir";
import type { CacheOptions, LayerCache } from "./cache.ts";

/** What a step reads. */
export interface StepInputs {
  /** i32[B, T]. */
  readonly tokens: Tensor;
  /** Where they stand: i32[B, T]; beyond the capacity is what stands nowhere. */
  readonly positions: Tensor;
  /** The positions of the keys that may be seen, 0 … S − 1: i32[S]. */
  readonly keys: Tensor;
}

export interface TextNet extends nn.Module {
  readonly config: {
    readonly vocabulary: number;
    /** The most tokens that the model was made for. */
    readonly context: number;
    /** Tokens that end a text. */
    readonly ends: readonly number[];
    /** Tokens that are never made, and those that are not made first. */
    readonly suppress?: readonly number[];
    readonly beginSuppress?: readonly number[];
    /** Tokens that layers with a window see, where some have one. */
    readonly window?: number | undefined;
  };
  /** Empty caches for `batch` texts of up to `capacity` tokens. */
  caches(batch: number, capacity: number, options?: CacheOptions): LayerCache[];
  /** What the last layer makes of tokens: f32[B, T, width]. */
  hidden(inputs: StepInputs, cache?: readonly LayerCache[]): Tensor;
  /** x: f32[…, width] → f32[…, vocabulary]. */
  scores(x: Tensor): Tensor;
}
