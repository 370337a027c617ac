/**
 * The examples as the runner knows them: how each is started, quickly and in full, and what it must reach. A number of it is
 * held against a bound, so that an example that runs but no longer learns fails.
 */

export interface Example {
  readonly name: string;
  readonly script: string;
  /** What it shows, for the page. */
  readonly shows: string;
  readonly full?: readonly string[];
  /** Arguments of a slice that takes seconds and needs no files from elsewhere. */
  readonly quick?: readonly string[];
  /** Finds the number that is held against bounds, in the last line that has one; the first group. */
  readonly number: RegExp;
  readonly reaches: { readonly quick: Bound; readonly full: Bound };
  /** The archive of `../shared/data` that the full run reads. */
  readonly archive?: string;
  /** What PyTorch reaches with the same recipe, and how that is known. */
  readonly pytorch?: string;
}

/** At least, or at most. */
export type Bound = readonly [">=" | "<=", number];

const both = (bound: Bound) => ({ quick: bound, full: bound });

export const examples: readonly Example[] = [
  {
    name: "linear-regression",
    script: "examples/linear-regression.ts",
    shows: "the smallest training loop",
    number: /y = ([\d.]+)/,
    reaches: both([">=", 1.999]),
  },
  {
    name: "xor-keras",
    script: "examples/xor-keras.ts",
    shows: "layers in the habit of Keras",
    number: /1 xor 1 = ([\d.]+)$/,
    reaches: both(["<=", 0.2]),
  },
  {
    name: "characters",
    script: "examples/characters.ts",
    shows: "a transformer by characters, and sampling with a cache",
    quick: ["120", "70"],
    number: /^step \d+: loss ([\d.]+)/,
    reaches: { quick: ["<=", 1], full: ["<=", 0.5] },
  },
  {
    name: "digits",
    script: "examples/digits/fit.ts",
    shows: "a trainer with metrics, checkpoints and resume, TensorBoard, a report",
    quick: ["--samples", "1500", "--epochs", "3", "--out", "{folder}"],
    full: ["--out", "{folder}"],
    number: /test accuracy ([\d.]+)/,
    reaches: { quick: [">=", 80], full: [">=", 97] },
  },
  {
    name: "gcn",
    script: "examples/gcn.ts",
    shows: "node classification: a graph convolution on Cora",
    quick: ["--quick"],
    number: /test accuracy ([\d.]+)/,
    reaches: { quick: [">=", 0.8], full: [">=", 0.8] },
    archive: "graphs",
  },
];
