/**
 * Sound: spectrograms in mel bands, computed within the step, and bands of them that are masked.
 */
import {
  checkOptions,
  checkTensor,
  constant,
  dimValue,
  fft,
  GraphError,
  iota,
  isStatic,
  kindOf,
  matmul,
  type OptionNames,
  random,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import { checkBatch, perSample, wholePerSample } from "./draws.ts";

export interface MelOptions {
  /** Samples a second. */
  readonly rateHz: number;
  /** Samples a frame, 400 by default. */
  readonly size?: number;
  /** Samples from one frame to the next, half a frame by default. */
  readonly hop?: number;
  /** Bands, 40 by default. */
  readonly mels?: number;
}

const melOptions: OptionNames<MelOptions> = { rateHz: 1, size: 1, hop: 1, mels: 1 };

const toMel = (hz: number): number => 2595 * Math.log10(1 + hz / 700);
const toHz = (mel: number): number => 700 * (10 ** (mel / 2595) - 1);

/** Triangles that overlap by half, evenly in mel from 0 to half the rate: f32[mels, bins]. */
function triangles(mels: number, bins: number, rateHz: number): Tensor {
  const top = toMel(rateHz / 2);
  const corner = (i: number): number => toHz((top * i) / (mels + 1));
  const values = Array.from({ length: mels * bins }, (_, at) => {
    const [band, bin] = [Math.floor(at / bins), at % bins];
    const [low, middle, high] = [corner(band), corner(band + 1), corner(band + 2)];
    const hz = (bin * rateHz) / 2 / (bins - 1);
    return Math.max(0, Math.min((hz - low) / (middle - low), (high - hz) / (high - middle)));
  });
  return tensor(Float32Array.from(values), { shape: [mels, bins] });
}

function checkWhole(what: string, n: number): number {
  if (!Number.isInteger(n) || n < 1)
    throw new GraphError(`logMel: ${what} must be a whole number of 1 or more, got ${kindOf(n)}`);
  return n;
}

/**
 * log(max(M·|S|², 1e-10)): S the spectra of Hann windows of `size` samples, mirrored at the ends, M
 * the bands of HTK's mel scale.
 *
 * x: f32[n, samples] → f32[n, mels, 1 + ⌊samples/hop⌋]. Throws GraphError for a size below 2 or a
 * rate that is no number above 0.
 *
 *   augment.logMel(waves, { rateHz: 16000, size: 400, hop: 160, mels: 40 })
 */
export function logMel(x: Tensor, options: MelOptions): Tensor {
  checkTensor("logMel", x);
  checkBatch("logMel", x, 2, "[n, samples]");
  const { rateHz, size = 400, mels = 40, hop } = checkOptions("logMel", options, melOptions);
  if (typeof rateHz !== "number" || !(rateHz > 0))
    throw new GraphError(
      `logMel: rateHz must be above 0, got ${kindOf(rateHz)}\n  readWav says what a file has`,
    );
  if (checkWhole("size", size) < 2) throw new GraphError("logMel: size must be 2 or more, got 1");
  const step = checkWhole("hop", hop ?? Math.floor(size / 2));
  const spectra = fft.stft(x, size, { hop: step, window: fft.hannWindow(size) });
  // The last axis has the real and the imaginary part.
  const power = spectra.square().sum(-1);
  const bands = triangles(checkWhole("mels", mels), Math.floor(size / 2) + 1, rateHz);
  return matmul(bands, power).maximum(constant(1e-10)).log();
}

export interface MaskOptions {
  /** Bands that a mask covers at most; 0 by default. */
  readonly frequency?: number;
  /** Frames that a mask covers at most; 0 by default. */
  readonly time?: number;
}

const maskOptions: OptionNames<MaskOptions> = { frequency: 1, time: 1 };

/** True where a mask of 0 to `most` places along the axis lies, drawn for each sample. */
function covered(key: Tensor, x: Tensor, axis: 1 | 2, most: number): Tensor {
  const extent = x.shape[axis]!;
  const [a, b] = random.split(key, 2) as [Tensor, Tensor];
  const width = wholePerSample(a, x, 0, most).convert("f32");
  const room = dimValue(extent, "f32").sub(width).add(1);
  const from = perSample(b, x, 0, 1).mul(room).floor();
  const at = iota([extent], 0).convert("f32");
  const places = at.reshape(axis === 1 ? [1, extent, 1] : [1, 1, extent]);
  return places.greaterEqual(from).and(places.less(from.add(width)));
}

function checkMask(what: string, most: number, extent: unknown): number {
  const highest = isStatic(extent as never) ? Number(extent) : Number.MAX_SAFE_INTEGER;
  if (!Number.isInteger(most) || most < 0 || most > highest)
    throw new GraphError(
      `maskBands: ${what} must be a whole number from 0 to ${highest}, got ${kindOf(most)}`,
    );
  return most;
}

/**
 * One mask over frequencies and one over frames of each sample, of widths drawn from 0 to what the
 * options say; what they cover has the mean of the sample.
 *
 * x: float[n, bands, frames]. Park et al. 2019 (SpecAugment), without the warp.
 */
export function maskBands(key: Tensor, x: Tensor, options: MaskOptions = {}): Tensor {
  const { frequency = 0, time = 0 } = checkOptions("maskBands", options, maskOptions);
  checkBatch("maskBands", x, 3, "[n, bands, frames]");
  checkMask("frequency", frequency, x.shape[1]);
  checkMask("time", time, x.shape[2]);
  const [a, b] = random.split(key, 2) as [Tensor, Tensor];
  const hidden = covered(a, x, 1, frequency).or(covered(b, x, 2, time));
  return hidden.where(x.mean([1, 2], { keepDims: true }), x);
}
