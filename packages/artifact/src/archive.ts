/**
 * The archive of the one-file form, as bytes: headers, directory, and the reader, which accepts
 * only what `packFiles` writes. Imports nothing and is given how to fail: a page that fetches
 * folders loads it only for a packed file, and no bundler has to make a chunk of what both share.
 */

export interface Member {
  readonly name: string;
  readonly crc: number;
  readonly size: number;
  /** Where the member's header starts. */
  readonly offset: number;
}

/** Data start at multiples of this, so that tensors can be views. */
const alignment = 64;
export const maxMembers = 65535;
export const isName = (name: string): boolean =>
  name.length <= 300 && /^\w[\w.-]*(\/\w[\w.-]*){0,2}$/.test(name);

/** Little-endian fields: [2, 5] is two bytes holding 5. Layouts: APPNOTE.TXT 4.3. */
function fields(...pairs: readonly (readonly [number, number])[]): number[] {
  return pairs.flatMap(([bytes, value]) =>
    Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256),
  );
}

/**
 * What the local and the central header share: version, flags, store, 1 January 1980, crc, sizes,
 * name length.
 */
const shared = (m: Member, extra: number): number[] =>
  // biome-ignore format: one field a pair
  fields([2, 10], [2, 0], [2, 0], [2, 0], [2, 33], [4, m.crc], [4, m.size], [4, m.size], [2, m.name.length], [2, extra]);

const ascii = (name: string): number[] => Array.from(name, (c) => c.charCodeAt(0));

export function localHeader(m: Member): number[] {
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

/** The central directory and its end. */
export function directory(members: readonly Member[], start: number): number[] {
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

/**
 * The files of an archive, as views. Calls `refuse` with a message that names the offset unless
 * packFiles made it.
 */
export function readArchive(
  bytes: Uint8Array,
  refuse: (message: string) => never,
): Map<string, Uint8Array> {
  const fail = (offset: number, what: string): never =>
    refuse(`archive: offset ${offset}: ${what}`);
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
