/**
 * Host memory by dtype: which typed array holds which dtype, and the two borders a value crosses:
 * JavaScript numbers ↔ typed arrays, and typed arrays ↔ the wider form that webgpu stores. Knows
 * nothing of devices.
 */
import { type Artifact, DtypeError, ShapeError, storageBytes } from "@kiln-ml/artifact";

export type Dtype = Artifact["constants"][number]["dtype"];
export type Target = Artifact["target"];

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Int8Array
  | Uint8Array
  | Uint16Array;

type TypedArrayConstructor = {
  new (length: number): TypedArray;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): TypedArray;
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
};

/**
 * f16 and bf16 are held as bits: JavaScript has no array of the one until ES2025 and none of the
 * other.
 */
const hostArrays: Record<Dtype, TypedArrayConstructor> = {
  f64: Float64Array,
  f32: Float32Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i8: Int8Array,
  u8: Uint8Array,
  bool: Uint8Array,
};

export const hostArrayOf = (dtype: Dtype): TypedArrayConstructor => hostArrays[dtype];

export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1);

/** Throws DtypeError unless `array` is the typed array that holds `dtype`. */
export function checkHostArray(where: string, array: unknown, dtype: Dtype): void {
  const want = hostArrays[dtype];
  if (array instanceof want) return;
  const got = (array as object | null)?.constructor?.name ?? String(array);
  throw new DtypeError(
    `${where} is ${dtype}, which takes a ${want.name}, got ${got}\n  copy it into such an array: new Float32Array(x) for f32`,
  );
}

/**
 * `host` as the array of `dtype` with as many elements as `shape`. Throws DtypeError or ShapeError.
 */
export function hostArray(
  where: string,
  host: TypedArray | readonly number[],
  dtype: Dtype,
  shape: readonly number[],
): TypedArray {
  const array = Array.isArray(host)
    ? fromNumbers(host as readonly number[], dtype)
    : (host as TypedArray);
  checkHostArray(`${where}: the array`, array, dtype);
  if (array.length === sizeOf(shape)) return array;
  throw new ShapeError(
    `${where}: shape [${shape}] has ${sizeOf(shape)} elements, the host array ${array.length}\n  give data and shape as many elements`,
  );
}

/** The host array of `dtype` nearest to the numbers. */
export function fromNumbers(numbers: readonly number[], dtype: Dtype): TypedArray {
  const out = new hostArrays[dtype](numbers.length);
  const encode = encoders[dtype];
  if (encode) for (let i = 0; i < numbers.length; i++) out[i] = encode(numbers[i]!);
  else out.set(numbers);
  return out;
}

/** Element `i` as a number; f16 and bf16 are decoded from their bits. */
export function numberAt(array: TypedArray, dtype: Dtype, i: number): number {
  const x = array[i]!;
  if (dtype === "bf16") {
    wordBits[0] = x << 16;
    return word[0]!;
  }
  return dtype === "f16" ? f16Value(x) : x;
}

/**
 * The array as `target` stores it: webgpu has no bytes, so bool, i8 and u8 take four each there.
 */
export function toStorage(array: TypedArray, dtype: Dtype, target: Target): TypedArray {
  if (storageBytes(dtype, target) === array.BYTES_PER_ELEMENT) return array;
  return dtype === "i8" ? Int32Array.from(array) : Uint32Array.from(array);
}

/**
 * The inverse of `toStorage`, for the first `size` elements of `bytes`; the result may share
 * `bytes`.
 */
export function fromStorage(
  bytes: ArrayBufferLike,
  dtype: Dtype,
  size: number,
  target: Target,
): TypedArray {
  const Host = hostArrays[dtype];
  if (storageBytes(dtype, target) === Host.BYTES_PER_ELEMENT) return new Host(bytes, 0, size);
  const wide = new Int32Array(bytes, 0, size);
  const out = new Host(size);
  out.set(wide);
  return out;
}

const encoders: Partial<Record<Dtype, (x: number) => number>> = {
  f16: f16Bits,
  bf16: bf16Bits,
  bool: (x) => (x ? 1 : 0),
};

const word = new Float32Array(1);
const wordBits = new Uint32Array(word.buffer);

function bf16Bits(x: number): number {
  word[0] = x;
  let b = wordBits[0]!;
  if (Number.isNaN(x)) return (b >>> 16) | 0x40;
  // What f32 loses leaves a mark in the last bit, which breaks ties, so that x is rounded once and
  // not twice.
  if (word[0] !== x) b = (b - (Math.abs(word[0]!) > Math.abs(x) ? 1 : 0)) | 1;
  return (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
}

/** IEEE 754 binary16, ties to even. */
function f16Bits(x: number): number {
  if (Number.isNaN(x)) return 0x7e00;
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const a = Math.abs(x);
  if (a >= 65520) return sign | 0x7c00;
  const exponent = a === 0 ? -14 : Math.max(Math.floor(Math.log2(a)), -14);
  const q = a / 2 ** (exponent - 10);
  const f = Math.floor(q);
  const r = q - f;
  const n = r > 0.5 || (r === 0.5 && f % 2 === 1) ? f + 1 : f;
  // n includes the hidden bit of a normal number, so that a carry runs into the exponent by itself.
  return sign + (n < 1024 ? n : (exponent + 14) * 1024 + n);
}

function f16Value(b: number): number {
  const sign = b & 0x8000 ? -1 : 1;
  const e = (b >> 10) & 31;
  const m = b & 1023;
  if (e === 31) return m ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (e === 0 ? m * 2 ** -24 : (1024 + m) * 2 ** (e - 25));
}
