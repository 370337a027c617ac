/** What demos that learn show and are asked, by demo: the agreements of their pages and workers. */

/** A beginning, and characters that are to follow it. */
export interface Prompt {
  readonly prompt: string;
  readonly length: number;
  readonly temperature: number;
}

export interface Said {
  readonly prompt: string;
  readonly continued: string;
}

/** Pictures a row and rows of the grid, and pixels a side of a picture. */
export const paintedGrid = 6;
export const paintedSide = 16;

/** From 0 to 1, one picture after another; of the real ones there are more. */
export interface Painted {
  readonly painted: Float32Array;
  readonly real: Float32Array;
}

/** RGBA of a square picture. */
export interface Scene {
  readonly side: number;
  readonly rgba: Uint8ClampedArray;
}

/** A scene and what is found in it, from 0 to 1 a pixel. */
export interface Segmented extends Scene {
  readonly mask: Float32Array;
}

/** Scenes that were held back, and how much of them is right: intersection over union. */
export interface Held {
  readonly scenes: readonly Segmented[];
  readonly overlap: number;
}

export const electrodes = ["F3", "F4", "C3", "C4", "P3", "P4", "O1", "O2"] as const;
/** Samples a second, and of a window: one second. */
export const rate = 128;

/** f32[electrodes, rate]. */
export type Window = Float32Array;

export interface Heard {
  /** Of the left hand and the right, together 1. */
  readonly shares: readonly number[];
  /** How much each electrode tells, from 0 to 1. */
  readonly weights: readonly number[];
}

/** Recordings of people that were held back, and how many of them are told rightly. */
export interface Listened {
  readonly accuracy: number;
}

/** A molecule as its learned surface is shown: parts of atoms and the whole, in Å². */
export interface Surface {
  readonly parts: readonly number[];
  readonly total: number;
}

/** Molecules that were held back: by the table, and as learned. */
export interface Surfaces {
  readonly right: readonly number[];
  readonly learned: readonly number[];
}
