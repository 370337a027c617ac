/**
 * Tar archives as far as old PyTorch files need them: regular files by name. Refuses links, devices and names that stand
 * twice; nothing is written to a disk.
 *
 * Format: POSIX.1-2017, pax, "ustar Interchange Format"; without its magic also the older one of Unix V7.
 */
import { quoted, type Reading } from "./reading.ts";

const block = 512;

export interface TarEntry {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Whether the bytes begin with a tar header: its checksum is right. */
export const isTar = (bytes: Uint8Array): boolean =>
  bytes.length >= block && bytes[0] !== 0 && headerSum(bytes, 0) === octal(bytes, 148, 8);

/** The regular files of an archive. */
export function readTar(bytes: Uint8Array, { fail }: Reading): Map<string, TarEntry> {
  const files = new Map<string, TarEntry>();
  for (let at = 0; at < bytes.length && bytes[at] !== 0; ) {
    if (at + block > bytes.length) fail("a tar header reaches past the end of the file", at);
    if (headerSum(bytes, at) !== octal(bytes, at + 148, 8))
      fail("a tar header has a wrong checksum", at);
    const name = textAt(bytes, at, 100);
    const size = octal(bytes, at + 124, 12);
    const kind = bytes[at + 156]!;
    if (!(at + block + size <= bytes.length))
      fail(`tar entry ${quoted(name)} has ${size} bytes, which the file does not have`, at);
    // "0" or NUL is a file, "5" a folder, "x" and "g" hold attributes.
    if (kind === 48 || kind === 0) {
      const plain = name.replace(/^\.\//, "");
      if (files.has(plain)) fail(`the tar has ${quoted(plain)} twice`, at);
      const offset = at + block;
      files.set(plain, { offset, bytes: bytes.subarray(offset, offset + size) });
    } else if (kind !== 53 && kind !== 120 && kind !== 103)
      fail(`tar entry ${quoted(name)} is a link or a device`, at);
    at += block + Math.ceil(size / block) * block;
  }
  return files;
}

/** The sum of a header's bytes, with those of the sum itself as spaces. */
function headerSum(bytes: Uint8Array, at: number): number {
  let sum = 0;
  for (let i = 0; i < block; i++) sum += i >= 148 && i < 156 ? 32 : bytes[at + i]!;
  return sum;
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return String.fromCharCode(...field.subarray(0, end < 0 ? length : end));
}

/** An octal field; NaN if it is not one. */
function octal(bytes: Uint8Array, at: number, length: number): number {
  const text = textAt(bytes, at, length).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}
