/**
 * Ops of signal processing: DFT, STFT, windows, MelWeightMatrix. Lengths must be numbers, so that their tables can be made during import.
 */
import {
  checkAxis,
  concat,
  convert,
  isStatic,
  reshape,
  sliceAxis,
  type Tensor,
  tensor,
  transpose,
  windows,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { dtypeOf } from "../element.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { fourier } from "./fourier.ts";
import { elementTypeAt } from "./generate.ts";

/** The axis: an attribute before opset 20, an input since. */
function axisOf(n: NodeContext, rank: number): number {
  const given = n.opset < 20 ? n.int("axis", 1) : n.has(2) ? n.number(2) : -2;
  return checkAxis("dft", given, rank);
}

function dft(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const axis = axisOf(n, x.rank);
  const [inverse, onesided] = [n.flag("inverse"), n.flag("onesided")];
  const extent = x.shape[axis]!;
  const whole = () => (isStatic(extent) ? extent : n.fail("the length of the line is symbolic"));
  const length = n.has(1) ? n.number(1) : inverse && onesided ? 2 * (whole() - 1) : whole();
  const order = x.shape.map((_, i) => i).filter((i) => i !== axis);
  order.splice(x.rank - 2, 0, axis);
  const y = fourier(transpose(x, order), length, { inverse, onesided });
  return transpose(
    y,
    order.map((_, i) => order.indexOf(i)),
  );
}

/** Spectra of overlapping frames: signal[B, L, 1 or 2] → [B, frames, bins, 2]. */
function stft(n: NodeContext): Tensor {
  const given = n.tensor(0);
  const x = given.rank === 2 ? reshape(given, [...given.shape, 1]) : given;
  const step = n.number(1);
  const shape = n.maybe(2);
  const length = n.has(3) ? n.number(3) : shape?.shape[0];
  if (length === undefined || !isStatic(length))
    return n.fail("the length of a frame is not known");
  // [B, parts, frames, length], and the parts last.
  const frames = windows(transpose(x, [0, 2, 1]), { size: length, stride: step });
  const framed = transpose(shape ? frames.mul(shape) : frames, [0, 2, 3, 1]);
  const real = x.shape[2] === 1;
  return fourier(framed, length, { inverse: false, onesided: real && n.flag("onesided", true) });
}

/** a₀ − a₁·cos(2πi/N) + a₂·cos(4πi/N). */
const windowRow = (op: string, a: readonly [number, number, number]): Row =>
  row(op, (n): Result => {
    const size = n.number(0);
    const type = elementTypeAt(n, n.int("output_datatype", 1));
    const period = n.flag("periodic", true) ? size : size - 1;
    const values = Float64Array.from({ length: size }, (_, i) => {
      const angle = (2 * Math.PI * i) / Math.max(1, period);
      return a[0] - a[1] * Math.cos(angle) + a[2] * Math.cos(2 * angle);
    });
    return typed(convert(tensor(values, { dtype: "f32" }), dtypeOf(type)), type);
  });

const toMel = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700);
const toHertz = (mel: number): number => 700 * (10 ** (mel / 2595) - 1);

/** Triangles over the bins of a spectrum, at equal distances in mel: [bins, mels]. */
function melWeights(n: NodeContext): Result {
  const [mels, length, rate, low, high] = [0, 1, 2, 3, 4].map((i) => n.number(i)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const bins = Math.floor(length / 2) + 1;
  const step = (toMel(high) - toMel(low)) / (mels + 2);
  const edges = Array.from({ length: mels + 2 }, (_, i) =>
    Math.floor(((length + 1) * toHertz(toMel(low) + i * step)) / rate),
  );
  const weights = new Float32Array(bins * mels);
  for (let m = 0; m < mels; m++) {
    const [from, peak, to] = [edges[m]!, edges[m + 1]!, edges[m + 2]!];
    if (peak === from) weights[peak * mels + m] = 1;
    else for (let j = from; j <= peak; j++) weights[j * mels + m] = (j - from) / (peak - from);
    for (let j = peak; j < to; j++) weights[j * mels + m] = (to - j) / (to - peak);
  }
  const type = elementTypeAt(n, n.int("output_datatype", 1));
  return typed(convert(tensor(weights, { shape: [bins, mels] }), dtypeOf(type)), type);
}

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

export const signalRows: readonly Row[] = [
  row("DFT", dft, { note: "the length must be a number" }),
  row("STFT", stft, { note: "the length of a frame must be a number" }),
  windowRow("HannWindow", [0.5, 0.5, 0]),
  windowRow("HammingWindow", [25 / 46, 21 / 46, 0]),
  windowRow("BlackmanWindow", [0.42, 0.5, 0.08]),
  row("MelWeightMatrix", melWeights),
  row("TfIdfVectorizer", tfIdf, { note: "of integers only" }),
];
