/**
 * Elements as files store them → the dtypes Kiln has: little-endian, 64-bit integers narrowed to 32 bits and 16-bit ones
 * widened. Nothing is rounded or wrapped: a value that does not fit is an error that says which.
 */
import type { Constant } from "@kiln-ml/artifact";
import type { Dtype } from "@kiln-ml/ir";
import { type Fail, quoted, type Reading } from "./reading.ts";

/** An element type of a file. */
export type Stored = Dtype | "i64" | "u64" | "i16" | "u16";

interface Facts {
  readonly bytes: number;
  readonly dtype: Dtype;
}

// biome-ignore format: one type a row
const facts: Readonly<Record<Stored, Facts>> = {
  f64:  { bytes: 8, dtype: "f64" },
  f32:  { bytes: 4, dtype: "f32" },
  f16:  { bytes: 2, dtype: "f16" },
  bf16: { bytes: 2, dtype: "bf16" },
  i64:  { bytes: 8, dtype: "i32" },
  u64:  { bytes: 8, dtype: "u32" },
  i32:  { bytes: 4, dtype: "i32" },
  u32:  { bytes: 4, dtype: "u32" },
  i16:  { bytes: 2, dtype: "i32" },
  u16:  { bytes: 2, dtype: "i32" },
  i8:   { bytes: 1, dtype: "i8" },
  u8:   { bytes: 1, dtype: "u8" },
  bool: { bytes: 1, dtype: "bool" },
};

/** Bytes of one element in the file. */
export const storedBytes = (stored: Stored): number => facts[stored].bytes;

export interface StoredTensor {
  readonly stored: Stored;
  readonly shape: readonly number[];
  /** Row-major and packed. */
  readonly bytes: Uint8Array;
  readonly bigEndian?: boolean;
  /** The name and the offset that errors tell. */
  readonly name: string;
  readonly offset: number;
}

/**
 * The tensor as a constant. Its data are a view of `bytes` where those can be used as they are.
 *
 * Throws ArtifactError for an integer beyond its 32-bit type, and for a boolean that is not 0 or 1.
 */
export function constantOf(tensor: StoredTensor, reading: Reading): Constant {
  const { stored, shape, name, offset } = tensor;
  const { dtype, bytes: width } = facts[stored];
  const called = `tensor ${quoted(name)}`;
  const failAt = (what: string, element: number): never =>
    reading.fail(`${called}: element ${element} ${what}`, offset + element * width);
  const wider = stored === "i16" || stored === "u16";
  // Views cost nothing, however many share their bytes; what is read through counts each time.
  if (!isView(tensor)) reading.take(tensor.bytes.length * (wider ? 2 : 1), called, offset);
  const bytes = tensor.bigEndian && width > 1 ? swapped(tensor.bytes, width) : tensor.bytes;
  if (stored === "bool") {
    const odd = bytes.findIndex((b) => b > 1);
    if (odd >= 0) failAt(`is ${bytes[odd]}, a boolean is 0 or 1`, odd);
  }
  if (stored === "i64" || stored === "u64")
    return { dtype, shape, data: narrowed(bytes, stored, failAt) };
  if (wider) return { dtype, shape, data: widened(bytes, stored) };
  const data = bytes.byteOffset % width === 0 ? bytes : bytes.slice();
  return { dtype, shape, data };
}

/** Whether the bytes can be used as they stand. */
function isView({ stored, bytes, bigEndian }: StoredTensor): boolean {
  const { bytes: width, dtype } = facts[stored];
  return (
    dtype === stored &&
    dtype !== "bool" &&
    bytes.byteOffset % width === 0 &&
    (width === 1 || !bigEndian)
  );
}

function swapped(bytes: Uint8Array, width: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i += width)
    for (let k = 0; k < width; k++) out[i + k] = bytes[i + width - 1 - k]!;
  return out;
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function narrowed(
  bytes: Uint8Array,
  stored: "i64" | "u64",
  failAt: (what: string, element: number) => never,
): Uint8Array {
  const from = viewOf(bytes);
  const out = new Uint8Array(bytes.length / 2);
  const to = viewOf(out);
  for (let i = 0; i < out.length; i += 4) {
    const low = from.getInt32(2 * i, true);
    const high = from.getInt32(2 * i + 4, true);
    if (stored === "i64" && high !== low >> 31)
      failAt(`is ${from.getBigInt64(2 * i, true)}, which i32 cannot hold`, i / 4);
    if (stored === "u64" && high !== 0)
      failAt(`is ${from.getBigUint64(2 * i, true)}, which u32 cannot hold`, i / 4);
    to.setInt32(i, low, true);
  }
  return out;
}

function widened(bytes: Uint8Array, stored: Stored): Uint8Array {
  const from = viewOf(bytes);
  const out = new Uint8Array(bytes.length * 2);
  const to = viewOf(out);
  for (let i = 0; i < bytes.length; i += 2)
    to.setInt32(2 * i, stored === "i16" ? from.getInt16(i, true) : from.getUint16(i, true), true);
  return out;
}

/** Refuses `found` bytes where a tensor of `count` elements takes another number. */
export function checkLength(
  { stored, name, offset }: Pick<StoredTensor, "stored" | "name" | "offset">,
  shape: readonly number[],
  count: number,
  found: number,
  fail: Fail,
): void {
  const needed = count * facts[stored].bytes;
  if (needed !== found)
    fail(
      `tensor ${quoted(name)}: ${stored}[${shape.join(",")}] takes ${needed} bytes, the file has ${found}`,
      offset,
    );
}
