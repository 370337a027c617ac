/**
 * What few bits cost a decoder: errors of its matrices, and what it makes of a text beside the
 * model that it was made of.
 */
import {
  compile,
  type KeptWeight,
  nn,
  type QuantizedWeightReport,
  type TargetOption,
  tensorErrors,
} from "kiln-ml";
import { checkOptions, type OptionNames, stack, type Tensor, takeAlongAxis } from "kiln-ml/ir";
import type { Decoder } from "./decoder.ts";
import { LanguageModelError } from "./errors.ts";
import { QuantizedTable } from "./layers.ts";

export interface QuantizationReportOptions {
  /** Tokens that are read at once, each beside those before it in its window; default 128. */
  readonly window?: number;
  /** Where it runs; the default target if not given. */
  readonly target?: TargetOption;
}

export interface QuantizationReport {
  /** Of all parameters and buffers. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly weights: readonly QuantizedWeightReport[];
  readonly kept: readonly KeptWeight[];
  /** Tokens that were told from those before them. */
  readonly tokens: number;
  /** exp(mean of −log p(token)). */
  readonly perplexityBefore: number;
  readonly perplexityAfter: number;
  /** Of those tokens, after how many both models hold the same one for the likeliest. */
  readonly sameLargest: number;
  /** Of scores. */
  readonly maxError: number;
  readonly rmsError: number;
}

const reportOptions: OptionNames<QuantizationReportOptions> = { window: 1, target: 1 };

const widths: Readonly<Record<string, number>> = { f64: 8, f32: 4, u32: 4, i32: 4, f16: 2 };
const bytesOf = (t: Tensor): number =>
  (t.shape as number[]).reduce((a, b) => a * b, widths[t.dtype] ?? 1);

/**
 * The errors that few bits make: of each matrix, and of what the decoder says to a text, as
 * perplexity, the likeliest tokens and scores, beside the model in floats.
 *
 * Rejects with LanguageModelError for a text of fewer than two tokens, tokens that the model does
 * not know, and models of other sizes.
 *
 *     const [before, after] = [await loadModel(path), await loadModel(path, { weights: "int8" })];
 *     const tokens = before.tokenizer.encode(text);
 *     const report = await quantizationReport(before.net, after.net, tokens);
 *     report.perplexityAfter / report.perplexityBefore // about 1
 */
export async function quantizationReport(
  before: Decoder,
  after: Decoder,
  tokens: readonly number[],
  options: QuantizationReportOptions = {},
): Promise<QuantizationReport> {
  const op = "quantizationReport";
  const { window = 128, target } = checkOptions(op, options, reportOptions);
  checkTokens(op, before, after, tokens);
  const length = Math.min(window, before.config.context);
  if (!(Number.isInteger(window) && window > 0))
    throw new LanguageModelError(`${op}: window must be an integer of 1 or more, got ${window}`);
  const scores = await comparedScores(before, after, tokens, { length, target });
  const { weights, kept } = await comparedWeights(before, after);
  const all = (net: Decoder): number =>
    [...net.state().values()].reduce((sum, t) => sum + bytesOf(t), 0);
  return { bytesBefore: all(before), bytesAfter: all(after), weights, kept, ...scores };
}

function checkTokens(op: string, before: Decoder, after: Decoder, tokens: readonly number[]): void {
  const { vocabulary, width } = before.config;
  if (after.config.vocabulary !== vocabulary || after.config.width !== width)
    throw new LanguageModelError(
      `${op}: one model has ${vocabulary} tokens of ${width} numbers, the other ${after.config.vocabulary} of ${after.config.width}\n  compare a model with what was made of it`,
    );
  if (tokens.length < 2)
    throw new LanguageModelError(
      `${op}: the text has ${tokens.length} tokens, none of which stands behind another\n  give a text of some hundred words`,
    );
  const odd = tokens.find((t) => !(Number.isInteger(t) && t >= 0 && t < vocabulary));
  if (odd !== undefined)
    throw new LanguageModelError(
      `${op}: the text has token ${odd}, the model knows ${vocabulary}\n  take the tokenizer that came with the weights`,
    );
}

interface Reading {
  readonly length: number;
  readonly target: TargetOption | undefined;
}

/** Both models in one program, window by window: only sums for each token come back. */
async function comparedScores(
  before: Decoder,
  after: Decoder,
  tokens: readonly number[],
  { length, target }: Reading,
) {
  const row = { shape: [1, "T"], dtype: "i32" as const };
  const both = compile(
    (seen: Tensor, next: Tensor) => {
      const [a, b] = [before.forward(seen), after.forward(seen)];
      const missed = (s: Tensor): Tensor =>
        s.logSumExp([-1]).sub(takeAlongAxis(s, next.expandDims(-1), 2).squeeze([-1]));
      const same = a
        .argMax([-1])
        .equal(b.argMax([-1]))
        .convert("f32");
      const error = b.sub(a);
      const errors = [error.abs().max([-1]), error.square().mean([-1])];
      return stack([missed(a), missed(b), same, ...errors]);
    },
    { name: "quantizationReport", inputs: [row, row], ...(target && { target }) },
  );
  let [count, lossBefore, lossAfter, same, most, squares] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at + 1 < tokens.length; at += length) {
    const part = tokens.slice(at, at + length + 1);
    const n = part.length - 1;
    const of = (list: readonly number[]) => ({ data: Int32Array.from(list), shape: [1, n] });
    const told = await both(of(part.slice(0, n)), of(part.slice(1)));
    const values = [...(await told.data())].map(Number);
    told.dispose();
    for (let t = 0; t < n; t++) {
      lossBefore += values[t]!;
      lossAfter += values[n + t]!;
      same += values[2 * n + t]!;
      most = Math.max(most, values[3 * n + t]!);
      squares += values[4 * n + t]!;
    }
    count += n;
  }
  await both.dispose();
  return {
    tokens: count,
    perplexityBefore: Math.exp(lossBefore / count),
    perplexityAfter: Math.exp(lossAfter / count),
    sameLargest: same,
    maxError: most,
    rmsError: Math.sqrt(squares / count),
  };
}

/** What stands for each weight of `before` that is another in `after`; the others with a reason. */
async function comparedWeights(before: Decoder, after: Decoder) {
  const [weights, kept]: [QuantizedWeightReport[], KeptWeight[]] = [[], []];
  const others = after.modules();
  const states = after.state();
  for (const [path, layer] of before.modules()) {
    const other = others.get(path);
    const few = other instanceof nn.Linear ? other.quantized : other;
    if (!(few instanceof QuantizedTable) && !(other instanceof nn.Linear && few)) continue;
    const was = layer instanceof nn.Linear ? layer.matrix() : (layer as nn.Embedding).weight;
    if (was === undefined) continue;
    const held = few as QuantizedTable | nn.QuantizedWeight;
    const bytesAfter = [...held.state().values()].reduce((n, t) => n + bytesOf(t), 0);
    const found = held.value().dequantize();
    weights.push(await changed(`${path}.weight`, was, found, bytesAfter));
  }
  const done = new Set(weights.map((w) => w.name));
  for (const [name, was] of before.state()) {
    if (done.has(name)) continue;
    const now = states.get(name);
    if (now && now.dtype !== was.dtype) weights.push(await changed(name, was, now, bytesOf(now)));
    else kept.push({ name, bytes: bytesOf(was), why: reasonOf(name, was, before) });
  }
  return { weights, kept };
}

async function changed(
  name: string,
  was: Tensor,
  now: Tensor,
  bytesAfter: number,
): Promise<QuantizedWeightReport> {
  const shape = was.shape as readonly number[];
  const errors = await tensorErrors(was, now);
  return { name, shape, bytesBefore: bytesOf(was), bytesAfter, ...errors };
}

function reasonOf(name: string, t: Tensor, { model, lm_head, config }: Decoder): string {
  if (t.rank < 2) return "a vector";
  const { weight } = model.embed_tokens as nn.Embedding;
  if (t === weight) return config.tied ? "rows of tokens, and the head" : "rows of tokens";
  if (t === lm_head?.weight) return "the head, which was to be kept";
  return name.includes("embed_positions") ? "rows of places" : "was to be kept";
}
