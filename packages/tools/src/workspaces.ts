/**
 * The workspaces of the repository as the build sees them: folder, manifest, and the source file
 * behind each entry the manifest exports. Reads package.json files only.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Paths of an entry by condition; a condition may have others within. */
export interface Conditions {
  readonly [condition: string]: string | Conditions;
}

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, Conditions | string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Workspace {
  /** Relative to the root, `/`-separated. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Relative to the folder: `./src/index.ts`. */
  readonly entries: readonly string[];
}

/** A command's source is named like its built file: `./dist/cli.js` comes from `./src/cli.ts`. */
function sourceOfBin(path: string): string {
  return path.replace(/^(\.\/)?dist\//, "./src/").replace(/\.js$/, ".ts");
}

/** All files that conditions lead to. */
const pathsOf = (to: string | Conditions = {}): string[] =>
  typeof to === "string" ? [to] : Object.values(to).flatMap(pathsOf);

function entriesOf({ exports, bin }: Manifest): string[] {
  const exported = Object.values(exports ?? {}).flatMap((to) =>
    typeof to === "string" ? [] : pathsOf(to["@kiln-ml/source"]),
  );
  return [...new Set([...exported, ...Object.values(bin ?? {}).map(sourceOfBin)])];
}

/** Every workspace that is published, in the order of the root's list. */
export function publishedWorkspaces(root: string): Workspace[] {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
  const patterns: string[] = read("package.json").workspaces;
  const folders = patterns.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -2);
    return readdirSync(join(root, parent)).map((name) => `${parent}/${name}`);
  });
  return folders
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => ({ folder, manifest: read(`${folder}/package.json`) as Manifest }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({ folder, manifest, entries: entriesOf(manifest) }));
}
