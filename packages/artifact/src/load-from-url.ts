/**
 * Fetches an artifact that lies as a folder (or one packed file) behind a URL, for pages. The
 * kernels of the js target come through `import()` as well, so that a page whose policy forbids
 * functions made from text can run them. Trusts whoever serves the URL with code, as a page trusts
 * its scripts; checks everything else.
 */
import type { Artifact } from "./artifact.ts";
import { decodeArtifact, decodeWithout, filesOf } from "./decode.ts";
import { ArtifactError, checkOptions, type OptionNames } from "./errors.ts";
import { scriptName } from "./kernel-module.ts";
import { maxManifestBytes, readManifest } from "./manifest.ts";
import { manifestName } from "./schema.ts";
import { type TargetName, targets } from "./targets.ts";
import { moduleFiles } from "./wasm-modules.ts";

export interface LoadedArtifact {
  readonly artifact: Artifact;
  /**
   * What `kernels.js` exports, for the option `kernels` of the runtime's `load`; absent for other
   * targets.
   */
  readonly kernels?: Readonly<Record<string, unknown>>;
}

export interface UrlOptions {
  /**
   * Fetches one module of a wasm artifact instead of both: the one with relaxed SIMD instructions,
   * or the one without. The device says which it runs: `device.features.has("relaxed-simd")`. The
   * artifact cannot be written again then.
   */
  readonly relaxed?: boolean;
  /**
   * false refuses an artifact with kernels in JavaScript before they are imported: for URLs that
   * are not trusted with code.
   */
  readonly scripts?: boolean;
  /** In place of the global one: to count bytes, keep copies, or end it by a signal. */
  readonly fetch?: (url: URL) => Promise<Response>;
}

const urlOptions: OptionNames<UrlOptions> = { relaxed: 1, scripts: 1, fetch: 1 };

/**
 * The artifact behind `url`: a folder that holds `manifest.json`, or a file that ends in `.kiln`,
 * whose kernels are not imported. A relative URL is seen from the page.
 *
 * Throws ArtifactError if a file is not to be had, is longer or shorter than the manifest says, or
 * is damaged.
 */
export async function loadFromUrl(
  url: string | URL,
  options: UrlOptions = {},
): Promise<LoadedArtifact> {
  checkOptions("loadFromUrl", options, urlOptions);
  const base = resolve(url);
  if (base.pathname.endsWith(".kiln"))
    return { artifact: await unpacked(await fetchBytes(base, Number.MAX_SAFE_INTEGER, options)) };
  // A URL without the slash at its end names the folder all the same.
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const manifest = await fetchBytes(new URL(manifestName, base), maxManifestBytes, options);
  if (options.scripts === false && isScript(readManifest(manifest).target))
    throw new ArtifactError(
      `loadFromUrl: ${base} has kernels in JavaScript, which scripts: false refuses\n  compile it for wasm or webgpu`,
    );
  const omitted = omittedBy(options);
  const fetched = filesOf(manifest)
    .filter(({ name }) => !omitted.includes(name))
    .map(
      async ({ name, bytes }) =>
        [name, await fetchBytes(new URL(name, base), bytes, options)] as const,
    );
  const artifact = decodeWithout(
    omitted,
    new Map([[manifestName, manifest], ...(await Promise.all(fetched))]),
  );
  if (!isScript(artifact.target)) return { artifact };
  return { artifact, kernels: await importKernels(new URL(scriptName, base)) };
}

/** The artifact in a packed file, whose reader most pages do without. */
async function unpacked(bytes: Uint8Array): Promise<Artifact> {
  const { readArchive } = await import("./archive.ts");
  return decodeArtifact(
    readArchive(bytes, (message) => {
      throw new ArtifactError(message);
    }),
  );
}

export const isScript = (target: TargetName): boolean => targets[target].kernels === "script";

export const omittedBy = ({ relaxed }: Pick<UrlOptions, "relaxed">): readonly string[] =>
  relaxed === undefined ? [] : [moduleFiles[relaxed ? "plain" : "relaxed"]];

function resolve(url: string | URL): URL {
  const page = (globalThis as { location?: { href: string } }).location?.href;
  try {
    return new URL(url, page);
  } catch {
    throw new ArtifactError(`loadFromUrl: ${url} is not a URL`);
  }
}

/** The whole body, given up as soon as it is longer than `most`. */
export async function fetchBytes(
  url: URL,
  most: number,
  { fetch: ask = fetch }: UrlOptions,
): Promise<Uint8Array> {
  const response = await answerOf(url, ask);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    size += next.value.length;
    chunks.push(next.value);
    if (size <= most) continue;
    await reader?.cancel();
    throw new ArtifactError(`loadFromUrl: ${url} is longer than ${most} bytes`);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** A response that has a body. Rejects with ArtifactError for any other. */
export async function answerOf(url: URL, ask: NonNullable<UrlOptions["fetch"]>): Promise<Response> {
  const response = await ask(url).catch((cause: Error) => {
    // Whoever ended it knows why.
    if (cause?.name === "AbortError") throw cause;
    throw new ArtifactError(`loadFromUrl: ${url} cannot be fetched: ${cause.message}`, { cause });
  });
  if (response.ok) return response;
  await response.body?.cancel();
  throw new ArtifactError(`loadFromUrl: ${url} answers ${response.status}`);
}

/** What a script with kernels exports. Rejects with ArtifactError where it cannot be imported. */
export async function importKernels(url: URL): Promise<Readonly<Record<string, unknown>>> {
  try {
    // Bundlers would look for the file, or make the call one that throws; it is fetched where the
    // page runs.
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ url.href)) as Record<
      string,
      unknown
    >;
  } catch (cause) {
    throw new ArtifactError(
      `loadFromUrl: ${url} cannot be imported: ${(cause as Error).message}\n  serve it as text/javascript, from where the page's script-src allows`,
      { cause },
    );
  }
}
