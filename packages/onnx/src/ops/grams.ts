/**
 * TfIdfVectorizer: counts of n-grams of integers.
 */
import {
  concat,
  convert,
  isStatic,
  reshape,
  sliceAxis,
  type Tensor,
  tensor,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";

const split = (text: readonly number[], at: readonly number[], k: number): readonly number[] =>
  text.slice(at[k], at[k + 1] ?? text.length);

/** The n-grams of the pool with the place of each in the result. */
function gramsOf(n: NodeContext): { gram: readonly number[]; index: number }[] {
  if (n.hasAttribute("pool_strings")) n.fail("strings have no dtype");
  const [pool, starts] = [n.ints("pool_int64s"), n.ints("ngram_counts")];
  const indexes = n.ints("ngram_indexes");
  const [least, most] = [n.int("min_gram_length"), n.int("max_gram_length")];
  const grams: { gram: readonly number[]; index: number }[] = [];
  let at = 0;
  for (const k of starts.keys()) {
    const part = split(pool, starts, k);
    for (let i = 0; i + k + 1 <= part.length; i += k + 1) {
      const index = indexes[at++]!;
      if (k + 1 >= least && k + 1 <= most) grams.push({ gram: part.slice(i, i + k + 1), index });
    }
  }
  return grams;
}

/** How often the n-grams of a pool occur in each row, with up to `max_skip_count` elements left out between neighbours. */
function tfIdf(n: NodeContext): Result {
  const given = n.tensor(0);
  const x = given.rank === 1 ? reshape(given, [1, given.shape[0]!]) : given;
  const width = Math.max(...n.ints("ngram_indexes")) + 1;
  const length = x.shape[1]!;
  if (!isStatic(length)) return n.fail("the length of a row is symbolic");
  const weights = n.floats("weights", []);
  const mode = n.string("mode");
  const columns: Tensor[] = new Array(width);
  for (const { gram, index } of gramsOf(n)) {
    const skips = gram.length === 1 ? 0 : n.int("max_skip_count");
    const found: Tensor[] = [];
    for (let skip = 1; skip <= skips + 1; skip++) {
      const count = length - (gram.length - 1) * skip;
      if (count <= 0) break;
      const tests = gram.map((v, j) => sliceAxis(x, 1, j * skip, j * skip + count).equal(v));
      found.push(tests.reduce((a, b) => a.and(b)).sum(1));
    }
    if (found.length) columns[index] = found.reduce((a, b) => a.add(b));
  }
  const counts = stackColumns(x, columns);
  const scale = weights.length ? tensor(columnWeights(n, weights, width)) : 1;
  const y = mode === "TF" ? counts : (mode === "IDF" ? counts.minimum(1) : counts).mul(scale);
  return typed(given.rank === 1 ? reshape(y, [width]) : y, "float32");
}

/** Counts side by side; n-grams that are not looked for count 0. */
function stackColumns(x: Tensor, columns: readonly (Tensor | undefined)[]): Tensor {
  const rows = x.shape[0]!;
  const parts = Array.from(columns, (c) =>
    reshape(c ? convert(c, "f32") : zeros([rows]), [rows, 1]),
  );
  return concat(parts, 1);
}

/** Weights in the order of the pool at the places of the result. */
function columnWeights(n: NodeContext, weights: readonly number[], width: number): Float32Array {
  const out = new Float32Array(width).fill(1);
  for (const [i, index] of n.ints("ngram_indexes").entries()) out[index] = weights[i] ?? 1;
  return out;
}

export const gramRows: readonly Row[] = [
  row("TfIdfVectorizer", tfIdf, { note: "of integers only" }),
];
