/**
 * TensorFlow.js models that run: `loadTfjs` reads model.json and its shards, wherever they are,
 * without TensorFlow.js. The model is of the class that `loadOnnx` gives, and compiles itself for
 * the inputs it is given.
 */
import { checkOptions, type OptionNames } from "@kiln-ml/ir";
import { onnxOptions } from "./onnx/options.ts";
import { OnnxModel, type OnnxOptions } from "./onnx.ts";
import { Fetcher, type Fetching } from "./open/source.ts";
import { readTfjs, type TfjsSource } from "./open/tfjs-source.ts";

export type { OnnxTensor as TfjsTensor, OnnxValue as TfjsValue } from "./onnx.ts";
export type { TfjsArtifacts, TfjsModules, TfjsParts, TfjsSource } from "./open/tfjs-source.ts";

/** A model that runs: inputs and outputs by name, each with its type, its dims and its numbers. */
export type TfjsModel = OnnxModel;

export interface TfjsOptions
  extends Omit<OnnxOptions, "external">,
    Pick<Fetching, "onProgress" | "signal"> {}

const { external: _external, ...ofModel } = onnxOptions;

const tfjsOptions: OptionNames<TfjsOptions> = {
  ...ofModel,
  onProgress: 1,
  signal: 1,
};

/**
 * Reads a model of TensorFlow.js, a graph model or a layers model; compiles nothing yet. `source`
 * is the URL of a model.json, its files by name or as a list of `File`s, the modules that a package
 * exports, or what a handler of `tf.io` gives. In Node, `loadTfjs` of `kiln-ml/node` takes paths
 * too.
 *
 *   const model = await loadTfjs("/models/mobilenet/model.json");
 *   const { probabilities } = await model.run({ input: { type: "float32", dims: [1, 224, 224, 3], data: pixels } });
 *
 * Throws ArtifactError for damaged files, GraphError that lists the ops or layers that are not
 * supported.
 */
export async function loadTfjs(source: TfjsSource, options: TfjsOptions = {}): Promise<TfjsModel> {
  const { file, dims, onProgress, signal, ...compiling } = checkOptions(
    "loadTfjs",
    options,
    tfjsOptions,
  );
  signal?.throwIfAborted();
  const fetcher = new Fetcher({ onProgress, signal });
  const imported = await readTfjs(source, fetcher, file);
  signal?.throwIfAborted();
  const model = new OnnxModel(imported, compiling, dims ?? {});
  fetcher.tell("ready");
  return model;
}
