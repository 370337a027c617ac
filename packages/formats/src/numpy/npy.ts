/**
 * NumPy's `.npy`: a magic, a version, a header of text, the elements. Numbers and booleans only: arrays of objects are
 * pickles, and those of records, texts, dates and complex numbers have no dtype here.
 */
import { ArtifactError, type Constant, checkOptions } from "@kiln-ml/artifact";
import { checkLength, constantOf, storedBytes } from "../elements.ts";
import {
  beginReading,
  countOf,
  type Fail,
  plainBytes,
  quoted,
  type Reading,
  type ReadOptions,
  readOptions,
} from "../reading.ts";
import { numpyDtypeOf, numpyNameOf, rowMajor } from "./dtype.ts";
import { readHeader } from "./header.ts";

/** The first bytes of every `.npy` file. */
export const npyMagic: readonly number[] = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** NumPy itself refuses more than 10,000; a shape of 32 sizes needs fewer than 1,000. */
const longestHeader = 65_536;

/** Where an array stands in a file, and what errors call it. */
interface NpyPlace {
  readonly bytes: Uint8Array;
  readonly start: number;
  /** The offset of the file at which `bytes` begin. */
  readonly base: number;
  readonly name: string;
}

/** The text of the header that begins at `start`, and where it stands. */
function headerText(
  { bytes, start, base }: NpyPlace,
  fail: Fail,
): { readonly text: string; readonly from: number; readonly end: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length - start < 12 || npyMagic.some((b, i) => bytes[start + i] !== b))
    fail("not a .npy file: it does not begin with \\x93NUMPY", base + start);
  const version = bytes[start + 6]!;
  if (version < 1 || version > 3) fail(`version ${version} is not one of 1 to 3`, base + start + 6);
  const wide = version > 1;
  const length = wide ? view.getUint32(start + 8, true) : view.getUint16(start + 8, true);
  const from = start + (wide ? 12 : 10);
  const end = from + length;
  if (length > longestHeader || end > bytes.length)
    fail(
      `the header says ${length} bytes, ${bytes.length - from} are left, at most ${longestHeader} are read`,
      base + start + 8,
    );
  const decoder = new TextDecoder(version === 3 ? "utf-8" : "latin1");
  return { text: decoder.decode(bytes.subarray(from, end)), from, end };
}

/** The array that begins at `start`, and the byte after it. */
export function readArrayAt(
  place: NpyPlace,
  reading: Reading,
): { readonly array: Constant; readonly end: number } {
  const { fail } = reading;
  const { bytes, base, name } = place;
  const { text, from, end } = headerText(place, fail);
  const { descr, fortran, shape } = readHeader(text, base + from, fail);
  const dtype = numpyDtypeOf(descr);
  if (!dtype)
    return fail(`elements of type ${quoted(descr)} are not numbers that Kiln has`, base + from);
  const count = countOf(shape, fail, base + from);
  const { stored, bigEndian } = dtype;
  const width = storedBytes(stored);
  const offset = base + end;
  const data = bytes.subarray(end, end + count * width);
  checkLength({ stored, name, offset }, shape, count, data.length, fail);
  let packed = data;
  if (fortran && shape.length > 1 && count > 0) {
    reading.take(data.length, `array ${quoted(name)}`, offset);
    packed = rowMajor(data, shape, width);
  }
  const array = constantOf({ stored, shape, bytes: packed, bigEndian, name, offset }, reading);
  return { array, end: end + data.length };
}

/**
 * The array of an `.npy` file, row-major.
 *
 * i64 narrows to i32 and u64 to u32, i16 and u16 widen to i32, big-endian elements are swapped. Throws ArtifactError, with
 * the offset, for a damaged file, one with bytes after the array, a value that does not fit, or another type of elements.
 */
export function readNpy(from: Uint8Array | ArrayBuffer, options: ReadOptions = {}): Constant {
  checkOptions("readNpy", options, readOptions);
  const bytes = plainBytes(from);
  const reading = beginReading("npy", bytes.length, options);
  const { array, end } = readArrayAt({ bytes, start: 0, base: 0, name: "array" }, reading);
  if (end < bytes.length)
    reading.fail(
      `${bytes.length - end} bytes stand after the array\n  readNpyList reads several in a row`,
      end,
    );
  return array;
}

/** The arrays of a file to which several were saved, one after the other. Throws as `readNpy` does. */
export function readNpyList(from: Uint8Array | ArrayBuffer, options: ReadOptions = {}): Constant[] {
  checkOptions("readNpyList", options, readOptions);
  const bytes = plainBytes(from);
  const reading = beginReading("npy", bytes.length, options);
  const arrays: Constant[] = [];
  for (let start = 0; start < bytes.length; ) {
    const name = String(arrays.length);
    const { array, end } = readArrayAt({ bytes, start, base: 0, name }, reading);
    arrays.push(array);
    start = end;
  }
  return arrays;
}

/**
 * An `.npy` file, version 1.0, of `array`. The elements begin at a multiple of 64, as NumPy has them.
 *
 * Throws ArtifactError for bf16, which NumPy does not have, and for data of another length than the shape says.
 */
export function writeNpy({ dtype, shape, data }: Constant): Uint8Array {
  const kind = numpyNameOf(dtype);
  if (kind === undefined)
    throw new ArtifactError(`writeNpy: NumPy has no ${dtype}\n  convert the tensor to f32`);
  const width = storedBytes(dtype);
  const size = shape.reduce((n, d) => n * d, width);
  if (size !== data.length)
    throw new ArtifactError(
      `writeNpy: ${dtype}[${shape.join(",")}] takes ${size} bytes, its data have ${data.length}`,
    );
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const descr = (width === 1 ? "|" : "<") + kind;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const start = Math.ceil((10 + text.length + 1) / 64) * 64;
  const bytes = new Uint8Array(start + data.length).fill(32, 10, start - 1);
  bytes.set(npyMagic);
  bytes[6] = 1;
  new DataView(bytes.buffer).setUint16(8, start - 10, true);
  bytes.set(new TextEncoder().encode(text), 10);
  bytes[start - 1] = 10;
  bytes.set(data, start);
  return bytes;
}
