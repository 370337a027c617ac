/**
 * Real files to damage: the fixtures of the repository, what our writers write, and small files of the public archives
 * where those are there.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../support/data.ts";

/** Larger files would only be slower to damage. */
const largest = 40_000;

const fixtures = "tests/fixtures/formats";

function filesUnder(folder: string, pattern: RegExp): Uint8Array[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => pattern.test(path))
    .sort()
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).size <= largest)
    .map((path) => new Uint8Array(readFileSync(path)));
}

/** Files whose path matches, of the fixtures and of the archives. */
export function corpus(pattern: RegExp, ...archives: readonly string[]): Uint8Array[] {
  const folders = archives.map(dataFolder).filter((folder) => folder !== undefined);
  return [fixtures, ...folders].flatMap((folder) => filesUnder(folder, pattern));
}
