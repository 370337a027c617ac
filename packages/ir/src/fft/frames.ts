/** Spectra of overlapping frames, and the signal back from them. */
import { addDim, type Dim, isStatic, mulDim, subDim } from "../dim.ts";
import { checkOptions, type OptionNames, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { checkTensor } from "../ops/apply.ts";
import { ones } from "../ops/create.ts";
import { select } from "../ops/elementwise/compare.ts";
import { concat } from "../ops/join.ts";
import { expandDims, reshape, sliceAxis, swapAxes } from "../ops/movement.ts";
import { foldWindows, windows } from "../ops/windows.ts";
import { printShape } from "../shape.ts";
import { checkComplex } from "./complex.ts";
import { fourier } from "./fourier.ts";

interface Frames {
  /** Elements from one frame to the next, a quarter of a frame by default. */
  readonly hop?: number;
  /** f32[size], ones by default. */
  readonly window?: Tensor;
  /**
   * Frames are centred at multiples of the hop, on a signal mirrored at its ends; true by default.
   */
  readonly center?: boolean;
}

export interface StftOptions extends Frames {
  /** Only the half of each spectrum that says all; true by default. */
  readonly onesided?: boolean;
}

export interface IstftOptions extends Frames {
  /** Of the result; what the frames cover by default. */
  readonly length?: number;
}

const stftOptions: OptionNames<StftOptions> = { hop: 1, window: 1, center: 1, onesided: 1 };
const istftOptions: OptionNames<IstftOptions> = { hop: 1, window: 1, center: 1, length: 1 };

function framesOf(op: string, size: number, { hop, window, center = true }: Frames) {
  const step = hop ?? Math.floor(size / 4);
  for (const [what, n] of [
    ["size", size],
    ["hop", step],
  ] as const)
    if (!Number.isInteger(n) || n < 1)
      throw new ShapeError(`${op}: the ${what} must be a whole number from 1, got ${String(n)}`);
  if (window && !(window.rank === 1 && window.shape[0] === size))
    throw new ShapeError(
      `${op}: the window is ${printShape(window.shape)}, a frame has ${size} elements\n  give a window of that size, as fft.hannWindow(${size})`,
    );
  return { step, window, center };
}

/**
 * Spectra of frames of `size` elements: Y[k, t] = Σ_j w[j]·x[t·hop + j]·e^(−2πi·jk/size).
 *
 * x: [..., L] → [..., bins, frames, 2]; frames = 1 + ⌊L/hop⌋ if centred, else 1 + ⌊(L − size)/hop⌋;
 * bins = ⌊size/2⌋ + 1 if onesided. L and batch axes may be symbols. `torch.stft` with its defaults
 * but for the hop's name.
 *
 * Throws ShapeError if the window has another size, or the signal is shorter than half a frame.
 *
 * @example
 *   fft.stft(ones([16]), 8, { hop: 4, window: fft.hannWindow(8) }).shape // [5, 5, 2]
 */
export function stft(x: Tensor, size: number, options: StftOptions = {}): Tensor {
  checkTensor("stft", x);
  const { onesided = true, ...frames } = checkOptions("stft", options, stftOptions);
  const { step, window, center } = framesOf("stft", size, frames);
  if (x.rank === 0)
    throw new ShapeError("stft: a scalar is no signal\n  give it a line of numbers");
  const line = center ? mirrored(x, Math.floor(size / 2)) : x;
  // [..., frames, size]
  const framed = windows(line, { size, stride: step });
  const weighted = window ? framed.mul(window) : framed;
  const y = fourier(expandDims(weighted, -1), size, { inverse: false, onesided });
  return swapAxes(y, -2, -3);
}

/** The signal with `by` elements more at each end, mirrored at the first and the last. */
function mirrored(x: Tensor, by: number): Tensor {
  const axis = x.rank - 1;
  const n = x.shape[axis]!;
  if (isStatic(n) && n <= by)
    throw new ShapeError(
      `stft: a signal of ${n} is too short to be mirrored by ${by}\n  take shorter frames, or center: false`,
    );
  const first = sliceAxis(x, axis, 1, by + 1).reverse(axis);
  const last = sliceAxis(x, axis, subDim(n, by + 1), subDim(n, 1)).reverse(axis);
  return concat([first, x, last], axis);
}

/**
 * The signal whose frames have these spectra, as near as can be: overlapping frames are summed and
 * divided by the sum of the squared windows; where that is 0, so is the result. Undoes `stft`.
 *
 * z: [..., bins, frames, 2], bins = ⌊size/2⌋ + 1 → [..., L]. `torch.istft`. Griffin & Lim 1984.
 *
 * @param size Places of a frame.
 * @example
 *   fft.istft(fft.stft(ones([8]), 4), 4) // [1, 1, 1, 1, 1, 1, 1, 1]
 */
export function istft(z: Tensor, size: number, options: IstftOptions = {}): Tensor {
  checkComplex("istft", z);
  const { length, ...frames } = checkOptions("istft", options, istftOptions);
  const { step, window, center } = framesOf("istft", size, frames);
  if (z.rank < 3)
    throw new ShapeError(
      `istft: needs [..., bins, frames, 2], got ${printShape(z.shape)}\n  give it what stft gives`,
    );
  const lead = z.shape.slice(0, -3);
  const count = z.shape.at(-2)!;
  const lines = fourier(swapAxes(z, -2, -3), size, { inverse: true, onesided: true });
  const w = window ?? ones([size]);
  const framed = reshape(lines, [...lead, count, size]).mul(w);
  const extent = addDim(mulDim(subDim(count, 1), step), size);
  const sum = overlapped(framed, size, step, extent);
  const weight = overlapped(w.square().broadcastTo([count, size]), size, step, extent);
  const kept = weight.greater(1e-11);
  const line = select(kept, sum.div(select(kept, weight, 1)), 0);
  const from = center ? Math.floor(size / 2) : 0;
  const to = length === undefined ? subDim(extent, from) : from + length;
  return sliceAxis(line, line.rank - 1, from, to);
}

/** Frames [..., frames, size] summed where they lie: [..., extent]. */
const overlapped = (x: Tensor, size: number, stride: number, extent: Dim): Tensor =>
  foldWindows(x, { size, stride, extent: [extent] });
