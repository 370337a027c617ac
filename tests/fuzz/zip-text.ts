/**
 * Zip archives written field by field, so that each field can lie.
 */
import { crc32 } from "../../packages/artifact/src/crc32.ts";
import { bytesOf, little } from "./pickle-text.ts";

export interface ZipPart {
  readonly name: string;
  /** As they stand in the archive. */
  readonly bytes: Uint8Array;
  readonly method?: number;
  readonly size?: number;
  readonly packedSize?: number;
  readonly crc?: number;
  readonly flags?: number;
  /** Where the directory says the entry's header is. */
  readonly header?: number;
  /** The name in the entry's own header. */
  readonly headerName?: string;
  readonly extra?: Uint8Array;
}

export interface ZipEnd {
  readonly count?: number;
  readonly size?: number;
  readonly offset?: number;
  readonly comment?: Uint8Array;
  /** Says count, size and offset in a zip64 record, and nothing in the plain one. */
  readonly large?: boolean;
}

/** An archive of the parts, stored unless they say otherwise. */
export function zipOf(parts: readonly ZipPart[], end: ZipEnd = {}): Uint8Array {
  const body: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const p of parts) {
    const { bytes, method = 0, size = bytes.length, packedSize = bytes.length, flags = 0 } = p;
    const { crc = crc32(bytes), header = at, extra = new Uint8Array(0) } = p;
    const facts = bytesOf(little(flags, 2), little(method, 2), little(0, 4), little(crc, 4));
    const sizes = bytesOf(little(packedSize, 4), little(size, 4));
    const own = p.headerName ?? p.name;
    const local = bytesOf(
      "PK",
      3,
      4,
      little(20, 2),
      facts,
      sizes,
      little(own.length, 2),
      little(0, 2),
      own,
    );
    const lengths = bytesOf(little(p.name.length, 2), little(extra.length, 2), little(0, 10));
    const tail = bytesOf(lengths, little(header, 4), p.name, extra);
    directory.push(bytesOf("PK", 1, 2, little(20, 2), little(20, 2), facts, sizes, tail));
    body.push(local, bytes);
    at += local.length + bytes.length;
  }
  const listed = bytesOf(...directory);
  const {
    count = parts.length,
    size = listed.length,
    offset = at,
    comment = new Uint8Array(0),
  } = end;
  const counts = bytesOf(little(0, 4), little(count, 2), little(count, 2));
  const where = bytesOf(counts, little(size, 4), little(offset, 4));
  const tail = bytesOf("PK", 5, 6, end.large ? new Uint8Array(16).fill(255, 4) : where);
  const large = end.large ? largeEnd(count, size, offset, at + listed.length) : new Uint8Array(0);
  return bytesOf(...body, listed, large, tail, little(comment.length, 2), comment);
}

/** The zip64 record, which stands at `place`, and its locator. */
function largeEnd(count: number, size: number, offset: number, place: number): Uint8Array {
  const counts = bytesOf(little(count, 8), little(count, 8), little(size, 8), little(offset, 8));
  const record = bytesOf(
    "PK",
    6,
    6,
    little(44, 8),
    little(45, 2),
    little(45, 2),
    little(0, 8),
    counts,
  );
  return bytesOf(record, "PK", 6, 7, little(0, 4), little(place, 8), little(1, 4));
}

/** The zip form of a PyTorch file: a pickle, and storage "0" of four floats 0, 1, 2, 3. */
export const torchZip = (body: Uint8Array): Uint8Array =>
  zipOf([
    { name: "m/data.pkl", bytes: body },
    { name: "m/data/0", bytes: new Uint8Array(new Float32Array([0, 1, 2, 3]).buffer) },
  ]);
