/**
 * The options that `compileProgram` knows; any other is refused. Apart from `compile.ts`, which
 * says what they mean.
 */
import { checkOptions, type OptionNames } from "@kiln-ml/ir";
import type { CompileOptions } from "./compile.ts";

const compileOptions: OptionNames<CompileOptions> = {
  target: 1,
  name: 1,
  fusion: 1,
  rounding: 1,
  limits: 1,
  features: 1,
  tuning: 1,
  observe: 1,
  verify: 1,
  refused: 1,
};

/** Throws GraphError for an option that is none of `compileProgram`. */
export const checkCompileOptions = (options: CompileOptions): CompileOptions =>
  checkOptions("compileProgram", options, compileOptions);
