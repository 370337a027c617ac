/** Windows: weights of the places of a frame. */
import { GraphError } from "../errors.ts";
import { kindOf } from "../kind.ts";
import type { Tensor } from "../node.ts";
import { tensor } from "../ops/source.ts";

/** "periodic" for spectra of frames, "symmetric" for filters. */
export type WindowKind = "periodic" | "symmetric";

const window =
  (op: string, a: readonly [number, number, number]) =>
  (size: number, kind: WindowKind = "periodic"): Tensor => {
    if (!Number.isInteger(size) || size < 1)
      throw new GraphError(`${op}: the size must be a whole number from 1, got ${kindOf(size)}`);
    const period = Math.max(1, kind === "periodic" ? size : size - 1);
    const values = Float32Array.from({ length: size }, (_, i) => {
      const turn = (2 * Math.PI * i) / period;
      return size === 1 ? 1 : a[0] - a[1] * Math.cos(turn) + a[2] * Math.cos(2 * turn);
    });
    return tensor(values);
  };

/**
 * ½ − ½·cos(2πi/n): f32[size]. `torch.hann_window`.
 *
 * @param size Places of the window.
 * @param kind "periodic" for spectra, "symmetric" for filters.
 * @example
 *   fft.hannWindow(4) // [0, ½, 1, ½]
 */
export const hannWindow = /* @__PURE__ */ window("hannWindow", [0.5, 0.5, 0]);

/**
 * 0.54 − 0.46·cos(2πi/n): f32[size]. `torch.hamming_window`.
 *
 * @param size Places of the window.
 * @param kind "periodic" for spectra, "symmetric" for filters.
 * @example
 *   fft.hammingWindow(4) // [0.08, 0.54, 1, 0.54]
 */
export const hammingWindow = /* @__PURE__ */ window("hammingWindow", [0.54, 0.46, 0]);

/**
 * 0.42 − ½·cos(2πi/n) + 0.08·cos(4πi/n): f32[size]. `torch.blackman_window`.
 *
 * @param size Places of the window.
 * @param kind "periodic" for spectra, "symmetric" for filters.
 * @example
 *   fft.blackmanWindow(4) // [0, 0.34, 1, 0.34]
 */
export const blackmanWindow = /* @__PURE__ */ window("blackmanWindow", [0.42, 0.5, 0.08]);
