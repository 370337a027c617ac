/**
 * What Whisper hears: spectra of a sound in mel bands, as its own features are made.
 */
import { fft, type Tensor, tensor } from "kiln-ml/ir";

/** Samples a second, of a frame, and from one frame to the next. */
export const sound = { rateHz: 16_000, size: 400, hop: 160 } as const;

/** Slaney's scale: even up to 1,000 Hz, logarithmic above. */
const [kneeHz, knee, ratio] = [1000, 15, Math.log(6.4) / 27];
const toMel = (hz: number): number =>
  hz < kneeHz ? (3 * hz) / 200 : knee + Math.log(hz / kneeHz) / ratio;
const toHz = (mel: number): number =>
  mel < knee ? (200 * mel) / 3 : kneeHz * Math.exp(ratio * (mel - knee));

/** Triangles of equal area, from 0 to half the rate: f32[bands, bins]. */
function triangles(bands: number, bins: number): Tensor {
  const top = toMel(sound.rateHz / 2);
  const corner = (i: number): number => toHz((top * i) / (bands + 1));
  const values = Float32Array.from({ length: bands * bins }, (_, at) => {
    const [band, bin] = [Math.floor(at / bins), at % bins];
    const [low, middle, high] = [corner(band), corner(band + 1), corner(band + 2)];
    const hz = (bin * sound.rateHz) / 2 / (bins - 1);
    const height = Math.min((hz - low) / (middle - low), (high - hz) / (high - middle));
    return (Math.max(0, height) * 2) / (high - low);
  });
  return tensor(values, { shape: [bands, bins] });
}

/**
 * (max(L, max L − 8) + 4) / 4 with L = log₁₀ max(M·|S|², 1e-10): S the spectra of Hann windows, M
 * triangles on Slaney's mel scale.
 *
 * x: f32[B, samples] at 16 kHz → f32[B, bands, ⌊samples / 160⌋]. Radford et al. 2022, section 2.2.
 */
export function logMelFeatures(x: Tensor, bands = 80): Tensor {
  const { size, hop } = sound;
  const all = fft.stft(x, size, { hop, window: fft.hannWindow(size) });
  const [b, bins, frames] = all.shape as [number, number, number];
  // The last frame is centred at the end of the sound, and left out.
  const power = all
    .slice([0, 0, 0, 0], [b, bins, frames - 1, 2])
    .square()
    .sum(-1);
  const logs = triangles(bands, bins).matmul(power).maximum(1e-10).log().div(Math.LN10);
  const floor = logs.max([-2, -1], { keepDims: true }).sub(8);
  return logs.maximum(floor).add(4).div(4);
}
