/**
 * `kiln-ml/train`: training loops with the compiler plugged in, and with files in Node; in a page, whose bundler takes the
 * condition `browser` of `@kiln-ml/train/node`, what needs files says so when it is called.
 */
import "./eager/tensor-data.ts";
import { plug, surround } from "@kiln-ml/train";
import { readCheckpoint, terminal } from "@kiln-ml/train/node";
import { compile } from "./compile/compile.ts";
import { to } from "./devices/move.ts";
import { loadState, stateBytes } from "./state/state.ts";

plug({ compile: compile as never, move: to, stateBytes, loadState });
surround({ readCheckpoint, renderer: terminal });

export * from "@kiln-ml/train";
export * from "@kiln-ml/train/node";
