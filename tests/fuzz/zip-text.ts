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
  const last = bytesOf(
    "PK",
    5,
    6,
    counts,
    little(size, 4),
    little(offset, 4),
    little(comment.length, 2),
  );
  return bytesOf(...body, listed, last, comment);
}

/** The zip form of a PyTorch file: a pickle, and storage "0" of four floats 0, 1, 2, 3. */
export const torchZip = (body: Uint8Array): Uint8Array =>
  zipOf([
    { name: "m/data.pkl", bytes: body },
    { name: "m/data/0", bytes: new Uint8Array(new Float32Array([0, 1, 2, 3]).buffer) },
  ]);
