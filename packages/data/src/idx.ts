/**
 * The IDX format of the MNIST files, plain or gzip: 0, 0, type, rank, extents, then the elements,
 * big-endian. The header decides how much is read; a file that is longer, shorter or of another
 * kind is refused before anything of its claimed size is allocated.
 */

import { ArtifactError, checkOptions, type OptionNames } from "@kiln-ml/ir";
import { checkBytes } from "./check.ts";
import type { NumericArray } from "./dataset.ts";

export interface IdxOptions {
  /** Refuses files with more bytes of elements than this; 1 GiB by default. */
  readonly limitBytes?: number;
}

export interface Idx {
  readonly shape: readonly number[];
  readonly data: NumericArray;
}

interface Element {
  readonly bytes: number;
  readonly read: (bytes: DataView, count: number) => NumericArray;
}

/** `read(i)` for each element: `TypedArray.from` would take ten times as long. */
function filled<A extends NumericArray>(out: A, read: (place: number) => number): A {
  for (let i = 0; i < out.length; i++) out[i] = read(i);
  return out;
}

// biome-ignore format: one type a row
const elements: Readonly<Record<number, Element>> = {
  8: { bytes: 1, read: (v, n) => new Uint8Array(v.buffer, v.byteOffset, n).slice() },
  9: { bytes: 1, read: (v, n) => new Int8Array(v.buffer, v.byteOffset, n).slice() },
  11: { bytes: 2, read: (v, n) => filled(new Int16Array(n), (i) => v.getInt16(2 * i)) },
  12: { bytes: 4, read: (v, n) => filled(new Int32Array(n), (i) => v.getInt32(4 * i)) },
  13: { bytes: 4, read: (v, n) => filled(new Float32Array(n), (i) => v.getFloat32(4 * i)) },
  14: { bytes: 8, read: (v, n) => filled(new Float64Array(n), (i) => v.getFloat64(8 * i)) },
};

interface Header {
  readonly element: Element;
  readonly shape: readonly number[];
  readonly count: number;
  /** Bytes before the elements, and of the whole file. */
  readonly start: number;
  readonly total: number;
}

const idxOptions: OptionNames<IdxOptions> = { limitBytes: 1 };

/**
 * Reads the elements and their shape. Throws ArtifactError for a damaged or hostile file.
 * `torchvision.datasets.mnist.read_image_file`.
 *
 * @param file The bytes, gzipped or not.
 * @example
 *   const { data, shape } = await readIdx(Uint8Array.of(0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9));
 *   shape // [3]
 *   data // [7, 8, 9]
 */
export async function readIdx(
  file: Uint8Array | ArrayBuffer,
  options: IdxOptions = {},
): Promise<Idx> {
  checkOptions("readIdx", options, idxOptions);
  const given = file instanceof ArrayBuffer ? new Uint8Array(file) : file;
  checkBytes("readIdx", given);
  const limit = options.limitBytes ?? 2 ** 30;
  const bytes = isGzip(given) ? await inflate(given, limit) : given;
  const { element, shape, count, start, total } = headerOf(bytes, limit);
  if (bytes.length !== total)
    throw new ArtifactError(
      `idx: length differs: header says ${total} bytes, file has ${bytes.length}`,
    );
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, total - start);
  return { shape, data: element.read(view, count) };
}

const isGzip = (b: Uint8Array): boolean => b[0] === 0x1f && b[1] === 0x8b;

function headerOf(bytes: Uint8Array, limit: number): Header {
  const rank = bytes[3] ?? 0;
  const start = 4 + 4 * rank;
  if (bytes.length < 4 || bytes[0] !== 0 || bytes[1] !== 0)
    throw new ArtifactError(
      `idx: not an IDX file: starts with bytes ${[...bytes.subarray(0, 4)].join(", ")}`,
    );
  const element = elements[bytes[2]!];
  if (!element) throw new ArtifactError(`idx: unknown element type ${bytes[2]}`);
  if (bytes.length < start)
    throw new ArtifactError(
      `idx: header is cut: rank ${rank} needs ${start} bytes, file has ${bytes.length}`,
    );
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const shape = Array.from({ length: rank }, (_, i) => view.getUint32(4 + 4 * i));
  const count = shape.reduce((a, b) => a * b, 1);
  if (!(count * element.bytes <= limit))
    throw new ArtifactError(
      `idx: too large: [${shape.join(",")}] has ${count * element.bytes} bytes, the limit is ${limit}`,
    );
  return { element, shape, count, start, total: start + count * element.bytes };
}

/** Longest header: 255 extents. */
const longestHeader = 4 + 4 * 255;

/** Inflates until the header is known, then at most what it announces. */
async function inflate(file: Uint8Array, limit: number): Promise<Uint8Array> {
  try {
    const start = inflatedBy(file.subarray(0, longestHeader), Number.POSITIVE_INFINITY, true);
    const { total } = headerOf(start ?? (await inflatedStart(file, longestHeader)), limit);
    // One byte more, by which a file that is longer shows.
    const bytes = inflatedBy(file, total + 1) ?? (await inflatedStart(file, total + 1));
    if (bytes.length <= total) return bytes;
    throw new ArtifactError(`idx: length differs: header says ${total} bytes, file has more`);
  } catch (error) {
    if (error instanceof ArtifactError) throw error;
    throw new ArtifactError(
      `idx: gzip is damaged: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * All of it at once, in Node, where that is faster than a stream; undefined in a page, or if there
 * is more than `most`. `cut` is for the first bytes of a file: what they give is at most a thousand
 * times as long.
 */
function inflatedBy(file: Uint8Array, most: number, cut = false): Uint8Array | undefined {
  // Not an import: a bundler for pages would look for the module.
  const zlib = globalThis.process?.getBuiltinModule?.("node:zlib");
  if (!zlib) return undefined;
  try {
    if (cut) {
      const start = zlib.gunzipSync(file, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
      return start.length < longestHeader ? undefined : start;
    }
    return zlib.gunzipSync(file, { maxOutputLength: most, chunkSize: Math.max(64, most) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw error;
  }
}

/** At least the first `most` bytes, or all if there are fewer, and no more than a chunk beyond. */
async function inflatedStart(file: Uint8Array, most: number): Promise<Uint8Array> {
  const source = new Blob([file as Uint8Array<ArrayBuffer>]).stream();
  const reader = source.pipeThrough(new DecompressionStream("gzip")).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < most) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.length;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
  return joined(chunks, size);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const out = new Uint8Array(size);
  let at = 0;
  for (const c of chunks) {
    out.set(c, at);
    at += c.length;
  }
  return out;
}
