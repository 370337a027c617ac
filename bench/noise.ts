/**
 * Numbers to compute on, the same at each run and for every peer: even noise from a small
 * generator, as inputs, weights and labels.
 */

import { type Dtype, type HostArray, toHost } from "@kiln-ml/ir";

/** Numbers even within ±1 from a small generator, so that runs repeat. */
export function noise(size: number, seed = 1): Float32Array {
  let s = seed >>> 0 || 1;
  return Float32Array.from({ length: size }, () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2 ** 31 - 1;
  });
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/**
 * Noise takes time to make, in which a card cools down, so it repeats; a prime, so that rows
 * differ.
 */
const period = 1_000_003;

/** Values of the input at `index` of a program. */
export function inputValues(index: number, shape: readonly number[]): Float32Array {
  const values = new Float32Array(sizeOf(shape));
  const from = noise(Math.min(period, values.length), 100 + index);
  for (let at = 0; at < values.length; at += from.length)
    values.set(from.subarray(0, values.length - at), at);
  return values;
}

/** The same rounded to a dtype of halves, as their bits. */
export function inputHalves(dtype: Dtype, index: number, shape: readonly number[]): HostArray {
  const size = sizeOf(shape);
  const from = toHost(dtype, inputValues(index, [Math.min(period, size)]));
  return Uint16Array.from({ length: size }, (_, i) => from[i % from.length] as number);
}

/**
 * Values of a parameter, even within ±1/√(fan in), as a layer would make them; outputs are the
 * first axis.
 */
export function weightValues(seed: number, shape: readonly number[]): Float32Array {
  const fan = Math.max(1, sizeOf(shape.slice(1)));
  return noise(sizeOf(shape), seed).map((v) => v / Math.sqrt(fan));
}

/** One of some classes, ten by default, for each value within ±1. */
export const classesOf = (values: Float32Array, classes = 10): Int32Array =>
  Int32Array.from(values, (v) => Math.floor(((v + 1) * classes) / 2));
