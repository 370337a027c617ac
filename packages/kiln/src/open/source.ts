/**
 * What `openModel` opens, and how it is fetched: with progress, copies that are kept, and a signal
 * that ends it.
 */
import { ArtifactError, type TargetName } from "@kiln-ml/artifact";

/** A URL, the bytes of a file, or the files of a folder by name. */
export type ModelFile = string | URL | Uint8Array | ArrayBuffer | ReadonlyMap<string, Uint8Array>;

/**
 * One model, or the same compiled for several targets, of which the first that runs here is taken.
 */
export type ModelSource = ModelFile | { readonly [K in TargetName]?: ModelFile };

export interface Progress {
  readonly phase: "fetch" | "load" | "ready";
  /**
   * Bytes that have come, and those that will have, as far as servers say; both 0 where nothing is
   * fetched.
   */
  readonly loaded: number;
  readonly total: number | undefined;
}

export interface Fetching {
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly cache?: boolean | string | undefined;
}

const defaultCache = "kiln-models";

/** A `fetch` that counts what comes. */
export class Fetcher {
  readonly #options: Fetching;
  #loaded = 0;
  #total: number | undefined = 0;

  constructor(options: Fetching) {
    this.#options = options;
  }

  tell(phase: Progress["phase"]): void {
    this.#options.onProgress?.({ phase, loaded: this.#loaded, total: this.#total });
  }

  readonly fetch = async (url: URL): Promise<Response> => {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const response = await this.#kept(url);
    if (!response.ok || !response.body) return response;
    // What was packed for the way is longer when it arrives than the header says.
    const packed = response.headers.get("content-encoding");
    const length = Number(response.headers.get("content-length"));
    if (packed || !length) this.#total = undefined;
    else if (this.#total !== undefined) this.#total += length;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.#loaded += chunk.length;
        this.tell("fetch");
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(counted), { status: response.status });
  };

  /** The copy of an earlier visit, or what comes now, of which a copy is kept. */
  async #kept(url: URL): Promise<Response> {
    const { cache, signal } = this.#options;
    const ask = () => fetch(url, signal ? { signal } : {});
    // Node has none, nor has a page that was not served safely: it is fetched then.
    if (!cache || typeof caches === "undefined") return ask();
    const store = await caches.open(typeof cache === "string" ? cache : defaultCache);
    const known = await store.match(url);
    if (known) return known;
    const response = await ask();
    if (response.ok) await store.put(url, response.clone()).catch(() => {});
    return response;
  }
}

/** Seen from the page where it is relative. */
export function urlOf(source: string | URL, loader = "openModel"): URL {
  const page = (globalThis as { location?: { href: string } }).location?.href;
  try {
    return new URL(source, page);
  } catch {
    throw new ArtifactError(
      `${loader}: ${source} is not a URL\n  in Node, ${loader} of kiln-ml/node takes paths`,
    );
  }
}

export const bytesOf = (source: Uint8Array | ArrayBuffer): Uint8Array =>
  source instanceof Uint8Array ? source : new Uint8Array(source);

/** Whether these are the first bytes of one file with an artifact in it: a zip archive. */
export const isPacked = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;
