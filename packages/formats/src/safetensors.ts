/**
 * Safetensors with every element type the format has, whole or one tensor at a time. The header is read and checked first;
 * of a large file only the ranges of the tensors asked for are fetched.
 *
 * Format: huggingface.co/docs/safetensors, "Format".
 */
import {
  type Constant,
  checkOptions,
  headerBytes,
  type OptionNames,
  readSafetensorsHeader,
  type SafetensorsEntry,
  type SafetensorsHeader,
} from "@kiln-ml/artifact";
import { constantOf, type Stored } from "./elements.ts";
import {
  beginReading,
  plainBytes,
  quoted,
  type Reading,
  type ReadOptions,
  readOptions,
} from "./reading.ts";
import { openSource, type SourceLike, type UrlSourceOptions } from "./source.ts";

export { writeSafetensors } from "@kiln-ml/artifact";

const stored: Readonly<Record<string, Stored>> = {
  F64: "f64",
  F32: "f32",
  F16: "f16",
  BF16: "bf16",
  I64: "i64",
  I32: "i32",
  I16: "i16",
  I8: "i8",
  U64: "u64",
  U32: "u32",
  U16: "u16",
  U8: "u8",
  BOOL: "bool",
};

// biome-ignore format: one row for Kiln's, one for the others
const widths: Readonly<Record<string, number>> = {
  F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, I16: 2, I8: 1, U64: 8, U32: 4, U16: 2, U8: 1, BOOL: 1,
  F8_E4M3: 1, F8_E5M2: 1, F8_E8M0: 1, C64: 8,
};

export interface SafetensorsFile {
  readonly tensors: Record<string, Constant>;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The tensors and metadata of a file; data are views of it where they can be. I64 narrows to i32, U64 to u32, I16 and U16
 * widen to i32.
 *
 * Throws ArtifactError for a damaged or hostile file, a value that does not fit, and a dtype Kiln does not have.
 */
export function readSafetensors(
  from: Uint8Array | ArrayBuffer,
  options: ReadOptions = {},
): SafetensorsFile {
  checkOptions("readSafetensors", options, readOptions);
  const bytes = plainBytes(from);
  const reading = beginReading("safetensors", bytes.length, options);
  const length = headerBytes(bytes.subarray(0, 8), bytes.length, `${reading.file}: offset 0`);
  const { entries, metadata } = headerOf(bytes.subarray(8, 8 + length), bytes.length, reading);
  const start = 8 + length;
  const tensors = entries
    .filter((e) => reading.select(e.name))
    .map((e) => {
      const data = bytes.subarray(start + e.begin, start + e.end);
      return [e.name, readEntry(e, data, start, reading)] as const;
    });
  return { tensors: Object.fromEntries(tensors), metadata };
}

/** Errors in the header say where it stands. */
const headerOf = (text: Uint8Array, size: number, { file }: Reading): SafetensorsHeader =>
  readSafetensorsHeader(text, size - 8 - text.length, widths, `${file}: header at offset 8`);

function readEntry(
  e: SafetensorsEntry,
  data: Uint8Array,
  start: number,
  reading: Reading,
): Constant {
  const { name, stated, shape } = e;
  const offset = start + e.begin;
  const type = stored[stated];
  if (type === undefined)
    return reading.fail(`tensor ${quoted(name)} is ${stated}, which Kiln does not have`, offset);
  return constantOf({ stored: type, shape, bytes: data, name, offset }, reading);
}

/** What the header says of a tensor. */
export interface TensorInfo {
  readonly name: string;
  /** The name of its element type in the file: `BF16`. */
  readonly stored: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** A file whose header is read, and whose tensors are read when asked for. */
export interface OpenSafetensors {
  readonly metadata: Readonly<Record<string, string>>;
  /** In the order in which they stand in the file. */
  readonly tensors: readonly TensorInfo[];
  /** One tensor. Rejects with ArtifactError as `readSafetensors` throws, and if there is none of the name. */
  read(name: string): Promise<Constant>;
}

export interface OpenOptions extends Pick<ReadOptions, "file" | "limitBytes">, UrlSourceOptions {}

const openOptions: OptionNames<OpenOptions> = { file: 1, limitBytes: 1, request: 1 };

/**
 * Opens a file by its header: bytes, a Blob or File, a URL, or any source of ranges. Element types that Kiln lacks are
 * listed, and refused when read.
 */
export async function openSafetensors(
  from: SourceLike,
  options: OpenOptions = {},
): Promise<OpenSafetensors> {
  checkOptions("openSafetensors", options, openOptions);
  const source = await openSource(from, options.request ? { request: options.request } : {});
  const begin = () => beginReading(source.name, source.size, options);
  const reading = begin();
  const first = await source.read(0, Math.min(8, source.size));
  const length = headerBytes(first, source.size, `${reading.file}: offset 0`);
  const start = 8 + length;
  const header = headerOf(await source.read(8, start), source.size, reading);
  const entries = new Map(
    [...header.entries].sort((a, b) => a.begin - b.begin).map((e) => [e.name, e]),
  );
  const tensors = [...entries.values()].map(({ name, stated, shape, begin: from, end }) => ({
    name,
    stored: stated,
    shape,
    bytes: end - from,
  }));
  return {
    metadata: header.metadata,
    tensors,
    async read(name) {
      const e = entries.get(name) ?? reading.fail(`there is no tensor ${quoted(name)}`);
      const data = stored[e.stated] ? await source.read(start + e.begin, start + e.end) : empty;
      // What is allowed is counted anew for each.
      return readEntry(e, data, start, begin());
    },
  };
}

const empty = new Uint8Array(0);
