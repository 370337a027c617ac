/** Arrays for inputs that nobody has: of a picture where one fits, else numbers that are made up. */
import type { ModelValue } from "kiln-ml/model";
import type { Filled } from "./onnx-messages.ts";

type Shaped = Exclude<ModelValue, ArrayBufferView>;

const arrays = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
} as const;

/** Throws TypeError for dtypes that the page has no numbers for. */
export function filled(dtype: string, { shape, picture }: Filled): Shaped {
  const kind = arrays[dtype as keyof typeof arrays];
  if (!kind) throw new TypeError(`fill: there are no numbers for ${dtype} here`);
  const size = shape.reduce((a, b) => a * b, 1);
  const numbers =
    picture && isPicture(shape)
      ? planes(picture, shape, dtype === "u8" ? 1 : 1 / 255)
      : Array.from({ length: size }, (_, i) =>
          dtype.startsWith("f") ? Math.sin(i * 0.37) * 0.5 : i % 2,
        );
  const whole = kind === BigInt64Array || kind === BigUint64Array;
  const data = whole
    ? (kind as BigInt64ArrayConstructor).from(numbers, (v) => BigInt(Math.round(v)))
    : (kind as Float32ArrayConstructor).from(numbers);
  return { data, shape };
}

/** [N, 1 or 3, h, w], as networks of images take them. */
export const isPicture = (shape: readonly unknown[]): boolean =>
  shape.length === 4 && (shape[1] === 1 || shape[1] === 3);

/** Channels of RGBA rows one after another; gray where there is one. */
function planes(rgba: Uint8ClampedArray, shape: readonly number[], scale: number): number[] {
  const [batch, channels, h, w] = shape as [number, number, number, number];
  const at = (i: number, channel: number): number =>
    channels === 3
      ? rgba[4 * i + channel]!
      : 0.299 * rgba[4 * i]! + 0.587 * rgba[4 * i + 1]! + 0.114 * rgba[4 * i + 2]!;
  return Array.from({ length: batch * channels * h * w }, (_, i) => {
    const [channel, place] = [Math.floor(i / (h * w)) % channels, i % (h * w)];
    return at(place, channel) * scale;
  });
}
