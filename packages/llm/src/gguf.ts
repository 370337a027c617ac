/**
 * GGUF files: values by key, and tensors, de-quantised to f32 where they are stored in blocks.
 *
 * Format: github.com/ggml-org/ggml, docs/gguf.md, versions 2 and 3, little-endian.
 */
import type { Constant } from "kiln-ml/artifact";
import { checkOptions, type OptionNames } from "kiln-ml/ir";
import { inLine, LanguageModelError, listed, shown } from "./errors.ts";
import { type BlockType, blockTypes } from "./gguf-blocks.ts";
import { type PackedMatrix, packedMatrix, staysPacked } from "./packed-blocks.ts";

export type GgufValue = number | bigint | boolean | string | readonly GgufValue[];

export interface GgufFile {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** f32, row-major: the extents of the file from last to first. */
  readonly tensors: Readonly<Record<string, Constant>>;
  /** Matrices that were kept in their blocks, which `tensors` does not have then. */
  readonly packed?: Readonly<Record<string, PackedMatrix>>;
}

export interface GgufOptions {
  /** What errors call the file, "gguf" by default. */
  readonly file?: string;
  /** Names of matrices that stay in blocks of 4 or 8 bits where they lie so; none by default. */
  readonly packed?: RegExp;
}

const ggufOptions: OptionNames<GgufOptions> = { file: 1, packed: 1 };

/** Element types of values by their numbers, with the bytes that one takes at least. */
const leastBytes = [1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8];

class Cursor {
  readonly #view: DataView;
  readonly bytes: Uint8Array;
  readonly file: string;
  at = 0;

  constructor(bytes: Uint8Array, file: string) {
    this.bytes = bytes;
    this.file = file;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  fail(what: string, at = this.at): never {
    throw new LanguageModelError(`${this.file}: offset ${at}: ${inLine(what)}`);
  }

  /** Moves on by `size` bytes; returns where they begin. */
  take(size: number, what: string): number {
    const from = this.at;
    const left = Math.max(0, this.bytes.length - from);
    if (!(size <= left) || from > this.bytes.length)
      this.fail(`${what} takes ${size} bytes, ${left} are left`);
    this.at += size;
    return from;
  }

  u32 = (what: string): number => this.#view.getUint32(this.take(4, what), true);

  /** A count: no file has 2^53 of anything. */
  u64(what: string): number {
    const value = this.#view.getBigUint64(this.take(8, what), true);
    return value > 2n ** 53n - 1n ? this.fail(`${what} is ${value}`, this.at - 8) : Number(value);
  }

  text(what: string): string {
    const size = this.u64(what);
    const from = this.take(size, what);
    return new TextDecoder().decode(this.bytes.subarray(from, from + size));
  }

  /** A text that errors repeat. */
  name(what: string): string {
    const name = this.text(what);
    return name.length > 200 ? this.fail(`${what} has ${name.length} characters`) : name;
  }

  value(type: number, what: string, depth = 0): GgufValue {
    if (type === 8) return this.text(what);
    if (type === 9) return this.#list(what, depth);
    const size = leastBytes[type] ?? this.fail(`${what} has the unknown type ${type}`);
    const at = this.take(size, what);
    const v = this.#view;
    // biome-ignore format: one type a place
    const read = [
      () => v.getUint8(at), () => v.getInt8(at), () => v.getUint16(at, true), () => v.getInt16(at, true),
      () => v.getUint32(at, true), () => v.getInt32(at, true), () => v.getFloat32(at, true), () => v.getUint8(at) !== 0,
      () => 0, () => 0, () => v.getBigUint64(at, true), () => v.getBigInt64(at, true), () => v.getFloat64(at, true),
    ];
    return read[type]!();
  }

  #list(what: string, depth: number): GgufValue[] {
    if (depth > 4) this.fail(`${what} has lists in lists in lists`);
    const type = this.u32(what);
    const count = this.u64(what);
    const least = leastBytes[type] ?? this.fail(`${what} has the unknown type ${type}`);
    if (count * Math.min(least, 8) > this.bytes.length - this.at)
      this.fail(`${what} has ${count} elements, ${this.bytes.length - this.at} bytes are left`);
    return Array.from({ length: count }, () => this.value(type, what, depth + 1));
  }
}

interface Entry {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly offset: number;
}

/**
 * The values and tensors of a GGUF file. A tensor in blocks is de-quantised,
 * or stays as it is: `packed`.
 *
 * Throws LanguageModelError for a damaged file, and for quantisations that are not read, all of
 * them by name.
 */
export function readGguf(bytes: Uint8Array, options: GgufOptions = {}): GgufFile {
  checkOptions("readGguf", options, ggufOptions);
  const { file = "gguf", packed: kept } = options;
  const { cursor, tensorCount, metadata } = valuesIn(bytes, file);
  const entries = new Map<string, Entry>();
  for (let i = 0; i < tensorCount; i++) {
    const entry = entryOf(cursor);
    if (entries.has(entry.name)) cursor.fail(`${entry.name} is there twice`);
    entries.set(entry.name, entry);
  }
  checkTypes(file, [...entries.values()]);
  const alignment = metadata.get("general.alignment") ?? 32;
  const step = Number(alignment);
  if (!(Number.isInteger(step) && step > 0)) cursor.fail(`the alignment is ${shown(alignment)}`);
  const start = Math.ceil(cursor.at / step) * step;
  const places = placesOf(cursor, [...entries.values()], start);
  // A pattern that goes on from its last match would leave out every other name.
  const named = kept && new RegExp(kept.source, kept.flags.replace(/[gy]/g, ""));
  const stays = (p: Place): boolean => named?.test(p.name) === true && staysPacked(p.type, p.shape);
  const tensors = places.flatMap((p) => (stays(p) ? [] : [[p.name, tensorOf(cursor, p)] as const]));
  const packed = places.flatMap((p) => (stays(p) ? [[p.name, packedOf(cursor, p)] as const] : []));
  return {
    metadata,
    tensors: Object.fromEntries(tensors),
    packed: Object.fromEntries(packed),
  };
}

/** The values of a file; the cursor stands behind them. */
function valuesIn(bytes: Uint8Array, file: string) {
  const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cursor = new Cursor(plain, file);
  if (cursor.u32("the magic") !== 0x46554747) cursor.fail("this is no GGUF file", 0);
  const version = cursor.u32("the version");
  if (version !== 2 && version !== 3) cursor.fail(`version ${version} is not read`, 4);
  const tensorCount = cursor.u64("the number of tensors");
  const valueCount = cursor.u64("the number of values");
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < valueCount; i++) {
    const key = cursor.name("a key");
    metadata.set(key, cursor.value(cursor.u32(key), key));
  }
  return { cursor, tensorCount, metadata };
}

/** The same file without its tensors: what a text needs of it. */
export function withoutTensors(bytes: Uint8Array, file = "gguf"): Uint8Array {
  const { cursor } = valuesIn(bytes, file);
  const head = bytes.slice(0, cursor.at);
  // The number of tensors stands behind the magic and the version.
  head.fill(0, 8, 16);
  return head;
}

/** Throws LanguageModelError for quantisations that are not read. */
function checkTypes(file: string, entries: readonly Entry[]): void {
  const unknown = new Set(entries.map((e) => e.type).filter((t) => !blockTypes.has(t)));
  if (unknown.size === 0) return;
  const numbers = [...unknown].sort((a, b) => a - b).map(String);
  throw new LanguageModelError(
    `${file}: tensors have types that are not read: ${listed(numbers)}\n  read are ${[...blockTypes].map(([n, t]) => `${t.name} (${n})`).join(", ")}`,
  );
}

function entryOf(cursor: Cursor): Entry {
  const name = cursor.name("the name of a tensor");
  const rank = cursor.u32(name);
  if (rank > 8) cursor.fail(`${name} has rank ${rank}`);
  const shape = Array.from({ length: rank }, () => cursor.u64(name)).reverse();
  return { name, shape, type: cursor.u32(name), offset: cursor.u64(name) };
}

interface Place extends Entry {
  readonly count: number;
  readonly from: number;
  readonly end: number;
}

/**
 * Where tensors lie. Those that overlap are refused: a small file would become any amount of
 * memory.
 */
function placesOf(cursor: Cursor, entries: readonly Entry[], start: number): Place[] {
  const places = entries.map((entry): Place => {
    const { name, shape, type, offset } = entry;
    const block = blockTypes.get(type) as BlockType;
    const count = shape.reduce((a, b) => a * b, 1);
    if (count % block.elements)
      cursor.fail(`${name} has ${count} elements, not a multiple of ${block.elements}`, start);
    cursor.at = start + offset;
    const from = cursor.take((count / block.elements) * block.bytes, name);
    return { ...entry, count, from, end: cursor.at };
  });
  const byPlace = places.filter((p) => p.count > 0).sort((a, b) => a.from - b.from);
  for (const [i, { name, from }] of byPlace.entries()) {
    const before = byPlace[i - 1];
    if (before && before.end > from) cursor.fail(`${before.name} and ${name} overlap`, from);
  }
  return places;
}

const packedOf = ({ bytes }: Cursor, { shape, type, from, end }: Place): PackedMatrix =>
  packedMatrix(
    new DataView(bytes.buffer, bytes.byteOffset + from, end - from),
    type,
    shape as [number, number],
  );

function tensorOf({ bytes }: Cursor, { shape, type, count, from }: Place): Constant {
  const block = blockTypes.get(type) as BlockType;
  const values = new Float32Array(count);
  const view = new DataView(bytes.buffer, bytes.byteOffset + from);
  for (let i = 0; i < count / block.elements; i++)
    block.read(view, i * block.bytes, values, i * block.elements);
  return { dtype: "f32", shape, data: new Uint8Array(values.buffer) };
}
