/**
 * Reads the regular files of a `.tar.gz`, for fixtures. Knows ustar names only: no links, no pax records.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** The files of an archive, by path. */
export function readTarGz(path: string): Map<string, Uint8Array> {
  const bytes = new Uint8Array(gunzipSync(readFileSync(path)));
  const text = (at: number, length: number) =>
    new TextDecoder().decode(bytes.subarray(at, at + length)).replace(/\0.*$/s, "");
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const prefix = text(at + 345, 155);
    const name = (prefix && `${prefix}/`) + text(at, 100);
    if (text(at + 156, 1) === "0") files.set(name, bytes.slice(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
