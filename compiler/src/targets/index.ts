/**
 * The targets by name. Each is loaded by an `import()` of its own, so that a page which compiles
 * for one of them never downloads the others; `all.ts` adds all of them at once for tools that need
 * not wait.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { GraphError } from "@kiln-ml/ir";
import type { Target } from "../target.ts";

const loaders: Readonly<Record<TargetName, () => Promise<Target>>> = {
  js: async () => (await import("./js/target.ts")).js,
  wasm: async () => (await import("./wasm/target.ts")).wasm,
  native: async () => (await import("./native/target.ts")).native,
  webgpu: async () => (await import("./wgsl/target.ts")).webgpu,
};

export const targetNames = Object.keys(loaders) as readonly TargetName[];

const loaded = new Map<TargetName, Target>();

/** Throws GraphError for a target the compiler does not have. */
export function checkTargetName(name: string): void {
  if (!Object.hasOwn(loaders, name))
    throw new GraphError(
      `compile: unknown target ${name}\n  targets are ${targetNames.join(", ")}`,
    );
}

/**
 * Makes programs compile for a target from here on. Rejects with GraphError for one the compiler
 * does not have.
 */
export async function loadTarget(name: TargetName): Promise<Target> {
  checkTargetName(name);
  const target = loaded.get(name) ?? (await loaders[name]());
  loaded.set(name, target);
  return target;
}

/** The same for a target that is there already. */
export function addTarget(target: Target): void {
  loaded.set(target.name, target);
}

/** Throws GraphError for a target that the compiler does not have, or that is not loaded. */
export function targetOf(name: TargetName): Target {
  checkTargetName(name);
  const target = loaded.get(name);
  if (!target)
    throw new GraphError(
      `compile: target ${name} is not loaded\n  await loadTarget("${name}") before`,
    );
  return target;
}
