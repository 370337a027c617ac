/** Where things are from a script's point of view: packages, project files, and a folder for scratch files. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { removeOnExit } from "@kiln-ml/artifact/node";

/** The file that a script's import of `name` would load; undefined if it is not installed. */
export function resolveFrom(script: string, name: string): string | undefined {
  try {
    return createRequire(script).resolve(name);
  } catch {
    return undefined;
  }
}

/**
 * A file of ours from where the script's packages are found, in a folder that is new, so that nobody can have put anything in
 * its place. Removed by `done`, and when the process ends.
 */
export function scratchFile(script: string, name: string): { path: string; done(): void } {
  const modules = findUp(dirname(script), "node_modules");
  const parent = modules ? join(modules, ".cache/kiln") : tmpdir();
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "kiln-"));
  const { done } = removeOnExit(folder);
  return {
    path: join(folder, name),
    done() {
      rmSync(folder, { force: true, recursive: true });
      done();
    },
  };
}

export function findUp(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, name))) return join(at, name);
    if (dirname(at) === at) return undefined;
  }
}
