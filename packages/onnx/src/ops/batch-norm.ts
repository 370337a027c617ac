/**
 * BatchNormalization and InstanceNormalization: statistics a channel, over the batch and over places.
 */
import {
  convert,
  type Dim,
  dimValue,
  mean,
  reshape,
  type Shape,
  sizeOf,
  type Tensor,
  variance,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { range, widened } from "./operands.ts";

/** A vector with one element a channel, beside x[N, C, …]. */
const perChannel = (v: Tensor, x: Tensor): Tensor =>
  reshape(v, [...v.shape, ...new Array<Dim>(Math.max(0, x.rank - 1 - v.rank)).fill(1)]);

interface Statistics {
  readonly mean: Tensor;
  readonly variance: Tensor;
}

/** (x − mean)·scale/√(variance + ε) + bias, where all but x are a channel's. */
function normalised(n: NodeContext, x: Tensor, s: Statistics): Tensor {
  const [scale, bias] = [widened(n.tensor(1)), widened(n.tensor(2))];
  const factor = scale.div(s.variance.add(n.float("epsilon", 1e-5)).sqrt());
  return x.sub(perChannel(s.mean, x)).mul(perChannel(factor, x)).add(perChannel(bias, x));
}

/** Opset 14 says so; before, statistics are those of the batch where the node has outputs for them, or `is_test` is 0. */
function isTraining(n: NodeContext): boolean {
  if (n.opset >= 14) return n.flag("training_mode");
  if (n.opset < 7) return !n.flag("is_test");
  return range(n.outputs).some((k) => k > 0 && n.wants(k));
}

/** Axes of which the statistics are, and the shape they have. */
function statisticsOf(n: NodeContext, x: Tensor): Statistics & { readonly shape: Shape } {
  const spatial = n.opset >= 9 || n.flag("spatial", true);
  const axes = spatial ? range(x.rank).filter((a) => a !== 1) : [0];
  const shape = spatial ? [x.shape[1]!] : x.shape.slice(1);
  return {
    mean: reshape(mean(x, axes), shape),
    variance: reshape(variance(x, axes), shape),
    shape: axes.map((a) => x.shape[a]!),
  };
}

function batchNormalization(n: NodeContext): Result {
  const x = widened(n.tensor(0));
  const kept = { mean: widened(n.tensor(3)), variance: widened(n.tensor(4)) };
  const inOwn = (t: Tensor, like: number) => typed(convert(t, n.tensor(like).dtype), n.type(like));
  if (!isTraining(n)) return inOwn(normalised(n, x, kept), 0);
  const now = statisticsOf(n, x);
  const momentum = n.float("momentum", 0.9);
  const moved = (old: Tensor, value: Tensor) => old.mul(momentum).add(value.mul(1 - momentum));
  return [
    inOwn(normalised(n, x, now), 0),
    inOwn(moved(kept.mean, now.mean), 3),
    inOwn(moved(kept.variance, now.variance), 4),
    ...(n.opset < 14 ? [inOwn(now.mean, 3), inOwn(now.variance, 4)] : []),
  ];
}

function instanceNormalization(n: NodeContext): Tensor {
  const own = n.tensor(0);
  const x = widened(own);
  const axes = range(x.rank).slice(2);
  const d = x.sub(mean(x, axes, { keepDims: true }));
  const count = dimValue(sizeOf(axes.map((a) => x.shape[a]!)), x.dtype);
  const spread = d.mul(d).sum(axes, { keepDims: true }).div(count);
  const y = d.div(spread.add(n.float("epsilon", 1e-5)).sqrt());
  const [scale, bias] = [widened(n.tensor(1)), widened(n.tensor(2))];
  return convert(y.mul(perChannel(scale, x)).add(perChannel(bias, x)), own.dtype);
}

export const batchNormRows: readonly Row[] = [
  row("BatchNormalization", batchNormalization),
  row("InstanceNormalization", instanceNormalization),
];
