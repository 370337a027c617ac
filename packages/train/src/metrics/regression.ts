/**
 * Measures of numbers: output and target of one shape, all of their elements alike. Sums are f32.
 */
import { checkOptions, checkTensor, GraphError, kindOf, select, type Tensor } from "@kiln-ml/ir";
import type { HostSums, Metric, Sums } from "../meter.ts";
import { checkClasses, checkSameShape, countOf } from "./counting.ts";

type Terms = (output: Tensor, target: Tensor) => Tensor;

function meanOf(name: string, terms: Terms, finish: (mean: number) => number = (m) => m): Metric {
  return {
    name,
    mode: "min",
    batch(output, target) {
      checkSameShape(name, output, target);
      const each = terms(output.convert("f32"), target.convert("f32"));
      return { sum: each.sum(), count: countOf(each) };
    },
    value: ({ sum, count }) => finish(sum![0]! / count![0]!),
  };
}

const squares: Terms = (output, target) => output.sub(target).square();

/** Mean of |output − target|. */
export const mae = (): Metric => meanOf("mae", (output, target) => output.sub(target).abs());
/** Mean of (output − target)². */
export const mse = (): Metric => meanOf("mse", squares);
/** √ of the mean of (output − target)² over the whole epoch. */
export const rmse = (): Metric => meanOf("rmse", squares, Math.sqrt);

export interface PsnrOptions {
  /** The largest value less the smallest that an image may have, default 1. */
  readonly range?: number;
}

/** 10·log₁₀(range² / mse) in dB, the error being the mean over the whole epoch. */
export function psnr(options: PsnrOptions = {}): Metric {
  const { range = 1 } = checkOptions("psnr", options, { range: 1 });
  if (!(range > 0)) throw new GraphError(`psnr: range must be positive, got ${kindOf(range)}`);
  return {
    ...meanOf("psnr", squares, (m) => 10 * Math.log10((range * range) / m)),
    mode: "max",
  };
}

/** n, mean and Σ (t − mean)² of two parts together: Chan, Golub & LeVeque 1979. Sums of squares would cancel. */
function mergeMoments(a: Sums, b: Sums): Sums {
  const n = a.n!.add(b.n!);
  const delta = b.mean!.sub(a.mean!);
  const share = b.n!.div(n);
  return {
    n,
    mean: a.mean!.add(delta.mul(share)),
    spread: a.spread!.add(b.spread!).add(delta.square().mul(a.n!).mul(share)),
    error: a.error!.add(b.error!),
  };
}

/** 1 − Σ (output − target)² / Σ (target − mean)², over all elements. NaN where all targets are one number. */
export const r2 = (): Metric => ({
  name: "r2",
  mode: "max",
  batch(output, target) {
    checkSameShape("r2", output, target);
    const [y, t] = [output.convert("f32"), target.convert("f32")];
    const mean = t.mean();
    return {
      n: countOf(t).convert("f32"),
      mean,
      spread: t.sub(mean).square().sum(),
      error: squares(y, t).sum(),
    };
  },
  merge: mergeMoments,
  value: ({ spread, error }: HostSums) => (spread![0]! ? 1 - error![0]! / spread![0]! : NaN),
});

export interface PerplexityOptions {
  /** A class that does not count, such as padding. */
  readonly ignore?: number;
}

/** exp of the mean of −log p(target). scores: logits float[…, C], target: i32[…]. */
export function perplexity(options: PerplexityOptions = {}): Metric {
  const { ignore } = checkOptions("perplexity", options, { ignore: 1 });
  return {
    name: "perplexity",
    mode: "min",
    batch(scores, target) {
      checkClasses("perplexity", scores, target);
      const at = target.convert("i32");
      const logs = scores.convert("f32").logSoftmax(-1);
      const each = logs.takeAlongAxis(at.maximum(0).expandDims(-1), -1).squeeze(-1).neg();
      if (ignore === undefined) return { sum: each.sum(), count: countOf(each) };
      const counts = at.notEqual(ignore);
      return { sum: select(counts, each, 0).sum(), count: counts.convert("i32").sum() };
    },
    value: ({ sum, count }) => Math.exp(sum![0]! / count![0]!),
  };
}

/** The mean of what `terms` gives for each batch, over all of its elements: for a measure of one's own. */
export function mean(name: string, terms: Terms, mode: "min" | "max" = "max"): Metric {
  if (typeof name !== "string" || typeof terms !== "function")
    throw new GraphError(
      `mean: takes a name and a function of output and target, got ${kindOf(name)} and ${kindOf(terms)}\n  mean("absolute", (y, t) => y.sub(t).abs())`,
    );
  return {
    name,
    mode,
    batch(output, target) {
      for (const t of [output, target]) checkTensor(name, t);
      const each = terms(output, target).convert("f32");
      return { sum: each.sum(), count: countOf(each) };
    },
    value: ({ sum, count }) => sum![0]! / count![0]!,
  };
}
