/**
 * Repeated numbers, packed or one by one, in a typed array that grows: never more memory than a few times their bytes
 * in the file. Checks no counts.
 */
import type { BinaryReader } from "@bufbuild/protobuf/wire";

export interface Lists {
  readonly ints: readonly number[];
  readonly floats: Float32Array;
  readonly doubles: Float64Array;
  readonly int32s: Int32Array;
  readonly int64s: BigInt64Array;
  readonly uint64s: BigUint64Array;
}
export type ListKind = keyof Lists;

type Numbers = Float32Array | Float64Array | Int32Array | BigInt64Array | BigUint64Array;

/** The first `length` entries of `array` are read. */
export interface Growing {
  array: Numbers;
  length: number;
}

interface Row {
  readonly make: (size: number) => Numbers;
  readonly read: (reader: BinaryReader) => number | bigint;
  /** Bytes of an element where they are fixed. */
  readonly width?: number;
}

const rows: Readonly<Record<ListKind, Row>> = {
  ints: { make: (n) => new BigInt64Array(n), read: (r) => BigInt(r.int64()) },
  floats: { make: (n) => new Float32Array(n), read: (r) => r.float(), width: 4 },
  doubles: { make: (n) => new Float64Array(n), read: (r) => r.double(), width: 8 },
  int32s: { make: (n) => new Int32Array(n), read: (r) => r.int32() },
  int64s: { make: (n) => new BigInt64Array(n), read: (r) => BigInt(r.int64()) },
  uint64s: { make: (n) => new BigUint64Array(n), read: (r) => BigInt(r.uint64()) },
};

/** Appends one number, or those that are packed up to `end`. Throws what the wire module throws. */
export function readList(
  reader: BinaryReader,
  bytes: Uint8Array,
  kind: ListKind,
  list: Growing | undefined,
  end: number | undefined,
): Growing {
  const { make, read, width } = rows[kind];
  const into = list ?? { array: make(0), length: 0 };
  const first = reader.pos;
  const count = end === undefined ? 1 : countIn(bytes, first, end, width);
  reserve(into, make, count);
  for (let i = 0; i < count; i++) into.array[into.length++] = read(reader);
  if (end !== undefined && reader.pos !== end)
    throw new RangeError(`packed numbers take ${reader.pos - first} bytes of ${end - first}`);
  return into;
}

function countIn(bytes: Uint8Array, from: number, end: number, width: number | undefined): number {
  if (width !== undefined) return Math.floor((end - from) / width);
  let count = 0;
  // The last byte of a varint is the one without its highest bit.
  for (let i = from; i < end; i++) if (bytes[i]! < 128) count++;
  return count;
}

function reserve(list: Growing, make: Row["make"], more: number): void {
  const needed = list.length + more;
  if (needed <= list.array.length) return;
  const grown = make(Math.max(needed, list.length > 0 ? 2 * list.length : 0));
  // Both are made by one row.
  (grown as Float64Array).set(list.array as Float64Array);
  list.array = grown;
}

const filled = <A extends Numbers>(list: Growing | undefined, empty: A): A =>
  list ? (list.array.subarray(0, list.length) as A) : empty;

/** What was read of each kind. */
export const listIn: { readonly [K in ListKind]: (list: Growing | undefined) => Lists[K] } = {
  ints: (list) => Array.from(filled(list, new BigInt64Array()), toNumber),
  floats: (list) => filled(list, new Float32Array()),
  doubles: (list) => filled(list, new Float64Array()),
  int32s: (list) => filled(list, new Int32Array()),
  int64s: (list) => filled(list, new BigInt64Array()),
  uint64s: (list) => filled(list, new BigUint64Array()),
};

/** An int64 as a number; beyond ±(2⁵³ − 1) that bound, as exporters write the greatest int64 for "to the end". */
export function toNumber(value: bigint): number {
  const bound = Number.MAX_SAFE_INTEGER;
  return Math.max(-bound, Math.min(bound, Number(value)));
}
