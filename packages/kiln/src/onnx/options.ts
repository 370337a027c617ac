/**
 * The options of `loadOnnx`, and the names that it takes for them.
 */
import type { OptionNames } from "@kiln-ml/ir";
import type { External } from "@kiln-ml/onnx";
import { type CompileOptions, compileOptions } from "../compile/compile-options.ts";

export interface OnnxOptions extends Omit<CompileOptions, "inputs"> {
  /** The name of the file, for messages. */
  readonly file?: string;
  /** A file of external data beside the model: its bytes, or a file of which ranges are read. In Node: `filesBeside(path)`. */
  readonly external?: External;
  /** Extents for symbols of the file: a number, or an expression in other symbols, `{ height: "32*h" }`. */
  readonly dims?: Readonly<Record<string, number | string>>;
}

const { inputs: _inputs, ...ofCompile } = compileOptions;

export const onnxOptions: OptionNames<OnnxOptions> = {
  ...ofCompile,
  file: 1,
  external: 1,
  dims: 1,
};
