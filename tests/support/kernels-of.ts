/** The kernels that a program is compiled to, as they are printed. */
import { input } from "@kiln-ml/ir";
import { type CompileOptions, compileProgram } from "../../compiler/src/all.ts";
import type { Started } from "../../compiler/src/plan/share.ts";
import type { Program } from "../../compiler/src/program.ts";

/** A random program with an input that says what N is, whatever else it has. */
export const sized = (program: Program): Program => ({
  ...program,
  inputs: [...program.inputs, input("sized", "i32", ["N"])],
});

/** Each kernel once, and where its parameters begin. */
export function startedOf(program: Program, options: CompileOptions): Started[] {
  let started: readonly Started[] = [];
  compileProgram(program, {
    ...options,
    observe: (stage, state) => {
      if (stage === "emit") started = state.started!;
    },
  });
  const known = new Map(started.map((s) => [`${s.key} ${s.starts}`, s]));
  return [...known.values()];
}
