/**
 * Opens a model in the thread that asks. A worker's script imports this and not `openModel`, which
 * starts workers: a bundler would find that the worker starts itself, a circle of files whose names
 * are hashes of one another.
 */
import {
  ArtifactError,
  DeviceError,
  decodeArtifact,
  fetchBytes,
  filesOf,
  GraphError,
  type LoadedArtifact,
  loadFromUrl,
} from "@kiln-ml/artifact";
import {
  artifactModel,
  type DeviceWishes,
  deviceFor,
  openTargets,
  type Where,
} from "./artifact-model.ts";
import type { OpenedModel, OpenModelOptions } from "./open-model.ts";
import { bytesOf, Fetcher, isPacked, type ModelFile, type ModelSource, urlOf } from "./source.ts";

/** Opens one file or folder. */
export type OpenFile = (file: ModelFile, where: Where, fetcher: Fetcher) => Promise<OpenedModel>;

/** `openModel` without its option `worker`; `open` is another way to open files. */
export async function openHere(
  source: ModelSource,
  options: OpenModelOptions,
  open: OpenFile = openFile,
): Promise<OpenedModel> {
  const fetcher = new Fetcher(options);
  const model = await opened(source, options, fetcher, open);
  if (options.signal?.aborted) await model.dispose();
  options.signal?.throwIfAborted();
  fetcher.tell("ready");
  return model;
}

const isFile = (source: ModelSource): source is ModelFile =>
  typeof source === "string" ||
  source instanceof URL ||
  source instanceof Uint8Array ||
  source instanceof ArrayBuffer ||
  source instanceof Map;

async function opened(
  source: ModelSource,
  options: OpenModelOptions,
  fetcher: Fetcher,
  open: OpenFile,
): Promise<OpenedModel> {
  const { targets, allowSoftware, threadScript, entry } = options;
  const wishes: DeviceWishes = {
    ...(allowSoftware === undefined ? {} : { allowSoftware }),
    ...(threadScript === undefined ? {} : { threadScript }),
  };
  if (isFile(source)) return open(source, { ...wishes, targets, entry }, fetcher);
  if (typeof source !== "object" || source === null)
    throw new GraphError(
      `openModel: takes a URL, bytes, files by name, or one of these for each target, got ${typeof source}`,
    );
  const reasons: string[] = [];
  for (const target of targets ?? openTargets) {
    const file = source[target];
    if (file === undefined) continue;
    try {
      await deviceFor(target, wishes);
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      reasons.push(`${target}: ${error.message.split("\n")[0]}`);
      continue;
    }
    return open(file, { ...wishes, targets: [target], entry }, fetcher);
  }
  const given = Object.keys(source).join(", ") || "nothing";
  throw new DeviceError(
    `openModel: given for ${given}, none of which runs here${reasons.length ? `: ${reasons.join("; ")}` : ""}\n  compile it for js too, which runs everywhere`,
  );
}

/** A URL, bytes, or files by name. */
export async function openFile(
  source: ModelFile,
  where: Where,
  fetcher: Fetcher,
): Promise<OpenedModel> {
  if (source instanceof Map) {
    if (!source.has(manifestName) && [...source.keys()].some((name) => isModelJson(name))) {
      const { tfjsModel } = await import("./tfjs-model.ts");
      return tfjsModel(source, where, fetcher);
    }
    fetcher.tell("load");
    return filesModel(source, where);
  }
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) {
    fetcher.tell("load");
    return openBytes(bytesOf(source), where);
  }
  const url = urlOf(source as string | URL);
  if (/\.onnx$/i.test(url.pathname)) {
    const bytes = await fetchBytes(url, Number.MAX_SAFE_INTEGER, fetcher);
    fetcher.tell("load");
    return openBytes(bytes, where, url.pathname.split("/").at(-1));
  }
  if (isModelJson(url.pathname)) {
    const { tfjsModel } = await import("./tfjs-model.ts");
    return tfjsModel(url, where, fetcher);
  }
  const loaded = await fetchArtifact(url, where, fetcher);
  fetcher.tell("load");
  return "artifact" in loaded ? artifactModel(loaded, where) : loaded;
}

/** The files of a folder, of one program or of several. */
async function filesModel(
  files: ReadonlyMap<string, Uint8Array>,
  where: Where,
): Promise<OpenedModel> {
  if (!hasEntries(files.get(manifestName)))
    return artifactModel({ artifact: decodeArtifact(files) }, where);
  return (await import("./entries-model.ts")).entriesIn(files, where);
}

/** Whether a manifest is of several entries; what is wrong with one is told by who reads it. */
export function hasEntries(manifest: Uint8Array | undefined): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(manifest));
    return typeof value === "object" && value !== null && Object.hasOwn(value, "entries");
  } catch {
    return false;
  }
}

async function openBytes(bytes: Uint8Array, where: Where, file?: string): Promise<OpenedModel> {
  if (isPacked(bytes)) return filesModel(await unpacked(bytes), where);
  if (bytes.length === 0) throw new ArtifactError("openModel: the file is empty");
  const { onnxModel } = await import("./onnx-model.ts");
  return onnxModel(bytes, where, file === undefined ? {} : { file });
}

/** The reader of packed files is loaded with the first of them. */
async function unpacked(bytes: Uint8Array): Promise<ReadonlyMap<string, Uint8Array>> {
  const { readArchive } = await import("@kiln-ml/artifact/archive");
  return readArchive(bytes, (message) => {
    throw new ArtifactError(message);
  });
}

const manifestName = "manifest.json";

/** Whether a path is that of a TensorFlow.js model; an artifact's only JSON is its manifest. */
export const isModelJson = (path: string): boolean =>
  /\.json$/i.test(path) && path.split("/").at(-1) !== manifestName;

/**
 * Of a wasm artifact only the module that this machine runs; which target it is for stands in the
 * manifest.
 */
async function fetchArtifact(
  url: URL,
  where: Where,
  fetcher: Fetcher,
): Promise<LoadedArtifact | OpenedModel> {
  if (url.pathname.endsWith(".kiln")) {
    const bytes = await fetchBytes(url, Number.MAX_SAFE_INTEGER, fetcher);
    return filesModel(await unpacked(bytes), where);
  }
  const base = new URL(url.href);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const at = new URL(manifestName, base);
  const manifest = await fetchBytes(at, mostManifest, fetcher);
  if (hasEntries(manifest)) {
    return (await import("./entries-model.ts")).entriesAt(base, where, fetcher.fetch);
  }
  const fetch = async (file: URL): Promise<Response> =>
    file.href === at.href ? new Response(manifest as BodyInit) : fetcher.fetch(file);
  const isWasm = filesOf(manifest).some(({ name }) => name.endsWith(".wasm"));
  if (!isWasm) return loadFromUrl(url, { fetch });
  const device = await deviceFor("wasm", where);
  return loadFromUrl(url, { fetch, relaxed: device.features.has("relaxed-simd") });
}

/** `loadFromUrl` bounds it again; this only keeps a stream from being endless. */
const mostManifest = 64 << 20;
