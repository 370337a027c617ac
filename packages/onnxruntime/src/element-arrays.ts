/**
 * Element types of tensors and the arrays that hold them. 16-bit floats are in a Float16Array where the engine has one, else in a
 * Uint16Array of bits; both are taken. Types of 4 bits may hold an element or two in a byte.
 */

/** What holds the elements of each type. */
export interface ElementArrays {
  float32: Float32Array;
  uint8: Uint8Array;
  int8: Int8Array;
  uint16: Uint16Array;
  int16: Int16Array;
  int32: Int32Array;
  int64: BigInt64Array;
  string: string[];
  bool: Uint8Array;
  float16: Uint16Array;
  float64: Float64Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  uint4: Uint8Array;
  int4: Int8Array;
}

export type ElementType = keyof ElementArrays;
export type NumberArray = Exclude<ElementArrays[ElementType], string[]>;

export type ArrayClass = {
  new (length: number): NumberArray;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): NumberArray;
  from(values: ArrayLike<unknown>, map?: (value: unknown) => unknown): NumberArray;
  readonly name: string;
};

const float16 = (globalThis as { Float16Array?: unknown }).Float16Array as ArrayClass | undefined;

// biome-ignore format: one element type a row
const classes: Readonly<Record<Exclude<ElementType, "string">, unknown>> = {
  float32: Float32Array, float64: Float64Array, float16: float16 ?? Uint16Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array, int4: Int8Array, uint4: Uint8Array,
};

/** The array of a type; undefined for strings, and for what is no type. */
export const classOf = (type: string): ArrayClass | undefined =>
  Object.hasOwn(classes, type) ? (classes[type as keyof typeof classes] as ArrayClass) : undefined;

/** True for an array that holds elements of the type as they are. */
export function holds(type: ElementType, data: unknown): data is NumberArray {
  if (type === "float16" && data instanceof Uint16Array) return true;
  if (type === "int4" && data instanceof Uint8Array) return true;
  const wanted = classOf(type) as unknown as (new () => unknown) | undefined;
  return wanted !== undefined && data instanceof wanted;
}

const inferred: readonly (readonly [ElementType, unknown])[] = [
  ["float32", Float32Array],
  ["uint8", Uint8Array],
  ["uint8", Uint8ClampedArray],
  ["int8", Int8Array],
  ["uint16", Uint16Array],
  ["int16", Int16Array],
  ["int32", Int32Array],
  ["uint32", Uint32Array],
  ["int64", BigInt64Array],
  ["uint64", BigUint64Array],
  ["float64", Float64Array],
  ...(float16 ? ([["float16", float16]] as const) : []),
];

/** The type that an array stands for where none is given. */
export const typeOfArray = (data: unknown): ElementType | undefined =>
  inferred.find(([, array]) => data instanceof (array as new () => unknown))?.[0];

export const isElementType = (type: unknown): type is ElementType =>
  type === "string" || (typeof type === "string" && classOf(type) !== undefined);

const isNibble = (type: string): boolean => type === "int4" || type === "uint4";

/** True if an array of `length` holds `size` elements. */
export const fitsSize = (type: ElementType, length: number, size: number): boolean =>
  length === size || (isNibble(type) && length === Math.ceil(size / 2));

/** An element each, of what holds two elements of 4 bits in a byte, the first in the low bits. */
export function unpacked(type: ElementType, data: NumberArray, size: number): NumberArray {
  if (!isNibble(type) || data.length === size) return data;
  const out = new (classOf(type) as ArrayClass)(size) as Int8Array;
  for (let i = 0; i < size; i++) {
    const bits = (Number(data[i >> 1]) >> (4 * (i & 1))) & 15;
    out[i] = type === "int4" && bits > 7 ? bits - 16 : bits;
  }
  return out;
}

/** Two elements of 4 bits in a byte. */
export function packed(type: ElementType, data: NumberArray): NumberArray {
  if (!isNibble(type)) return data;
  const out = new (classOf(type) as ArrayClass)(Math.ceil(data.length / 2)) as Uint8Array;
  for (let i = 0; i < data.length; i++)
    out[i >> 1] = out[i >> 1]! | ((Number(data[i]) & 15) << (4 * (i & 1)));
  return out;
}

/** The same memory as bits, for what takes 16-bit floats so. */
export const asBits = (data: NumberArray): NumberArray =>
  float16 && data instanceof (float16 as unknown as new () => unknown)
    ? new Uint16Array((data as Uint16Array).buffer, data.byteOffset, data.length)
    : data;

/** The same memory in the array that results of the type have. */
export const asResult = (type: ElementType, data: NumberArray): NumberArray =>
  type === "float16" && float16
    ? new float16(data.buffer as ArrayBuffer, data.byteOffset, data.length)
    : packed(type, data);
