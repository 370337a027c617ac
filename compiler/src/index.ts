/** The compiler: programs to artifacts. */
export type { Decision, Tuning } from "./choices.ts";
export { type Compiled, type CompileOptions, compileProgram, type Stage } from "./compile.ts";
export type { Group } from "./fuse/group.ts";
export type { Kernel } from "./kernel/kernel.ts";
export { parseKernel } from "./kernel/parse.ts";
export { printKernel } from "./kernel/print.ts";
export { verifyKernel } from "./kernel/verify.ts";
export type { Pass } from "./pass.ts";
export { graphPasses, stages } from "./pipeline.ts";
export { printGroups } from "./plan/print-groups.ts";
export { printPlan } from "./plan/print-plan.ts";
export * from "./program.ts";
export type { Target } from "./target.ts";
export { checkTargetName, loadTarget, targetNames } from "./targets/index.ts";
