/**
 * What `compile`, `inspect` and `bench` take from a script, or from a file of ONNX or
 * TensorFlow.js: a function and the types of its inputs. The forms allowed are in `modelHelp`.
 */
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readWhole } from "@kiln-ml/artifact/node";
import type { CompiledFunction } from "../compile/compile.ts";
import type { InputSpec } from "../compile/inputs.ts";
import { isRecord } from "../compile/tree.ts";
import { filesBeside, loadTfjs } from "../node.ts";
import type { OnnxModel } from "../onnx.ts";
import { PlainError, short } from "./failure.ts";
import { resolveFrom } from "./place.ts";
import { isScript, loadScript } from "./script.ts";
import { checkDims, extentsFrom, type Parsed, UsageError } from "./usage.ts";

export const modelHelp = `The model is the export \`model\`, \`build\` or default of the script, one of
  { fn, inputs, name? }    fn takes tensors and returns tensors; inputs are their types
  a function without parameters, async or not, that returns that
  a module (nn.Module)     its forward, with the types in an export \`inputs\`
where inputs are one entry for each argument, such as [["N", 784], { shape: ["N"], dtype: "i32" }].
Or the model is an ONNX file, model.onnx, or one of TensorFlow.js, model.json, with the types that
it declares.
`;

export const entriesHelp = `An export \`entries\` has several by name, { prefill: { fn, inputs }, decode: { fn, inputs } }: they
become one artifact, whose parameters are there once. So do prefill, decode and greedy of a
language model, in a folder with config.json and safetensors or a .gguf file. Several targets make
one artifact for all.
`;

export interface Model {
  readonly fn: (...args: never[]) => unknown;
  readonly inputs: readonly InputSpec[];
  readonly name: string;
}

/** A model in a file of data: nothing that lies beside it may run. */
export const isOnnx = (path: string): boolean => /\.onnx$/i.test(path);
export const isTfjs = (path: string): boolean => /\.json$/i.test(path);
export const isGraph = (path: string): boolean => isOnnx(path) || isTfjs(path);

type Extents = ReturnType<typeof extentsFrom>;

/** The names of extents of an ONNX file that are no numbers; one without a name has its place. */
const symbolsOf = (inputs: OnnxModel["inputs"]): string[] =>
  inputs.flatMap(({ name, type }) =>
    type?.kind === "tensor"
      ? (type.shape ?? []).flatMap((d, axis) =>
          typeof d === "number" ? [] : [d || `${name}_${axis}`],
        )
      : [],
  );

/**
 * The model of an ONNX or TensorFlow.js file, with what belongs to it from the folder it lies in.
 */
async function graphModel(command: string, path: string, dims: Extents): Promise<Model> {
  const model = await loadedFrom(path, dims);
  checkDims(command, dims, [...new Set(symbolsOf(model.inputs))]);
  const { fn, inputs } = model.program;
  return {
    fn,
    inputs,
    name: basename(path)
      .replace(/\.(onnx|json)$/i, "")
      .replace(/[^A-Za-z0-9_]/g, "_"),
  };
}

async function loadedFrom(path: string, dims: Extents): Promise<OnnxModel> {
  if (isTfjs(path)) return loadTfjs(path, { file: short(path), dims });
  const { loadOnnx } = await import("../onnx.ts");
  return loadOnnx(await readWhole(path), { file: short(path), external: filesBeside(path), dims });
}

type Front = typeof import("../index.ts");

/**
 * The copy of kiln-ml that the model is written with: what a script imports, which need not be
 * ours. A file of data has none, and gets this command's, or whatever lies beside it would run.
 */
export async function frontOf(path: string): Promise<Front> {
  const near = isScript(path) ? resolveFrom(resolve(path), "kiln-ml") : undefined;
  return near ? import(pathToFileURL(near).href) : import("../index.ts");
}

/**
 * The model that a script exports, or that a file of ONNX or TensorFlow.js is. Throws PlainError if
 * the script exports none.
 */
export async function loadModel(
  command: string,
  path: string,
  values: Parsed["values"],
): Promise<Model> {
  if (isGraph(path)) return graphModel(command, path, extentsFrom(command, values.extents));
  return modelOf(path, await exportsOf(command, path, values));
}

type Exports = Readonly<Record<string, unknown>>;

/** What a script exports. Throws UsageError for options that are for other files. */
export async function exportsOf(
  command: string,
  path: string,
  values: Parsed["values"],
): Promise<Exports> {
  extentsFrom(command, values.extents);
  if (values.extents !== undefined)
    throw new UsageError(
      `kiln ${command}: --extents is for ONNX files, and ${short(path)} is none\n  a script says the extents itself`,
    );
  if (!isScript(path))
    throw new PlainError(
      `${short(path)}: is no script, no ONNX file and no model.json\n  name a .ts, .js, .onnx or .json file`,
    );
  return loadScript(path, { check: !values["no-check"] });
}

/** The model among exports. Throws PlainError where there is none. */
export async function modelOf(path: string, exports: Exports): Promise<Model> {
  const found = exports.model ?? exports.build ?? exports.default;
  const made = typeof found === "function" && !isCompiled(found) ? await found() : found;
  const { fn, inputs = exports.inputs, name } = partsOf(made);
  if (typeof fn !== "function")
    throw new PlainError(`${short(path)}: exports no model\n  export const model = { fn, inputs }`);
  if (!Array.isArray(inputs))
    throw new PlainError(
      `${short(path)}: the model has no inputs\n  export const model = { fn, inputs: [["N", 784]] }`,
    );
  return {
    fn: fn as Model["fn"],
    inputs,
    name: typeof name === "string" ? name : (fn.name || "model").replace(/^bound /, ""),
  };
}

const isCompiled = (x: object): x is CompiledFunction => "artifact" in x && "compiles" in x;

function partsOf(made: unknown): { fn?: unknown; inputs?: unknown; name?: unknown } {
  if (typeof made !== "object" || made === null) return {};
  if ("forward" in made && typeof made.forward === "function") {
    // A walk gives parameters the names of their paths.
    if ("state" in made && typeof made.state === "function") made.state();
    return { fn: made.forward.bind(made), name: made.constructor.name };
  }
  return isRecord(made) ? made : {};
}
