/**
 * `openModel`: from a URL, bytes or files to a model that runs, in one call. Artifacts take the
 * runtime alone; the compiler is loaded for ONNX and TensorFlow.js files, and nothing else. Reads
 * no paths: that is
 * `kiln-ml/node`'s.
 */
import { checkOptions, GraphError, type OptionNames, type TargetName } from "@kiln-ml/artifact";
import type { RunOptions } from "@kiln-ml/runtime/loader";
import { type DeviceWishes, openTargets } from "./artifact-model.ts";
import type { WorkerLike } from "./channel.ts";
import { type OpenFile, openFile, openHere } from "./open-here.ts";
import type { Fetching, ModelSource, Progress } from "./source.ts";
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
  /** The entry that is meant, of an artifact with several. */
  readonly entry?: string;
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
  entry: 1,
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
 * Opens a model: the URL of an artifact (a folder, or one file that ends in .kiln), of an ONNX file
 * or of a TensorFlow.js model.json, the bytes of either of the first, or the files of a folder by
 * name. An object with a source for each target takes the first that runs here.
 *
 *   const model = await openModel("/models/digits.kiln", { worker: true });
 *   const { result } = await model.run({ x: pixels });
 *
 * Of an artifact with several entries, `entry` says which; without it one that has a single entry
 * is opened. Throws ArtifactError for what cannot be had or is damaged, DeviceError for what cannot
 * run here, GraphError for an entry that is not there.
 */
export const openModel = (
  source: ModelSource,
  options: OpenModelOptions = {},
): Promise<OpenedModel> => openWith(source, options, openFile);

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
  return openHere(source, options, open);
}

function checkTargets(targets: unknown): void {
  if (targets === undefined) return;
  const ok =
    Array.isArray(targets) && targets.length > 0 && targets.every((t) => openTargets.includes(t));
  if (!ok)
    throw new GraphError(
      `openModel: targets must be a list of ${openTargets.join(", ")}, got ${JSON.stringify(targets)}\n  leave it out for whatever runs here`,
    );
}
