/**
 * Normalisations within one sample: over trailing axes, over groups of channels, over neighbouring channels, by a norm. Half floats
 * are computed in f32.
 */
import {
  convert,
  type Dim,
  floorDiv,
  mean,
  norm,
  pad,
  reshape,
  sameDim,
  select,
  type Tensor,
  variance,
  windows,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { microsoft, type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { axisOf, inWide, range, widened } from "./operands.ts";

const trailing = (n: NodeContext, x: Tensor, fallback = -1): number[] =>
  range(x.rank).slice(axisOf(n, n.int("axis", fallback), x.rank));

/** (x − mean)/√(variance + ε)·scale + bias over the trailing axes, the mean, and 1/√…. */
export function layerNorm(
  n: NodeContext,
  own: Tensor,
  scale: Tensor | undefined,
  bias: Tensor | undefined,
  epsilon = 1e-5,
): readonly [Tensor, Tensor, Tensor] {
  const x = widened(own);
  const axes = trailing(n, x);
  const m = mean(x, axes, { keepDims: true });
  const spread = variance(x, axes, { keepDims: true });
  const inverse = spread.add(n.float("epsilon", epsilon)).sqrt().reciprocal();
  const y = affine(x.sub(m).mul(inverse), scale, bias);
  return [convert(y, own.dtype), m, inverse];
}

const statistic = (t: Tensor) => typed(convert(t, "f32"), "float32");

/** The statistics are f32. */
function layerNormalization(n: NodeContext): Result {
  const [y, m, inverse] = layerNorm(n, n.tensor(0), n.maybe(1), n.maybe(2));
  return [typed(y, n.type(0)), statistic(m), statistic(inverse)];
}

function affine(x: Tensor, scale: Tensor | undefined, bias: Tensor | undefined): Tensor {
  const scaled = scale ? x.mul(widened(scale)) : x;
  return bias ? scaled.add(widened(bias)) : scaled;
}

/** x/√(mean x² + ε)·scale, and the factor 1/√…. */
export function rmsNorm(
  n: NodeContext,
  own: Tensor,
  scale: Tensor | undefined,
  epsilon = 1e-5,
): readonly [Tensor, Tensor] {
  const x = widened(own);
  const squares = mean(x.mul(x), trailing(n, x), { keepDims: true });
  const inverse = squares.add(n.float("epsilon", epsilon)).sqrt().reciprocal();
  return [convert(affine(x.mul(inverse), scale, undefined), own.dtype), inverse];
}

/** Scale and bias are one a group in opset 18 to 20, and one a channel since. */
function groupNormalization(n: NodeContext): Tensor {
  const own = n.tensor(0);
  const groups = n.int("num_groups");
  const x = widened(own);
  const [batch, channels, ...rest] = x.shape as [Dim, Dim, ...Dim[]];
  const size = floorDiv(channels, groups);
  const grouped = reshape(x, [batch, groups, size, ...rest]);
  const axes = range(grouped.rank).slice(2);
  const spread = variance(grouped, axes, { keepDims: true }).add(n.float("epsilon", 1e-5));
  const y = grouped.sub(mean(grouped, axes, { keepDims: true })).div(spread.sqrt());
  const each = (i: number) => {
    const v = widened(n.tensor(i));
    const shape = sameDim(v.shape[0]!, channels) ? [groups, size] : [groups, 1];
    return reshape(v, [...shape, ...rest.map(() => 1)]);
  };
  return convert(reshape(y.mul(each(1)).add(each(2)), x.shape), own.dtype);
}

/** x/(bias + alpha/size·Σx²)^beta, the sum over `size` neighbouring channels, the odd one after. */
function localResponse(n: NodeContext): Tensor {
  const [size, beta] = [n.int("size"), n.float("beta", 0.75)];
  const [alpha, bias] = [n.float("alpha", 1e-4), n.float("bias", 1)];
  return inWide(n.tensor(0), (x) => {
    const before = Math.floor((size - 1) / 2);
    const none = x.shape.map(() => 0);
    const side = (count: number) => none.map((_, axis) => (axis === 1 ? count : 0));
    const padded = pad(x.mul(x), 0, side(before), side(size - 1 - before));
    const window = x.shape.slice(1).map((_, i) => (i === 0 ? size : 1));
    const placed = windows(padded, { size: window });
    const sums = placed.sum(range(placed.rank).slice(x.rank));
    const base = sums.mul(alpha / size).add(bias);
    // √√ is cheaper than a power, and every network uses ¾.
    const root = base.sqrt();
    return x.div(beta === 0.75 ? root.mul(root.sqrt()) : base.pow(beta));
  });
}

function meanVariance(n: NodeContext): Tensor {
  const axes = n.ints("axes", [0, 2, 3]).map((a) => axisOf(n, a, n.tensor(0).rank));
  return inWide(n.tensor(0), (x) => {
    const d = x.sub(mean(x, axes, { keepDims: true }));
    return d.div(mean(d.mul(d), axes, { keepDims: true }).sqrt().add(1e-9));
  });
}

/** Vectors of norm 0 stay 0. */
function lpNormalization(n: NodeContext): Tensor {
  const p = n.int("p", 2);
  if (p !== 1 && p !== 2) return n.fail(`p is ${p}, not 1 or 2`);
  return inWide(n.tensor(0), (x) => {
    const axis = axisOf(n, n.int("axis", -1), x.rank);
    const length = norm(x, axis, { keepDims: true, order: p });
    return select(length.equal(0), 0, x.div(length));
  });
}

/** Input, skip and bias added; the sum is output 3. */
function skipped(n: NodeContext, bias: number): Tensor {
  const sum = widened(n.tensor(0)).add(widened(n.tensor(1)));
  return n.has(bias) ? sum.add(widened(n.tensor(bias))) : sum;
}

const own = (n: NodeContext, t: Tensor) => typed(convert(t, n.tensor(0).dtype), n.type(0));

function skipLayerNormalization(n: NodeContext): Result {
  const sum = skipped(n, 4);
  const [y, m, inverse] = layerNorm(n, sum, n.tensor(2), n.maybe(3), 1e-12);
  return [own(n, y), statistic(m), statistic(inverse), own(n, sum)];
}

function skipSimplified(n: NodeContext): Result {
  const sum = skipped(n, 3);
  const [y, inverse] = rmsNorm(n, sum, n.tensor(2), 1e-12);
  return [own(n, y), statistic(inverse), statistic(inverse), own(n, sum)];
}

const rms = (n: NodeContext): Result => rmsNorm(n, n.tensor(0), n.maybe(1))[0];

/** The simplified form is in the standard domain in files of ONNX Runtime's optimizer. */
const simplified = (n: NodeContext): Result => {
  const [y, inverse] = rmsNorm(n, n.tensor(0), n.maybe(1));
  return [y, statistic(inverse)];
};

export const normRows: readonly Row[] = [
  row("LayerNormalization", layerNormalization),
  row("RMSNormalization", rms),
  row("GroupNormalization", groupNormalization),
  row("LRN", localResponse),
  row("MeanVarianceNormalization", meanVariance),
  row("LpNormalization", lpNormalization),
  row("SimplifiedLayerNormalization", simplified),
  microsoft("SimplifiedLayerNormalization", simplified),
  microsoft("LayerNormalization", layerNormalization),
  microsoft("SkipLayerNormalization", skipLayerNormalization),
  microsoft("SkipSimplifiedLayerNormalization", skipSimplified),
];
