/** The compiler: programs to artifacts. */
export { type Compiled, type CompileOptions, compileProgram, type Stage } from "./compile.ts";
export type { Group } from "./fuse/group.ts";
export type { Kernel } from "./kernel/kernel.ts";
export type { Pass } from "./pass.ts";
export { graphPasses, stages } from "./pipeline.ts";
export * from "./program.ts";
export { targetOf, targets } from "./targets/index.ts";
