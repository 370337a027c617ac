/**
 * `openModel`: from a URL, bytes or files to a model that runs, in one call. Artifacts take the
 * runtime alone; the compiler is loaded for ONNX files, and nothing else. Reads no paths: that is
 * `kiln-ml/node`'s.
 */
import {
  type Artifact,
  ArtifactError,
  checkOptions,
  DeviceError,
  decodeArtifact,
  fetchBytes,
  filesOf,
  GraphError,
  type LoadedArtifact,
  loadFromUrl,
  type OptionNames,
  type TargetName,
} from "@kiln-ml/artifact";
import type { RunOptions } from "@kiln-ml/runtime/loader";
import { artifactModel, type DeviceWishes, deviceFor, type Where } from "./artifact-model.ts";
import type { WorkerLike } from "./channel.ts";
import {
  bytesOf,
  Fetcher,
  type Fetching,
  isPacked,
  type ModelFile,
  type ModelSource,
  type Progress,
  urlOf,
} from "./source.ts";
import type { ModelResult, ModelTensor, ModelValue } from "./values.ts";
import { openInWorker } from "./worker-client.ts";

export interface OpenModelOptions extends Fetching, DeviceWishes {
  /** Called as bytes come, when loading begins, and when the model is ready. */
  readonly onProgress?: (progress: Progress) => void;
  /** Ends it: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Keeps what is fetched between visits, in the browser's cache of that name ("kiln-models"). */
  readonly cache?: boolean | string;
  /** Where it may run, the best first; wherever it can by default. */
  readonly targets?: readonly TargetName[];
  /**
   * Opens and runs it off the main thread: true for a worker of its own, or a worker or its URL,
   * whose script imports `kiln-ml/model-worker`, where a bundler does not follow `new URL`.
   */
  readonly worker?: boolean | string | URL | WorkerLike;
}

const openModelOptions: OptionNames<OpenModelOptions> = {
  onProgress: 1,
  signal: 1,
  cache: 1,
  targets: 1,
  worker: 1,
  allowSoftware: 1,
  threadScript: 1,
};

/** A model that is ready to run. */
export interface OpenedModel {
  readonly name: string;
  /** Where it runs; "auto" where that is decided for each program. */
  readonly target: TargetName | "auto";
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /**
   * Runs once, by name: `const { y } = await model.run({ x })`. Throws ShapeError, DtypeError or
   * GraphError for what does not fit.
   */
  run(
    inputs: Readonly<Record<string, ModelValue>>,
    options?: RunOptions,
  ): Promise<Record<string, ModelResult>>;
  /** Frees what it holds, and ends its worker. */
  dispose(): Promise<void>;
}

/**
 * Opens a model: the URL of an artifact (a folder, or one file that ends in .kiln) or of an ONNX
 * file, the bytes of either file, or the files of a folder by name. An object with a source for
 * each target takes the first that runs here.
 *
 *   const model = await openModel("/models/digits.kiln", { worker: true });
 *   const { result } = await model.run({ x: pixels });
 *
 * Throws ArtifactError for what cannot be had or is damaged, DeviceError for what cannot run here.
 */
export const openModel = (
  source: ModelSource,
  options: OpenModelOptions = {},
): Promise<OpenedModel> => openWith(source, options, openFile);

/** Opens one file or folder. */
export type OpenFile = (file: ModelFile, where: Where, fetcher: Fetcher) => Promise<OpenedModel>;

/** `openModel` with another way to open files. */
export async function openWith(
  source: ModelSource,
  options: OpenModelOptions,
  open: OpenFile,
): Promise<OpenedModel> {
  checkOptions("openModel", options, openModelOptions);
  checkTargets(options.targets);
  options.signal?.throwIfAborted();
  if (options.worker) return openInWorker(source, options);
  const fetcher = new Fetcher(options);
  const model = await opened(source, options, fetcher, open);
  if (options.signal?.aborted) await model.dispose();
  options.signal?.throwIfAborted();
  fetcher.tell("ready");
  return model;
}

const all: readonly TargetName[] = ["webgpu", "wasm", "js"];

function checkTargets(targets: unknown): void {
  if (targets === undefined) return;
  const ok = Array.isArray(targets) && targets.length > 0 && targets.every((t) => all.includes(t));
  if (!ok)
    throw new GraphError(
      `openModel: targets must be a list of ${all.join(", ")}, got ${JSON.stringify(targets)}\n  leave it out for whatever runs here`,
    );
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
  const { targets, allowSoftware, threadScript } = options;
  const wishes: DeviceWishes = {
    ...(allowSoftware === undefined ? {} : { allowSoftware }),
    ...(threadScript === undefined ? {} : { threadScript }),
  };
  if (isFile(source)) return open(source, { ...wishes, targets }, fetcher);
  if (typeof source !== "object" || source === null)
    throw new GraphError(
      `openModel: takes a URL, bytes, files by name, or one of these for each target, got ${typeof source}`,
    );
  const reasons: string[] = [];
  for (const target of targets ?? all) {
    const file = source[target];
    if (file === undefined) continue;
    try {
      await deviceFor(target, wishes);
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      reasons.push(`${target}: ${error.message.split("\n")[0]}`);
      continue;
    }
    return open(file, { ...wishes, targets: [target] }, fetcher);
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
    fetcher.tell("load");
    return artifactModel({ artifact: decodeArtifact(source) }, where);
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
  const loaded = await fetchArtifact(url, where, fetcher);
  fetcher.tell("load");
  return artifactModel(loaded, where);
}

async function openBytes(bytes: Uint8Array, where: Where, file?: string): Promise<OpenedModel> {
  if (isPacked(bytes)) return artifactModel({ artifact: await unpacked(bytes) }, where);
  if (bytes.length === 0) throw new ArtifactError("openModel: the file is empty");
  const { onnxModel } = await import("./onnx-model.ts");
  return onnxModel(bytes, where, file === undefined ? {} : { file });
}

/** The reader of packed files is loaded with the first of them. */
async function unpacked(bytes: Uint8Array): Promise<Artifact> {
  const { readArchive } = await import("@kiln-ml/artifact/archive");
  return decodeArtifact(
    readArchive(bytes, (message) => {
      throw new ArtifactError(message);
    }),
  );
}

const manifestName = "manifest.json";

/**
 * Of a wasm artifact only the module that this machine runs; which target it is for stands in the
 * manifest.
 */
async function fetchArtifact(url: URL, where: Where, fetcher: Fetcher): Promise<LoadedArtifact> {
  if (url.pathname.endsWith(".kiln")) return loadFromUrl(url, fetcher);
  const base = new URL(url.href);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const at = new URL(manifestName, base);
  const manifest = await fetchBytes(at, mostManifest, fetcher);
  const fetch = async (file: URL): Promise<Response> =>
    file.href === at.href ? new Response(manifest as BodyInit) : fetcher.fetch(file);
  const isWasm = filesOf(manifest).some(({ name }) => name.endsWith(".wasm"));
  if (!isWasm) return loadFromUrl(url, { fetch });
  const device = await deviceFor("wasm", where);
  return loadFromUrl(url, { fetch, relaxed: device.features.has("relaxed-simd") });
}

/** `loadFromUrl` bounds it again; this only keeps a stream from being endless. */
const mostManifest = 64 << 20;
