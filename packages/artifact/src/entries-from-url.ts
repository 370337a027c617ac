/**
 * Several entries that lie as a folder behind a URL, for pages: read file by file into memory that
 * is asked for once, so that a shard takes no more than its size.
 */
import type { EntryFiles } from "./entries.ts";
import { ArtifactError } from "./errors.ts";
import { answerOf, importKernels } from "./load-from-url.ts";

/** Fetches, and tells of bytes as they come. */
export interface UrlReading {
  readonly fetch?: (url: URL, signal?: AbortSignal) => Promise<Response>;
  readonly told?: (bytes: number) => void;
}

const plain = (url: URL, signal?: AbortSignal): Promise<Response> =>
  fetch(url, signal ? { signal } : {});

/** The files of a folder behind an absolute URL. */
export function filesAtUrl(url: URL, { fetch: ask = plain, told }: UrlReading = {}): EntryFiles {
  const base = new URL(url.href);
  // A URL without the slash at its end names the folder all the same.
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return {
    async read(name, most, signal) {
      signal?.throwIfAborted();
      const at = new URL(name, base);
      const response = await answerOf(at, (where) => ask(where, signal));
      return bodyOf(response, at, most, told);
    },
    script: (name) => importKernels(new URL(name, base)),
  };
}

/** The body in memory of its size, where the server says it; it may say too little, or nothing. */
async function bodyOf(
  response: Response,
  url: URL,
  most: number,
  told: (bytes: number) => void = () => {},
): Promise<Uint8Array> {
  const packed = response.headers.get("content-encoding");
  const stated = packed ? 0 : Number(response.headers.get("content-length") ?? 0);
  let bytes = roomFor(Math.min(stated, most), url);
  let size = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    const end = size + next.value.length;
    if (end > most) {
      await reader?.cancel();
      throw new ArtifactError(`loadEntries: ${url} is longer than ${most} bytes`);
    }
    if (end > bytes.length) {
      const larger = roomFor(Math.min(most, Math.max(end, 2 * bytes.length)), url);
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(next.value, size);
    size = end;
    told(next.value.length);
  }
  return bytes.subarray(0, size);
}

function roomFor(size: number, url: URL): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch {
    throw new ArtifactError(
      `loadEntries: ${url} has ${size} bytes, more than there is memory for\n  compile it with smaller shards`,
    );
  }
}
