/** Where things are from a script's point of view: packages, project files, and a folder for scratch files. */
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The file that a script's import of `name` would load; undefined if it is not installed. */
export function resolveFrom(script: string, name: string): string | undefined {
  try {
    return createRequire(script).resolve(name);
  } catch {
    return undefined;
  }
}

/** A path for a file of ours from where the script's packages are found. */
export function scratchFile(script: string, name: string): string {
  const modules = findUp(dirname(script), "node_modules");
  const folder = modules ? join(modules, ".cache/kiln") : tmpdir();
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
}

export function findUp(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, name))) return join(at, name);
    if (dirname(at) === at) return undefined;
  }
}
