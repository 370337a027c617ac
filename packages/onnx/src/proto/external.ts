/**
 * Data of a tensor that lie in another file: location, offset and length as text. Only a plain relative path is handed
 * to whoever opens files; what a path could escape with is refused here.
 */
import { failAt, quote, type Source } from "./source.ts";

interface Entry {
  readonly key: string | undefined;
  readonly value: string | undefined;
}

/** Data that are not aligned are copied: many tensors in the same bytes would take many times the file. */
const maxShares = 4;

/** The bytes of a tensor that `entries` locate. Throws ArtifactError if they are not all there. */
export function readExternal(
  source: Source,
  at: number,
  entries: readonly Entry[],
  what: string,
): Uint8Array {
  const given = new Map(entries.map(({ key = "", value = "" }) => [key, value]));
  const location = given.get("location") ?? "";
  const bad = whyUnsafe(location);
  if (bad) failAt(source, at, `${what} lies in ${quote(location)}, ${bad}`);
  const opened = open(source, location);
  if (opened === undefined)
    return failAt(source, at, `${what} lies in ${quote(location)}, which was not given`);
  const file = opened.bytes;
  const offset = countOf(source, at, given.get("offset"), 0, `${what}: offset`);
  const length = countOf(source, at, given.get("length"), file.length - offset, `${what}: length`);
  if (offset + length > file.length || length < 0)
    failAt(
      source,
      at,
      `${what} is bytes ${offset} to ${offset + length} of ${quote(location)}, which has ${file.length}`,
    );
  opened.left -= length;
  if (opened.left < 0)
    failAt(source, at, `${what}: tensors take ${quote(location)} more than ${maxShares} times`);
  // As the model's own bytes: a Buffer's slice would not copy.
  return new Uint8Array(file.buffer, file.byteOffset + offset, length);
}

function open(source: Source, location: string) {
  const found = source.files.get(location);
  if (found) return found;
  const bytes = source.external?.(location);
  if (bytes === undefined) return undefined;
  const opened = { bytes, left: maxShares * bytes.length };
  source.files.set(location, opened);
  return opened;
}

/** Why a location is not a relative path that stays in its folder; undefined if it is one. */
export function whyUnsafe(location: string): string | undefined {
  if (location === "") return "which names no file";
  if (location.includes("\0")) return "which holds a NUL";
  if (location.includes("\\")) return "which holds a backslash";
  if (location.startsWith("/") || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(location))
    return "which is not relative";
  if (location.split("/").includes("..")) return "which leaves the model's folder";
  return undefined;
}

function countOf(
  source: Source,
  at: number,
  text: string | undefined,
  absent: number,
  what: string,
): number {
  if (text === undefined) return absent;
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) failAt(source, at, `${what} ${quote(text)} is not a count`);
  return count;
}
