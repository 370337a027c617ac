/**
 * Zip archives: the directory at the end, and entries stored or deflated. Every size is checked against the file before
 * anything is allocated, an entry inflates to exactly what it declares, and nothing is ever written to a disk.
 * Refuses encryption, several volumes, entries that overlap, and names that stand twice or lead out of a folder.
 *
 * Format: PKWARE's APPNOTE, sections 4.3 and 4.5.3 (zip64).
 */
import { crc32 } from "@kiln-ml/artifact";
import { Inflate } from "fflate";
import { type Fail, quoted, type Reading } from "./reading.ts";

export interface ZipEntry {
  readonly name: string;
  /** Of the entry's bytes in the file. */
  readonly offset: number;
  readonly packed: Uint8Array;
  readonly size: number;
  readonly method: "stored" | "deflated";
  readonly crc: number;
}

interface Directory {
  readonly offset: number;
  readonly size: number;
  readonly count: number;
}

const endBytes = 22;
/** Deflate cannot do better: 258 bytes by two bits. */
const mostRatio = 1032;

/** The entries of an archive by name, in the order of its directory. Folders are left out. */
export function readZip(bytes: Uint8Array, { fail }: Reading): Map<string, ZipEntry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const directory = findDirectory(view, fail);
  const end = directory.offset + directory.size;
  const entries = new Map<string, ZipEntry>();
  let at = directory.offset;
  for (let i = 0; i < directory.count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50)
      fail(`entry ${i} of ${directory.count} of the zip directory is not there`, at);
    const next = at + 46 + [28, 30, 32].reduce((n, k) => n + view.getUint16(at + k, true), 0);
    if (next > end) fail("an entry of the zip directory reaches past its end", at);
    const entry = readEntry(view, at, directory.offset, fail);
    if (entries.has(entry.name)) fail(`the zip has ${quoted(entry.name)} twice`, at);
    if (!entry.name.endsWith("/")) entries.set(entry.name, entry);
    at = next;
  }
  checkApart([...entries.values()], fail);
  return entries;
}

function findDirectory(view: DataView, fail: Fail): Directory {
  const last = view.byteLength - endBytes;
  // A comment of up to 65,535 bytes may follow.
  for (let at = last; at >= 0 && at >= last - 0xffff; at--) {
    if (view.getUint32(at, true) !== 0x06054b50) continue;
    if (view.getUint16(at + 20, true) !== last - at) continue;
    if (view.getUint16(at + 4, true) || view.getUint16(at + 6, true))
      fail("the zip is one of several volumes", at);
    const found = largeDirectory(view, at, fail) ?? {
      count: view.getUint16(at + 10, true),
      size: view.getUint32(at + 12, true),
      offset: view.getUint32(at + 16, true),
    };
    if (!(found.offset + found.size <= at))
      fail(
        `the zip directory, ${found.size} bytes at ${found.offset}, does not lie before its end`,
        at,
      );
    if (found.count * 46 > found.size)
      fail(`${found.count} entries do not fit in a zip directory of ${found.size} bytes`, at);
    return found;
  }
  return fail("the zip has no directory at its end", view.byteLength);
}

/** The zip64 record, which stands where a locator just before the end record says. */
function largeDirectory(view: DataView, end: number, fail: Fail): Directory | undefined {
  const locator = end - 20;
  if (locator < 0 || view.getUint32(locator, true) !== 0x07064b50) return undefined;
  const at = long(view, locator + 8);
  if (!(at + 56 <= locator) || view.getUint32(at, true) !== 0x06064b50)
    return fail("the zip64 record is not where its locator says", locator);
  return { count: long(view, at + 32), size: long(view, at + 40), offset: long(view, at + 48) };
}

const long = (view: DataView, at: number): number =>
  view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;

function readEntry(view: DataView, at: number, limit: number, fail: Fail): ZipEntry {
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  const name = nameAt(view, at + 46, view.getUint16(at + 28, true), fail);
  const called = `zip entry ${quoted(name)}`;
  if (flags & 0x2041) fail(`${called} is encrypted`, at);
  if (method !== 0 && method !== 8)
    fail(`${called} is packed by method ${method}, not stored or deflated`, at);
  const [size, packedSize, header] = sizesOf(view, at, called, fail);
  if (!(header + 30 <= limit) || view.getUint32(header, true) !== 0x04034b50)
    fail(`${called} has no header at ${header}`, at);
  const offset =
    header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
  if (!(offset + packedSize <= limit))
    fail(`${called}, ${packedSize} bytes at ${offset}, reaches past ${limit}`, at);
  if (nameAt(view, header + 30, view.getUint16(header + 26, true), fail) !== name)
    fail(`${called} has another name in its header`, header);
  if (method === 0 ? size !== packedSize : !(size <= packedSize * mostRatio))
    fail(`${called} cannot hold ${size} bytes in ${packedSize}`, at);
  return {
    name,
    offset,
    packed: new Uint8Array(view.buffer, view.byteOffset + offset, packedSize),
    size,
    method: method === 0 ? "stored" : "deflated",
    crc: view.getUint32(at + 16, true),
  };
}

/** Size, packed size and offset of the header; a field of all ones stands in the zip64 extra field, in this order. */
function sizesOf(
  view: DataView,
  at: number,
  called: string,
  fail: Fail,
): readonly [number, number, number] {
  const short = [24, 20, 42].map((k) => view.getUint32(at + k, true));
  if (!short.includes(0xffffffff)) return short as unknown as [number, number, number];
  let from = at + 46 + view.getUint16(at + 28, true);
  const end = from + view.getUint16(at + 30, true);
  while (from + 4 <= end && view.getUint16(from, true) !== 1)
    from += 4 + view.getUint16(from + 2, true);
  const fieldEnd = from + 4 <= end ? from + 4 + view.getUint16(from + 2, true) : 0;
  let next = from + 4;
  const sizes = short.map((value) => {
    if (value !== 0xffffffff) return value;
    if (next + 8 > fieldEnd || fieldEnd > end) fail(`${called} lacks its zip64 sizes`, at);
    next += 8;
    return long(view, next - 8);
  });
  return sizes as unknown as [number, number, number];
}

function nameAt(view: DataView, at: number, length: number, fail: Fail): string {
  if (at + length > view.byteLength) fail("a name reaches past the end of the file", at);
  const bytes = new Uint8Array(view.buffer, view.byteOffset + at, length);
  let name = "";
  try {
    name = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    fail("a name in the zip is not UTF-8", at);
  }
  const parts = name.split("/");
  if (!name || name.startsWith("/") || /\\|\0|^[A-Za-z]:/.test(name) || parts.includes(".."))
    fail(`zip entry ${quoted(name)} has a name that could lead out of its folder`, at);
  return name;
}

/** Entries that share bytes are how a small archive inflates without end. */
function checkApart(entries: readonly ZipEntry[], fail: Fail): void {
  let end = 0;
  let before = "";
  for (const e of [...entries].sort((a, b) => a.offset - b.offset)) {
    if (e.offset < end)
      fail(`zip entries ${quoted(before)} and ${quoted(e.name)} overlap`, e.offset);
    end = e.offset + e.packed.length;
    before = e.name;
  }
}

/**
 * The bytes of an entry: a view of the file if it is stored.
 *
 * `checked` is false for writers that leave the checksum out. Throws ArtifactError for one that does not match.
 */
export function bytesOfEntry(entry: ZipEntry, reading: Reading, checked = true): Uint8Array {
  const { name, packed, method, crc, offset } = entry;
  const bytes = method === "stored" ? packed : inflated(entry, reading);
  if (checked && crc32(bytes) !== crc)
    reading.fail(
      `zip entry ${quoted(name)} has the checksum ${hex(crc32(bytes))}, its directory says ${hex(crc)}`,
      offset,
    );
  return bytes;
}

const hex = (n: number): string => n.toString(16).padStart(8, "0");

/** Fed in small pieces, so that an entry that lies about its size is stopped soon after. */
const pieceBytes = 4096;

function inflated({ name, packed, size, offset }: ZipEntry, reading: Reading): Uint8Array {
  const called = `zip entry ${quoted(name)}`;
  reading.take(size, called, offset);
  const out = new Uint8Array(size);
  let filled = 0;
  let over = false;
  const stream = new Inflate((chunk) => {
    over ||= filled + chunk.length > size;
    if (!over) out.set(chunk, filled);
    filled += chunk.length;
  });
  for (let at = 0; at < packed.length && !over; at += pieceBytes) {
    const end = Math.min(at + pieceBytes, packed.length);
    try {
      stream.push(packed.subarray(at, end), end === packed.length);
    } catch (error) {
      const { message } = error as Error;
      reading.fail(`${called} is not deflated data: ${message}`, offset + at);
    }
  }
  if (filled !== size)
    reading.fail(
      `${called} inflates to ${over ? "more than " : ""}${over ? size : filled} bytes, its directory says ${size}`,
      offset,
    );
  return out;
}
