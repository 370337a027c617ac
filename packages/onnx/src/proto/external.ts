/**
 * Data of a tensor that lie in another file: location, offset and length as text. Only a plain relative path is handed
 * to whoever opens files; what a path could escape with is refused here.
 */
import { type ExternalFile, failAt, quote, type Source } from "./source.ts";

interface Entry {
  readonly key: string | undefined;
  readonly value: string | undefined;
}

/** Each tensor has bytes of its own: many tensors in the same bytes would take many times the file. */
const maxShares = 4;

/**
 * The bytes of a tensor that `entries` locate, of which nothing else is read. Throws ArtifactError if they are not all there,
 * or are not as many as `takes` says of `bytes`.
 */
export function readExternal(
  source: Source,
  at: number,
  entries: readonly Entry[],
  what: string,
  { bytes, takes }: { readonly bytes: number; readonly takes: string },
): Uint8Array {
  const given = new Map(entries.map(({ key = "", value = "" }) => [key, value]));
  const location = given.get("location") ?? "";
  const bad = whyUnsafe(location);
  if (bad) failAt(source, at, `${what} lies in ${quote(location)}, ${bad}`);
  const opened = open(source, location);
  if (opened === undefined)
    return failAt(source, at, `${what} lies in ${quote(location)}, which was not given`);
  const { size } = opened.file;
  const offset = countOf(source, at, given.get("offset"), 0, `${what}: offset`);
  const length = countOf(source, at, given.get("length"), size - offset, `${what}: length`);
  if (offset + length > size || length < 0)
    failAt(
      source,
      at,
      `${what} is bytes ${offset} to ${offset + length} of ${quote(location)}, which has ${size}`,
    );
  if (length !== bytes) failAt(source, at, `${takes}, but its data have ${length}`);
  opened.left -= length;
  if (opened.left < 0)
    failAt(source, at, `${what}: tensors take ${quote(location)} more than ${maxShares} times`);
  try {
    return opened.file.readSync(offset, offset + length);
  } catch (error) {
    // A file with holes may be larger than memory.
    if (!(error instanceof RangeError)) throw error;
    return failAt(source, at, `${what}: ${length} bytes are not to be had`);
  }
}

function open(source: Source, location: string) {
  const found = source.files.get(location);
  if (found) return found;
  const given = source.external?.(location);
  if (given === undefined) return undefined;
  const file = given instanceof Uint8Array ? inMemory(given) : given;
  const opened = { file, left: maxShares * file.size };
  source.files.set(location, opened);
  return opened;
}

const inMemory = (bytes: Uint8Array): ExternalFile => ({
  size: bytes.length,
  // As the model's own bytes: a Buffer's slice would not copy.
  readSync: (start, end) => new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start),
});

/** Closes what was opened. */
export function closeExternal({ files }: Source): void {
  for (const { file } of files.values()) file.close?.();
  files.clear();
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
