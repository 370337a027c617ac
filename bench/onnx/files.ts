/**
 * Files of a folder or of an archive, by path. Reads those of a folder when they are asked for. Knows nothing of ONNX.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readTarGz } from "../../tests/support/tar.ts";

export interface Files {
  /** Where they are from. */
  readonly path: string;
  readonly names: readonly string[];
  /** The bytes of one, undefined if there is none of that name. */
  readonly read: (name: string) => Uint8Array | undefined;
}

/** Where the archives of public data lie: `KILN_DATA`, or a folder beside the clone. */
export const dataPath = (name: string): string =>
  join(resolve(process.env.KILN_DATA ?? "../shared/data"), name);

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((name) => name.replaceAll("\\", "/"))
    .sort();
}

/** The files of a folder, a `.tar` or a `.tar.gz`; undefined if there is nothing at that path. */
export function openFiles(path: string): Files | undefined {
  if (!existsSync(path)) return undefined;
  if (statSync(path).isDirectory()) {
    const folder = resolve(path);
    const names = filesIn(folder);
    const known = new Set(names);
    const read = (name: string) => (known.has(name) ? readFileSync(join(folder, name)) : undefined);
    return { path, names, read };
  }
  const files = readTarGz(path);
  return { path, names: [...files.keys()].sort(), read: (name) => files.get(name) };
}
