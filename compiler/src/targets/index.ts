/** The targets by name. */
import type { TargetName } from "@kiln-ml/artifact";
import { GraphError } from "@kiln-ml/ir";
import type { Target } from "../target.ts";
import { js } from "./js/target.ts";
import { wasm } from "./wasm/target.ts";
import { webgpu } from "./wgsl/target.ts";

export const targets: Readonly<Partial<Record<TargetName, Target>>> = { js, wasm, webgpu };

/** Throws GraphError for a target the compiler does not have. */
export function targetOf(name: TargetName): Target {
  const target = targets[name];
  if (!target)
    throw new GraphError(
      `compile: unknown target ${name}\n  targets are ${Object.keys(targets).join(", ")}`,
    );
  return target;
}

export { emitJs } from "./js/emit.ts";
export type { Rounding } from "./js/language.ts";
export { emitWasm } from "./wasm/emit.ts";
export { emitWgsl, type WgslOptions } from "./wgsl/emit.ts";
