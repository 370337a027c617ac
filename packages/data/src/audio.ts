/**
 * What a page records or decodes as samples: an AudioBuffer, or arrays, at the rate a network
 * takes.
 */
import { checkOptions, GraphError, kindOf, type OptionNames, ShapeError } from "@kiln-ml/ir";
import type { Wave } from "./wav.ts";

/** As much of an AudioBuffer as is read. */
export interface AudioLike {
  readonly numberOfChannels: number;
  readonly length: number;
  readonly sampleRate: number;
  getChannelData(channel: number): Float32Array;
}

export interface FromAudioOptions {
  /** Samples a second that are wanted; those of the source by default. */
  readonly rateHz?: number;
  /** Samples a second of an array, which does not say so itself. */
  readonly sourceHz?: number;
  /** The mean of all channels, as one. */
  readonly mono?: boolean;
}

const fromAudioOptions: OptionNames<FromAudioOptions> = { rateHz: 1, sourceHz: 1, mono: 1 };

/** A wave whose `data` and `shape` a compiled function or a model takes for an input. */
export interface Sound extends Wave {
  readonly shape: [channels: number, samples: number];
}

/**
 * Samples from −1 to 1 as f32[channels, samples], resampled where another rate is wanted.
 *
 * source: an AudioBuffer, the Float32Array of one channel, or one for each. Resampling is a sum of
 * sinc(f · t) under a Hann window, sixteen zero crossings a side, f the lower of both rates over
 * the source's. Throws GraphError for other sources, ShapeError for channels of several lengths.
 * `torchaudio.functional.resample`, and `tf.audio.decode_wav` for what it gives.
 *
 * @example
 *   const stereo = [Float32Array.of(0, 1, 0, 1), Float32Array.of(1, 1, 0, 0)];
 *   const x = data.fromAudio(stereo, { sourceHz: 8000, mono: true });
 *   x.data // [0.5, 1, 0, 0.5]
 *   x.shape // [1, 4]
 *   data.fromAudio(stereo, { sourceHz: 8000, rateHz: 4000 }).shape // [2, 2]
 */
export function fromAudio(
  source: AudioLike | Float32Array | readonly Float32Array[],
  options: FromAudioOptions = {},
): Sound {
  const { rateHz, sourceHz, mono = false } = checkOptions("fromAudio", options, fromAudioOptions);
  const all = channelsOf(source);
  const own = isAudio(source) ? source.sampleRate : sourceHz;
  checkRate("rateHz", rateHz);
  checkRate("sourceHz", own);
  if (rateHz !== undefined && own === undefined)
    throw new GraphError(
      "fromAudio: an array does not say its rate, and rateHz asks for another\n  pass sourceHz, the samples a second of the array",
    );
  const mixed = mono && all.length > 1 ? [meanOf(all)] : all;
  const rate = rateHz ?? own ?? 0;
  const out = mixed.map((x) => (own && rate !== own ? resample(x, own, rate) : x));
  const [channels, length] = [out.length, out[0]!.length];
  const data = new Float32Array(channels * length);
  for (const [c, x] of out.entries()) data.set(x, c * length);
  return { data, shape: [channels, length], channels, length, rateHz: rate };
}

const isAudio = (source: unknown): source is AudioLike =>
  typeof (source as Partial<AudioLike> | null)?.getChannelData === "function";

function channelsOf(source: unknown): readonly Float32Array[] {
  if (isAudio(source))
    return Array.from({ length: source.numberOfChannels }, (_, c) => source.getChannelData(c));
  const list: unknown = source instanceof Float32Array ? [source] : source;
  if (!Array.isArray(list) || list.length === 0 || !list.every((x) => x instanceof Float32Array))
    throw new GraphError(
      `fromAudio: takes an AudioBuffer, a Float32Array, or one for each channel, got ${kindOf(source)}`,
    );
  const lengths = list.map((x) => x.length);
  if (lengths.some((n) => n !== lengths[0]))
    throw new ShapeError(`fromAudio: channels differ in length: ${lengths.join(", ")} samples`);
  return list;
}

function checkRate(name: string, rate: unknown): void {
  if (rate === undefined || (typeof rate === "number" && Number.isFinite(rate) && rate > 0)) return;
  throw new GraphError(
    `fromAudio: ${name} must be above 0, in samples a second, got ${kindOf(rate)}`,
  );
}

function meanOf(channels: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(channels[0]!.length);
  for (let i = 0; i < mean.length; i++) {
    let sum = 0;
    for (const x of channels) sum += x[i]!;
    mean[i] = sum / channels.length;
  }
  return mean;
}

const crossings = 16;

/**
 * y[n] = Σ x[k] · f · sinc(f · (n · from/to − k)) · hann, with weights that sum to 1. Between rates
 * in whole numbers the weights come back after to/gcd samples, and are computed once.
 */
function resample(x: Float32Array, from: number, to: number): Float32Array {
  const step = from / to;
  const f = Math.min(1, to / from);
  const reach = crossings / f;
  const taps = 2 * Math.ceil(reach);
  const y = new Float32Array(Math.round(x.length / step));
  const phases = Number.isInteger(from) && Number.isInteger(to) ? to / gcd(from, to) : y.length;
  const kept: Float64Array[] = [];
  for (let n = 0; n < y.length; n++) {
    // The last sample that is not behind n · step, exactly where rates are whole.
    const base = Math.floor((n * from) / to);
    const phase = n % phases;
    const weights = kept[phase] ?? weightsAt((n * from) / to - base, f, reach, taps);
    if (phases < y.length) kept[phase] = weights;
    const first = base - taps / 2 + 1;
    let [sum, total] = [0, 0];
    const last = Math.min(taps, x.length - first);
    for (let k = Math.max(0, -first); k < last; k++) {
      sum += weights[k]! * x[first + k]!;
      total += weights[k]!;
    }
    y[n] = total === 0 ? 0 : sum / total;
  }
  return y;
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Of the samples around a place that lies `part` of a sample behind one. */
function weightsAt(part: number, f: number, reach: number, taps: number): Float64Array {
  return Float64Array.from({ length: taps }, (_, k) => {
    const t = part - (k - taps / 2 + 1);
    if (Math.abs(t) > reach) return 0;
    const angle = Math.PI * f * t;
    const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
    return sinc * (0.5 + 0.5 * Math.cos((Math.PI * t) / reach));
  });
}
