/**
 * How TensorProto stores the elements of each type: array, bits in raw data, and the field for numbers that are not
 * raw. Converts nothing.
 */
import type { ElementType, TensorData } from "./model.ts";

/** The fields for numbers; which one is used is up to the element type. */
export type NumberField = "floats" | "int32s" | "int64s" | "doubles" | "uint64s";

export interface Storage {
  /** Bits of one element in raw data; those of fewer than 8 are packed, low bits first. */
  readonly bits: number;
  /** Entries of `data` an element: 2 for complex numbers. */
  readonly entries: number;
  readonly field: NumberField;
  readonly signed: boolean;
  readonly make: (size: number) => Exclude<TensorData, readonly string[]>;
  /** A view; the place must be aligned. */
  readonly view: (buffer: ArrayBufferLike, offset: number, size: number) => TensorData;
}

type Maker = {
  new (size: number): Exclude<TensorData, readonly string[]>;
  new (buffer: ArrayBufferLike, offset: number, size: number): TensorData;
};

function row(
  bits: number,
  array: unknown,
  field: NumberField,
  { signed = false, entries = 1 } = {},
): Storage {
  const Make = array as Maker;
  return {
    bits,
    entries,
    field,
    signed,
    make: (size) => new Make(size),
    view: (buffer, offset, size) => new Make(buffer, offset, size),
  };
}

const signed = { signed: true };

/** Every element type but string, which has only `string_data`. */
export const storages: Readonly<Record<Exclude<ElementType, "string">, Storage>> = {
  float32: row(32, Float32Array, "floats"),
  float64: row(64, Float64Array, "doubles"),
  complex64: row(64, Float32Array, "floats", { entries: 2 }),
  complex128: row(128, Float64Array, "doubles", { entries: 2 }),
  float16: row(16, Uint16Array, "int32s"),
  bfloat16: row(16, Uint16Array, "int32s"),
  int8: row(8, Int8Array, "int32s", signed),
  uint8: row(8, Uint8Array, "int32s"),
  int16: row(16, Int16Array, "int32s", signed),
  uint16: row(16, Uint16Array, "int32s"),
  int32: row(32, Int32Array, "int32s", signed),
  uint32: row(32, Uint32Array, "uint64s"),
  int64: row(64, BigInt64Array, "int64s", signed),
  uint64: row(64, BigUint64Array, "uint64s"),
  bool: row(8, Uint8Array, "int32s"),
  float8e4m3fn: row(8, Uint8Array, "int32s"),
  float8e4m3fnuz: row(8, Uint8Array, "int32s"),
  float8e5m2: row(8, Uint8Array, "int32s"),
  float8e5m2fnuz: row(8, Uint8Array, "int32s"),
  float8e8m0: row(8, Uint8Array, "int32s"),
  uint4: row(4, Uint8Array, "int32s"),
  int4: row(4, Int8Array, "int32s", signed),
  float4e2m1: row(4, Uint8Array, "int32s"),
  uint2: row(2, Uint8Array, "int32s"),
  int2: row(2, Int8Array, "int32s", signed),
};
