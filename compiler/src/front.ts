/**
 * What a program is and which targets there are, without the compiler: for whoever may find a
 * program compiled. Runs no pass.
 */

export { engine } from "./machine/js.ts";
export { secondsOf } from "./machine/machine.ts";
export { thread } from "./machine/wasm.ts";
export * from "./program.ts";
export { checkTargetName, targetNames } from "./targets/index.ts";
