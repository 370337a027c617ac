/** What recurrent layers are made of, take, and give. */
import type { Tensor } from "@kiln-ml/ir";

export interface RecurrentOptions {
  /** One above the other, default 1. */
  readonly layers?: number;
  /** Runs over the sequence backwards too, and puts both results side by side; false by default. */
  readonly bidirectional?: boolean;
  /** Adds biases; true by default. */
  readonly bias?: boolean;
  /** Rate of dropout between layers, default 0. */
  readonly dropout?: number;
}

export interface RecurrentInputs {
  /** i32[B]: steps from there on are padding. They leave the state as it is and give zeros. */
  readonly lengths?: Tensor;
  /** The state to begin with, zeros by default: as `state` of the result. */
  readonly state?: readonly Tensor[];
}

export interface RecurrentResult {
  /**
   * The hidden state of the last layer at each step, f32[B, T, hidden], or 2·hidden of both
   * directions.
   */
  readonly y: Tensor;
  /**
   * The state after the last step, h and for an LSTM c: each f32[layers, B, hidden]. In both
   * directions there are two a layer: that of the first layer forwards, of the first backwards, of
   * the second forwards, and so on.
   */
  readonly state: Tensor[];
}

/** Arguments as `withSize` gives them: that of the input may be unknown. */
export type RecurrentSizes<Options> = readonly [
  inputs: number | undefined,
  hidden: number,
  options?: Options,
];
