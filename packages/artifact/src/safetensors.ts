/**
 * The safetensors format: eight bytes of header length, a JSON header of tensors, their bytes. The header is checked
 * in full, and against the size of the file, before any tensor is touched; tensors must tile the data exactly.
 *
 * Format: huggingface.co/docs/safetensors, "Format".
 */
import type { Dtype } from "@kiln-ml/ir";
import type { Constant } from "./artifact.ts";
import { ArtifactError } from "./errors.ts";
import { decodeText, parseJson } from "./json.ts";
import { isCount, isObject, show } from "./schema.ts";
import { packedBytes } from "./targets.ts";

export interface Safetensors {
  readonly tensors: Readonly<Record<string, Constant>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The format's own limit on the header. */
const maxHeaderBytes = 100_000_000;
const maxRank = 32;

/** Kiln's dtype and the bytes of one element in the file. */
const dtypesInFile: Readonly<Record<string, readonly [Dtype, number]>> = {
  F64: ["f64", 8],
  F32: ["f32", 4],
  F16: ["f16", 2],
  BF16: ["bf16", 2],
  I64: ["i32", 8],
  I32: ["i32", 4],
  U32: ["u32", 4],
  I8: ["i8", 1],
  U8: ["u8", 1],
  BOOL: ["bool", 1],
};

/** A tensor as the header has it: its dtype in the file, and where its bytes stand after the header. */
export interface SafetensorsEntry {
  readonly name: string;
  readonly stated: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  readonly entries: readonly SafetensorsEntry[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Bytes of one element by the dtype in the file. */
type Widths = Readonly<Record<string, number>>;

const ownWidths: Widths = Object.fromEntries(
  Object.entries(dtypesInFile).map(([name, [, bytes]]) => [name, bytes]),
);

/**
 * The tensors and metadata of a safetensors file. Data are row-major, little-endian, packed; views into `from` where
 * those are aligned to the element, copies elsewhere. I64 narrows to i32.
 *
 * Throws ArtifactError, naming `file` and the tensor, for a damaged or hostile file, a dtype that Kiln does not have,
 * an I64 beyond i32, or a BOOL that is not 0 or 1.
 */
export function readSafetensors(from: Uint8Array, file = "safetensors"): Safetensors {
  // Node's Buffer is a Uint8Array whose slice does not copy.
  const bytes = new Uint8Array(from.buffer, from.byteOffset, from.byteLength);
  const fail = (what: string): never => {
    throw new ArtifactError(`${file}: ${what}`);
  };
  const length = headerBytes(bytes, bytes.length, file);
  const data = bytes.subarray(8 + length);
  const header = bytes.subarray(8, 8 + length);
  const { entries, metadata } = readSafetensorsHeader(header, data.length, ownWidths, file);
  const tensors = entries.map((e) => [e.name, readTensor(e, data, fail)] as const);
  return { tensors: Object.fromEntries(tensors), metadata };
}

/** The length of the header, which the first 8 bytes of a file of `size` bytes say. Throws ArtifactError if it cannot be. */
export function headerBytes(start: Uint8Array, size: number, file: string): number {
  const fail = (what: string): never => {
    throw new ArtifactError(`${file}: ${what}`);
  };
  if (size < 8) fail(`${size} bytes, fewer than the 8 of the header's length`);
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (length > maxHeaderBytes) fail(`the header says ${length} bytes, more than ${maxHeaderBytes}`);
  if (length > size - 8)
    fail(`the header says ${length} bytes, the file has ${size - 8} after its length`);
  return length;
}

/**
 * The tensors of a header, checked against each other and against the `dataBytes` after it. `widths` has the dtypes that
 * are accepted. Throws ArtifactError as readSafetensors does.
 */
export function readSafetensorsHeader(
  text: Uint8Array,
  dataBytes: number,
  widths: Widths,
  file: string,
): SafetensorsHeader {
  const fail = (what: string): never => {
    throw new ArtifactError(`${file}: ${what}`);
  };
  const header = parseJson(decodeText(text, file), file);
  if (!isObject(header)) return fail(`the header is ${show(header)}, not an object`);
  const metadata = readMetadata(header.__metadata__, fail);
  const entries = Object.entries(header)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, value]) => readEntry(name, value, dataBytes, widths, fail));
  checkTiling(entries, dataBytes, fail);
  return { entries, metadata };
}

type Fail = (what: string) => never;

function readMetadata(value: unknown, fail: Fail): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value)) return fail(`__metadata__ is ${show(value)}, not an object`);
  for (const [key, v] of Object.entries(value))
    if (typeof v !== "string") fail(`__metadata__ ${show(key)} is ${show(v)}, not a string`);
  return value as Record<string, string>;
}

function readEntry(
  name: string,
  value: unknown,
  dataBytes: number,
  widths: Widths,
  fail: Fail,
): SafetensorsEntry {
  const failHere = (what: string): never => fail(`tensor ${show(name)}: ${what}`);
  if (name in {}) failHere("the name is that of a property of every object");
  if (!isObject(value)) return failHere(`${show(value)}, not an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string" || !Object.hasOwn(widths, dtype))
    return failHere(
      `dtype ${show(dtype)} is not one of those Kiln has: ${Object.keys(widths).join(" ")}`,
    );
  if (!Array.isArray(shape) || shape.length > maxRank || !shape.every(isCount))
    return failHere(`shape ${show(shape)} is not a list of at most ${maxRank} sizes`);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount))
    return failHere(`data_offsets ${show(offsets)} is not [begin, end]`);
  const [begin, end] = offsets as [number, number];
  if (begin > end || end > dataBytes)
    failHere(`data_offsets [${begin},${end}] do not lie in the ${dataBytes} bytes of data`);
  const size = shape.reduce((n, d) => n * d, widths[dtype]!);
  if (size !== end - begin)
    failHere(`${dtype}[${shape.join(",")}] takes ${size} bytes, data_offsets span ${end - begin}`);
  return { name, stated: dtype, shape, begin, end };
}

function checkTiling(entries: readonly SafetensorsEntry[], dataBytes: number, fail: Fail): void {
  let covered = 0;
  for (const e of [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (e.begin !== covered)
      fail(`tensor ${show(e.name)} begins at ${e.begin}, the tensors before it end at ${covered}`);
    covered = e.end;
  }
  if (covered !== dataBytes) fail(`tensors end at ${covered} of ${dataBytes} bytes of data`);
}

function readTensor(
  { name, stated, shape, begin, end }: SafetensorsEntry,
  all: Uint8Array,
  fail: Fail,
) {
  const [dtype, width] = dtypesInFile[stated]!;
  let data = all.subarray(begin, end);
  if (stated === "I64") data = narrow(data, (what) => fail(`tensor ${show(name)}: ${what}`));
  else if (data.byteOffset % width !== 0) data = data.slice();
  const odd = stated === "BOOL" ? data.findIndex((b) => b > 1) : -1;
  if (odd >= 0) fail(`tensor ${show(name)}: element ${odd} is ${data[odd]}, a BOOL is 0 or 1`);
  return { dtype, shape, data };
}

function narrow(data: Uint8Array, fail: Fail): Uint8Array {
  const from = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const out = new Uint8Array(data.length / 2);
  const to = new DataView(out.buffer);
  for (let i = 0; i < out.length; i += 4) {
    const low = from.getInt32(2 * i, true);
    if (from.getInt32(2 * i + 4, true) !== low >> 31)
      fail(`element ${i / 4} is ${from.getBigInt64(2 * i, true)}, which i32 cannot hold`);
    to.setInt32(i, low, true);
  }
  return out;
}

// biome-ignore format: one dtype a word
const namesInFile: Readonly<Record<Dtype, string>> = {
  f64: "F64", f32: "F32", f16: "F16", bf16: "BF16", i32: "I32", u32: "U32", i8: "I8", u8: "U8", bool: "BOOL",
};

/**
 * A safetensors file of `tensors`. The widest elements come first and the data begin at a multiple of 8, so that each
 * tensor is aligned. Throws ArtifactError if the data of a tensor have another length than its shape says.
 */
export function writeSafetensors(
  tensors: Readonly<Record<string, Constant>>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const width = (t: Constant) => packedBytes(t.dtype);
  const entries = Object.entries(tensors).sort(([, a], [, b]) => width(b) - width(a));
  const header: [string, unknown][] = [];
  if (Object.keys(metadata).length > 0) header.push(["__metadata__", metadata]);
  let offset = 0;
  for (const [name, t] of entries) {
    const size = t.shape.reduce((n, d) => n * d, width(t));
    const fail = (what: string): never => {
      throw new ArtifactError(`writeSafetensors: tensor ${show(name)}: ${what}`);
    };
    if (name === "__metadata__" || name in {}) fail("the name is reserved");
    if (size !== t.data.length)
      fail(`${t.dtype}[${t.shape.join(",")}] takes ${size} bytes, its data have ${t.data.length}`);
    header.push([
      name,
      { dtype: namesInFile[t.dtype], shape: t.shape, data_offsets: [offset, offset + size] },
    ]);
    offset += size;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  const start = 8 + Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(start + offset).fill(32, 8, start);
  new DataView(bytes.buffer).setUint32(0, start - 8, true);
  bytes.set(json, 8);
  offset = start;
  for (const [, t] of entries) {
    bytes.set(t.data, offset);
    offset += t.data.length;
  }
  return bytes;
}
