/**
 * The one-file form: the files of the folder form in a zip archive without compression, so that any unzip opens it.
 * The reader accepts only the archives this writer makes, byte for byte, apart from the contents; an archive made or
 * repacked by another tool is refused. No zip64: beyond 4 GiB use the folder form.
 */
import type { Artifact } from "./artifact.ts";
import { crc32 } from "./crc32.ts";
import { decodeArtifact } from "./decode.ts";
import { encodeArtifact } from "./encode.ts";
import { ArtifactError } from "./errors.ts";

/** One file in one archive of `encodeArtifact(a)`. Throws ArtifactError as it does, or beyond 4 GiB. */
export const packArtifact = (a: Artifact): Uint8Array => packFiles(encodeArtifact(a));

/** The artifact in an archive made by packArtifact. Throws ArtifactError. */
export const unpackArtifact = (bytes: Uint8Array): Artifact => decodeArtifact(unpackFiles(bytes));

interface Member {
  readonly name: string;
  readonly crc: number;
  readonly size: number;
  /** Where the member's header starts. */
  readonly offset: number;
}

/** Data start at multiples of this, so that tensors can be views. */
const alignment = 64;
const maxMembers = 65535;
const isName = (name: string): boolean =>
  name.length <= 300 && /^\w[\w.-]*(\/\w[\w.-]*)?$/.test(name);

/** Little-endian fields: [2, 5] is two bytes holding 5. Layouts: APPNOTE.TXT 4.3. */
function fields(...pairs: readonly (readonly [number, number])[]): number[] {
  return pairs.flatMap(([bytes, value]) =>
    Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256),
  );
}

/** What the local and the central header share: version, flags, store, 1 January 1980, crc, sizes, name length. */
const shared = (m: Member, extra: number): number[] =>
  // biome-ignore format: one field a pair
  fields([2, 10], [2, 0], [2, 0], [2, 0], [2, 33], [4, m.crc], [4, m.size], [4, m.size], [2, m.name.length], [2, extra]);

const ascii = (name: string): number[] => Array.from(name, (c) => c.charCodeAt(0));

function localHeader(m: Member): number[] {
  const bare = m.offset + 30 + m.name.length;
  // The extra field (id 0xd935, alignment) takes four bytes at least.
  const extra = 4 + ((alignment - ((bare + 4) % alignment)) % alignment);
  const zeros = new Array<number>(extra - 4).fill(0);
  return [
    ...fields([4, 0x04034b50]),
    ...shared(m, extra),
    ...ascii(m.name),
    ...fields([2, 0xd935], [2, extra - 4]),
    ...zeros,
  ];
}

function directory(members: readonly Member[], start: number): number[] {
  const rows = members.flatMap((m) => [
    ...fields([4, 0x02014b50], [2, 10]),
    ...shared(m, 0),
    ...fields([2, 0], [2, 0], [2, 0], [4, 0], [4, m.offset]),
    ...ascii(m.name),
  ]);
  const n = members.length;
  const end = fields([4, 0x06054b50], [2, 0], [2, 0], [2, n], [2, n]);
  return [...rows, ...end, ...fields([4, rows.length], [4, start], [2, 0])];
}

/** The archive of `files`, in their order. Throws ArtifactError for a name with more than one folder, or beyond 4 GiB. */
export function packFiles(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const members: Member[] = [];
  const parts: ArrayLike<number>[] = [];
  let offset = 0;
  for (const [name, data] of files) {
    if (!isName(name))
      throw new ArtifactError(`packFiles: ${JSON.stringify(name)} is not a file name`);
    const member = { name, crc: crc32(data), size: data.length, offset };
    const header = localHeader(member);
    members.push(member);
    parts.push(header, data);
    offset += header.length + data.length;
  }
  parts.push(directory(members, offset));
  const total = parts.reduce((n, p) => n + p.length, 0);
  if (total >= 2 ** 32 || members.length > maxMembers)
    throw new ArtifactError(
      `packFiles: ${total} bytes in ${members.length} files, an archive holds 4294967295 in ${maxMembers}`,
    );
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const p of parts) {
    bytes.set(p, at);
    at += p.length;
  }
  return bytes;
}

/** The files of an archive, as views. Throws ArtifactError, naming the offset, unless packFiles made it. */
export function unpackFiles(bytes: Uint8Array): Map<string, Uint8Array> {
  const fail = (offset: number, what: string): never => {
    throw new ArtifactError(`archive: offset ${offset}: ${what}`);
  };
  const expect = (want: readonly number[], offset: number, what: string): void => {
    const odd = want.findIndex((b, i) => bytes[offset + i] !== b);
    if (odd >= 0) fail(offset + odd, `not the ${what} that packArtifact writes`);
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const files = new Map<string, Uint8Array>();
  const members: Member[] = [];
  let offset = 0;
  while (offset + 30 <= bytes.length && view.getUint32(offset, true) === 0x04034b50) {
    const nameEnd = offset + 30 + view.getUint16(offset + 26, true);
    const name = String.fromCharCode(
      ...bytes.subarray(offset + 30, Math.min(nameEnd, offset + 330)),
    );
    if (!isName(name) || files.has(name) || files.size === maxMembers)
      fail(
        offset + 30,
        `${JSON.stringify(name)} is not a file name, stands twice, or is one too many`,
      );
    const crc = view.getUint32(offset + 14, true);
    const size = view.getUint32(offset + 18, true);
    const member = { name, crc, size, offset };
    const header = localHeader(member);
    expect(header, offset, `header of ${name}`);
    const start = offset + header.length;
    if (size > bytes.length - start)
      fail(start, `${name} has ${size} bytes, the archive ${bytes.length - start} more`);
    files.set(name, bytes.subarray(start, start + size));
    members.push(member);
    offset = start + size;
  }
  const tail = directory(members, offset);
  expect(tail, offset, "directory");
  if (offset + tail.length !== bytes.length) fail(offset + tail.length, "bytes after the end");
  return files;
}
