/**
 * Host data: typed arrays in the storage form of each dtype (f16 and bf16 as bit patterns in
 * Uint16Array, bool as bytes), and nested JavaScript arrays read into them. Knows no nodes.
 */
import { type Dtype, isHalf, isInteger, maxOf, minOf, roundTo } from "./dtype.ts";
import { DtypeError, ShapeError } from "./errors.ts";

export type HostArray =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Uint16Array
  | Int8Array
  | Uint8Array;

/**
 * A number or boolean, or lists of them nested to one depth with equal lengths; the innermost may
 * be typed arrays.
 */
export type Nested = number | boolean | HostArray | Uint8ClampedArray | readonly Nested[];

/** What some engines have for f16; others, and bf16 everywhere, have bits in a Uint16Array. */
export interface Float16Values extends ArrayLike<number>, ArrayBufferView {
  readonly [Symbol.toStringTag]: "Float16Array";
}

export type HostValues = Nested | Float16Values;

/** A zeroed array of `size` elements in the storage form of `dtype`. */
export function allocateHost(dtype: Dtype, size: number): HostArray {
  switch (dtype) {
    case "f64":
      return new Float64Array(size);
    case "f32":
      return new Float32Array(size);
    case "f16":
    case "bf16":
      return new Uint16Array(size);
    case "i32":
      return new Int32Array(size);
    case "u32":
      return new Uint32Array(size);
    case "i8":
      return new Int8Array(size);
    case "u8":
    case "bool":
      return new Uint8Array(size);
    default:
      throw new DtypeError(`host: unknown dtype ${String(dtype satisfies never)}`);
  }
}

/** Numbers rounded to `dtype`, in its storage form. */
export function toHost(dtype: Dtype, values: ArrayLike<number>): HostArray {
  const out = allocateHost(dtype, values.length);
  if (dtype === "f32" || dtype === "f64") {
    // Rounds as roundTo does, many times faster.
    out.set(values);
    return out;
  }
  const encode = dtype === "f16" ? encodeF16 : dtype === "bf16" ? encodeBf16 : undefined;
  for (let i = 0; i < values.length; i++) {
    const x = roundTo(dtype, values[i]!);
    out[i] = encode ? encode(x) : x;
  }
  return out;
}

/**
 * A typed array or a flat list in the storage form of `dtype`, copied. A Uint16Array holds the bits
 * of a half where `dtype` is one, as what `data()` gives does; every other array holds numbers,
 * which are rounded.
 */
export function storedForm(
  dtype: Dtype,
  values: ArrayLike<number> | HostArray | Float16Values,
): HostArray {
  if (isFloat16(values)) {
    const bits = new Uint16Array(values.buffer, values.byteOffset, values.length);
    return dtype === "f16" ? bits.slice() : toHost(dtype, fromHost("f16", bits));
  }
  if (values instanceof Uint16Array && isHalf(dtype)) return values.slice();
  return toHost(dtype, values);
}

const isFloat16 = (x: unknown): x is Float16Values =>
  ArrayBuffer.isView(x) && (x as Float16Values)[Symbol.toStringTag] === "Float16Array";

/**
 * The numbers that a storage array stands for. No counterpart in PyTorch.
 *
 * @param dtype The dtype that the array stores.
 * @param stored A typed array: bits of f16 and bf16, 0 and 1 of bool.
 * @example
 *   fromHost("f16", Uint16Array.of(0x3c00, 0xc000)) // [1, −2]
 */
export function fromHost(dtype: Dtype, stored: HostArray): Float64Array {
  const decode = dtype === "f16" ? decodeF16 : dtype === "bf16" ? decodeBf16 : undefined;
  if (!decode) return Float64Array.from(stored);
  return Float64Array.from(stored, decode);
}

const one = new Float32Array(1);
const bits = new Uint32Array(one.buffer);

function encodeBf16(x: number): number {
  one[0] = x;
  return bits[0]! >>> 16;
}

function decodeBf16(stored: number): number {
  bits[0] = stored << 16;
  return one[0]!;
}

/** IEEE 754 binary16; `x` is already a value of that format. */
function encodeF16(x: number): number {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const a = Math.abs(x);
  if (Number.isNaN(a)) return 0x7e00;
  if (a === Infinity) return sign | 0x7c00;
  if (a < 2 ** -14) return sign | (a * 2 ** 24);
  const exponent = Math.floor(Math.log2(a));
  return sign | ((exponent + 15) << 10) | ((a / 2 ** exponent - 1) * 1024);
}

function decodeF16(stored: number): number {
  const sign = stored & 0x8000 ? -1 : 1;
  const exponent = (stored >> 10) & 31;
  const fraction = stored & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

/** The dtype that a typed array holds when none is named; undefined for lists and scalars. */
export function dtypeOfArray(values: HostValues): Dtype | undefined {
  if (values instanceof Float64Array) return "f64";
  if (values instanceof Float32Array) return "f32";
  if (isFloat16(values)) return "f16";
  if (values instanceof Int32Array) return "i32";
  if (values instanceof Uint32Array) return "u32";
  if (values instanceof Int8Array) return "i8";
  if (values instanceof Uint8Array || values instanceof Uint8ClampedArray) return "u8";
  if (ArrayBuffer.isView(values))
    throw new DtypeError(
      `tensor: a ${values.constructor.name} has no dtype of its own\n  ${values instanceof Uint16Array ? 'of bits of halves, say which: { dtype: "f16" } or "bf16"' : "copy it into a Float32Array or an Int32Array first"}`,
    );
  return undefined;
}

export const isTypedArray = (x: HostValues): x is HostArray | Uint8ClampedArray | Float16Values =>
  ArrayBuffer.isView(x);

type Row = HostArray | Uint8ClampedArray | readonly Nested[];

const isRow = (v: Nested | undefined): v is Row => Array.isArray(v) || ArrayBuffer.isView(v);

/**
 * Shape and row-major elements of nested lists, and the dtype where they are typed arrays inside.
 * Throws ShapeError at the first place that is ragged, DtypeError at one that is no number or
 * boolean.
 */
export function flattenNested(values: Nested): {
  shape: number[];
  flat: (number | boolean)[];
  dtype: Dtype | undefined;
} {
  const shape: number[] = [];
  let inner: Nested | undefined = values;
  for (; isRow(inner); inner = inner[0]) {
    shape.push(inner.length);
    if (ArrayBuffer.isView(inner)) break;
  }
  const flat: (number | boolean)[] = [];
  const visit = (v: Nested, place: number[]): void => {
    const extent = shape[place.length];
    const length = isRow(v) ? v.length : undefined;
    if (length !== extent)
      throw new ShapeError(
        `tensor: nested lists are ragged: [${place.join("][")}] has ${describe(length)}, expected ${describe(extent)}\n  make all lists of one depth as long as the first, or pad them`,
      );
    if (Array.isArray(v)) for (const [i, x] of v.entries()) visit(x, [...place, i]);
    else if (isRow(v)) for (const x of v as HostArray) flat.push(x);
    else flat.push(elementOf(v, place));
  };
  visit(values, []);
  return { shape, flat, dtype: isRow(inner) ? dtypeOfArray(inner) : undefined };
}

function elementOf(v: unknown, place: readonly number[]): number | boolean {
  if (typeof v === "number" || typeof v === "boolean") return v;
  throw new DtypeError(
    `tensor: element [${place.join("][")}] is ${typeof v === "string" ? JSON.stringify(v) : String(v)}, not a number or boolean`,
  );
}

/**
 * Elements of lists in the storage form of `dtype`. Throws DtypeError for one that an integer dtype
 * does not have, rather than cut it: a typed array or `convert` is for that.
 */
export function listToHost(
  where: string,
  dtype: Dtype,
  flat: readonly (number | boolean)[],
): HostArray {
  if (isInteger(dtype)) {
    const [low, high] = [minOf(dtype), maxOf(dtype)];
    const bad = flat.find(
      (x) => typeof x === "number" && !(Number.isInteger(x) && x >= low && x <= high),
    );
    if (bad !== undefined) throw new DtypeError(`${where} must be ${dtype}, got ${bad}`);
  }
  return toHost(dtype, flat as ArrayLike<number>);
}

const describe = (length: number | undefined): string =>
  length === undefined ? "a scalar" : `length ${length}`;
