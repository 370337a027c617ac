/**
 * The two WebAssembly modules of the wasm target as files. Looks at no more of them than their first bytes: whether they
 * are valid, and have the functions that the manifest names, the engine says when it loads them.
 */
import type { Modules } from "./artifact.ts";
import { ArtifactError } from "./errors.ts";
import { manifestName } from "./schema.ts";
import { type TargetName, targets } from "./targets.ts";

/** The file of each variant. */
export const moduleFiles: Readonly<Record<keyof Modules, string>> = {
  plain: "kernels.wasm",
  relaxed: "kernels-relaxed.wasm",
};

const variants = Object.keys(moduleFiles) as (keyof Modules)[];

/** `\0asm`, version 1. */
const preamble = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** Throws ArtifactError unless there are modules exactly where the target's kernels are functions of them, each a module with contents or left out. */
export function checkModules(
  target: TargetName,
  modules: Partial<Modules> = {},
  omitted: readonly string[] = [],
): void {
  const expected = targets[target].kernels === "modules";
  for (const variant of variants) {
    const file = moduleFiles[variant];
    const bytes = modules[variant];
    if (!expected) {
      if (bytes) throw new ArtifactError(`${file}: target ${target} has no such file`);
      continue;
    }
    if (omitted.includes(file)) continue;
    if (!bytes) throw new ArtifactError(`${manifestName}: files does not list ${file}`);
    if (!preamble.every((b, i) => bytes[i] === b))
      throw new ArtifactError(`${file}: not a WebAssembly module of version 1`);
    if (bytes.length === preamble.length) throw new ArtifactError(`${file}: the module is empty`);
  }
}

/** The modules among the files of a folder. */
export const modulesOf = (files: ReadonlyMap<string, Uint8Array>): Partial<Modules> =>
  Object.fromEntries(
    variants.flatMap((v) => {
      const bytes = files.get(moduleFiles[v]);
      return bytes ? [[v, bytes] as const] : [];
    }),
  );

/** Both modules, with an empty one for what was left out. */
export const completed = ({ plain, relaxed }: Partial<Modules>): Modules => {
  const none = new Uint8Array(0);
  return { plain: plain ?? none, relaxed: relaxed ?? none };
};
