/**
 * Public data sets and models that are not in the repository: archives in a `shared/data` folder beside the clone,
 * or where `KILN_DATA` says. A test on one that is absent is a counted skip, in CI too.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "uvu";
import { skip } from "./skip.ts";

const archives = resolve(process.env.KILN_DATA ?? "../shared/data");

/** The folder an archive (`mnist-full`) is unpacked in, once a clone; undefined if the archive is absent. */
export function dataFolder(archive: string): string | undefined {
  const source = join(archives, `${archive}.tar.gz`);
  if (!existsSync(source)) return undefined;
  const folder = resolve("node_modules/.cache/kiln-data", archive);
  if (existsSync(folder)) return folder;
  // Another run may be unpacking too, and half a folder must not be found.
  const partial = `${folder}-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  execFileSync("tar", ["xzf", source, "-C", partial]);
  try {
    renameSync(partial, folder);
  } catch {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
}

/** Registers a test on the unpacked archive; without the archive it is a counted skip. */
export function dataTest(
  name: string,
  archive: string,
  body: (folder: string) => void | Promise<void>,
): void {
  if (!existsSync(join(archives, `${archive}.tar.gz`))) {
    skip(name, `no data: ${archive}`);
    return;
  }
  test(name, () => body(dataFolder(archive) ?? ""));
}
