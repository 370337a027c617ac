/**
 * Where the bytes of a large file are, read by range: memory, a Blob, or a URL whose server answers ranges. Files of a disk
 * are `node.ts`'s. A source hands out bytes and knows no format.
 */
import { ArtifactError, checkOptions, DeviceError, type OptionNames } from "@kiln-ml/artifact";
import { plainBytes } from "./reading.ts";

/** Bytes by range. */
export interface RangeSource {
  /** What errors call it. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The bytes from `start` up to `end`; exactly so many. */
  read(start: number, end: number): Promise<Uint8Array>;
}

export interface UrlSourceOptions {
  /** Headers, credentials and the like of each request. */
  readonly request?: RequestInit;
}

/** What `openSource` accepts. */
export type SourceLike = RangeSource | Uint8Array | ArrayBuffer | Blob | URL;

const urlSourceOptions: OptionNames<UrlSourceOptions> = { request: 1 };

/**
 * A source of bytes in memory, a Blob or File, or a URL.
 *
 * Rejects with DeviceError if a URL cannot be fetched, and with ArtifactError if its server does not answer ranges.
 */
export async function openSource(
  from: SourceLike,
  options: UrlSourceOptions = {},
): Promise<RangeSource> {
  checkOptions("openSource", options, urlSourceOptions);
  if (from instanceof URL) return urlSource(from, options);
  if (from instanceof Uint8Array || from instanceof ArrayBuffer) {
    const bytes = plainBytes(from);
    return {
      name: "bytes",
      size: bytes.length,
      read: async (start, end) => bytes.subarray(start, end),
    };
  }
  if (typeof Blob !== "undefined" && from instanceof Blob)
    return {
      name: "name" in from ? String(from.name) : "blob",
      size: from.size,
      read: async (start, end) => new Uint8Array(await from.slice(start, end).arrayBuffer()),
    };
  return from as RangeSource;
}

/** Asks for the first byte to learn the size; each read is one request of a range. */
async function urlSource(url: URL, { request = {} }: UrlSourceOptions): Promise<RangeSource> {
  const name = url.href;
  const get = async (start: number, end: number): Promise<Response> => {
    const headers = new Headers(request.headers);
    headers.set("Range", `bytes=${start}-${end - 1}`);
    let response: Response;
    try {
      response = await fetch(url, { ...request, headers });
    } catch (error) {
      throw new DeviceError(`${name}: cannot be fetched: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (response.ok && response.status === 206) return response;
    await response.body?.cancel();
    if (!response.ok) throw new DeviceError(`${name}: the server answers ${response.status}`);
    throw new ArtifactError(
      `${name}: the server does not answer ranges\n  fetch the file whole and pass its bytes`,
    );
  };
  const first = await get(0, 1);
  await first.body?.cancel();
  const total = /^bytes \d+-\d+\/(\d+)$/.exec(first.headers.get("Content-Range") ?? "")?.[1];
  const size = Number(total);
  if (total === undefined || !Number.isSafeInteger(size))
    throw new ArtifactError(`${name}: the server does not say how long the file is`);
  return {
    name,
    size,
    async read(start, end) {
      if (start === end) return new Uint8Array(0);
      return bodyOf(await get(start, end), end - start, name);
    },
  };
}

/** The body, which must have `size` bytes; stops where it has more, and allocates only for what has come. */
async function bodyOf(response: Response, size: number, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let come = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || !value) break;
    chunks.push(value);
    come += value.length;
    if (come <= size) continue;
    await reader?.cancel();
    throw new ArtifactError(`${name}: more than the ${size} bytes of a range were sent`);
  }
  if (come !== size) throw new ArtifactError(`${name}: ${come} of ${size} bytes of a range came`);
  const out = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}
