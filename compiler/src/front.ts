/**
 * What a program is and which targets there are, without the compiler: for whoever may find a
 * program compiled. Runs no pass.
 */
export * from "./program.ts";
export { checkTargetName, targetNames } from "./targets/index.ts";
