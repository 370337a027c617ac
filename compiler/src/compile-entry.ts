/**
 * What compiling takes and nothing else, for pages that load the compiler when they come to need
 * it: a bundle keeps all of it.
 */
export { compileProgram } from "./compile.ts";
export { loadTarget } from "./targets/index.ts";
