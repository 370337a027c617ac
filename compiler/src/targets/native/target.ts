/**
 * The native target: C with vectors as wide as the machine's, which a compiler of the user's makes
 * a library of. Schedules are those of wasm; a feature says how many lanes they cut for. Nothing
 * limits what is fused.
 */
import { lanesOf } from "../../kernel/lanes.ts";
import type { Target } from "../../target.ts";
import { wasm } from "../wasm/target.ts";
import { emitNative } from "./emit.ts";

const { link: _modules, ...shared } = wasm;

export const native: Target = {
  ...shared,
  name: "native",
  emit: (kernel, { features }) => emitNative(kernel, lanesOf(features)),
};
