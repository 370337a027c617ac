/**
 * WAV files: PCM of 8, 16, 24 and 32 bits and floats of 32 and 64, as samples from −1 to 1. Reads
 * no compressed ones.
 */

import { ArtifactError, checkOptions, type OptionNames } from "@kiln-ml/ir";
import { checkBytes } from "./check.ts";

export interface Wave {
  /** f32[channels, samples], one channel after the other. */
  readonly data: Float32Array;
  readonly channels: number;
  /** Samples a channel. */
  readonly length: number;
  /** Samples a second. */
  readonly rateHz: number;
}

export interface WavOptions {
  /** What errors call the file; "wav" by default. */
  readonly name?: string;
}

const wavOptions: OptionNames<WavOptions> = { name: 1 };

interface Format {
  readonly code: number;
  readonly channels: number;
  readonly rateHz: number;
  readonly bits: number;
}

const readers: Readonly<Record<string, (view: DataView, at: number) => number>> = {
  // 8 bits are unsigned, with silence at 128.
  "1/8": (v, at) => (v.getUint8(at) - 128) / 128,
  "1/16": (v, at) => v.getInt16(at, true) / 2 ** 15,
  "1/24": (v, at) => (v.getUint16(at, true) + v.getInt8(at + 2) * 2 ** 16) / 2 ** 23,
  "1/32": (v, at) => v.getInt32(at, true) / 2 ** 31,
  "3/32": (v, at) => v.getFloat32(at, true),
  "3/64": (v, at) => v.getFloat64(at, true),
};

/**
 * The samples of a RIFF WAVE file. Throws ArtifactError for a damaged file or an encoding that is
 * none of the above. `torchaudio.load`, `scipy.io.wavfile.read`.
 *
 * @param bytes The bytes of the file.
 * @example
 *   const { rateHz, data } = readWav(bytes); // of a file of two samples
 *   rateHz // 8000
 *   data // [0, ½]
 */
export function readWav(bytes: Uint8Array, options: WavOptions = {}): Wave {
  checkBytes("readWav", bytes);
  const { name = "wav" } = checkOptions("readWav", options, wavOptions);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || tag(0) !== "RIFF" || tag(8) !== "WAVE")
    throw new ArtifactError(`${name}: is no WAV file: starts with ${JSON.stringify(tag(0))}`);
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (tag(at) === "fmt ") format = formatAt(view, start, size, name);
    // What is written to a pipe has no size, as its end was not known.
    const isOpen = size === 0xffffffff || size === 0;
    if (tag(at) === "data") {
      if (!isOpen && start + size > bytes.length)
        throw new ArtifactError(
          `${name}: is cut: samples end at byte ${start + size}, the file has ${bytes.length}`,
        );
      return samplesOf(view, start, isOpen ? bytes.length - start : size, format, name);
    }
    at = start + size + (size % 2);
  }
  throw new ArtifactError(`${name}: has no samples`);
}

function formatAt(view: DataView, at: number, size: number, name: string): Format {
  if (size < 16 || at + size > view.byteLength)
    throw new ArtifactError(`${name}: its format is cut`);
  const code = view.getUint16(at, true);
  return {
    // The extensible form has the code of the encoding further behind.
    code: code === 0xfffe && size >= 26 ? view.getUint16(at + 24, true) : code,
    channels: view.getUint16(at + 2, true),
    rateHz: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
  };
}

function samplesOf(
  view: DataView,
  start: number,
  size: number,
  format: Format | undefined,
  name: string,
): Wave {
  if (!format) throw new ArtifactError(`${name}: samples come before their format`);
  const { code, channels, rateHz, bits } = format;
  const read = readers[`${code}/${bits}`];
  if (!read || channels < 1)
    throw new ArtifactError(
      `${name}: encoding ${code} of ${bits} bits in ${channels} channels is not PCM or float\n  convert it: ffmpeg -i in.wav -c:a pcm_s16le out.wav`,
    );
  const step = bits / 8;
  const length = Math.floor(size / (step * channels));
  const data = new Float32Array(channels * length);
  for (let i = 0, at = start; i < length; i++)
    for (let c = 0; c < channels; c++, at += step) data[c * length + i] = read(view, at);
  return { data, channels, length, rateHz };
}
