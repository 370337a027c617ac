/**
 * Reads the regular files of a `.tar` or `.tar.gz`: ustar, GNU long names, and pax paths. Refuses nothing and follows no
 * links: the archives are fixtures.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const block = 512;

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0.*$/s, "");

/** The path in pax records (`27 path=a/b\n`), if there is one. */
const paxPath = (bytes: Uint8Array): string | undefined =>
  textOf(bytes).match(/\d+ path=(.*)/)?.[1];

/** The files of an archive, by path without a leading "./". */
export function readTarGz(path: string): Map<string, Uint8Array> {
  const raw = readFileSync(path);
  const zipped = raw[0] === 0x1f && raw[1] === 0x8b;
  const bytes = new Uint8Array(zipped ? gunzipSync(raw) : raw);
  const files = new Map<string, Uint8Array>();
  let long: string | undefined;
  for (let at = 0; at + block <= bytes.length && bytes[at] !== 0; ) {
    const field = (offset: number, length: number) =>
      textOf(bytes.subarray(at + offset, at + offset + length));
    const size = Number.parseInt(field(124, 12), 8);
    const content = bytes.slice(at + block, at + block + size);
    const prefix = field(345, 155);
    const kind = field(156, 1);
    if (kind === "L") long = textOf(content);
    else if (kind === "x") long = paxPath(content);
    else {
      const name = long ?? (prefix && `${prefix}/`) + field(0, 100);
      if (kind === "0" || kind === "") files.set(name.replace(/^\.\//, ""), content);
      long = undefined;
    }
    at += block + Math.ceil(size / block) * block;
  }
  return files;
}
