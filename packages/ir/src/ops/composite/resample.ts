/**
 * Where an axis that is resized reads, and with which weights. Of extents that are numbers, places are found here;
 * of symbolic ones, by the program.
 */
import { type Dim, isStatic, maxDim, mulDim, subDim } from "../../dim.ts";
import { GraphError } from "../../errors.ts";
import { evaluate } from "../../evaluate.ts";
import type { Tensor } from "../../node.ts";
import type { Operand } from "../broadcast.ts";
import { dotGeneral } from "../contraction.ts";
import { dimValue } from "../create.ts";
import { select } from "../elementwise/compare.ts";
import { take } from "../gather.ts";
import { reshape, transpose } from "../movement.ts";
import { iota, tensor } from "../source.ts";

/** One axis that is resized. */
export interface Line {
  readonly axis: number;
  readonly from: Dim;
  readonly to: Dim;
  /** Undefined: to / from. */
  readonly scale: number | undefined;
  /** The part of the axis that is resized, as fractions. */
  readonly roi: readonly [number, number];
}

/** How places and weights are found. */
export interface Sampling {
  readonly mode: "nearest" | "linear" | "cubic";
  readonly place: string;
  readonly rounding: string;
  readonly cubic: number;
  readonly antialias: boolean;
  readonly excludeOutside: boolean;
}

/** Larger results are left to the program. */
const evaluated = 1 << 16;

const isFixed = (line: Line): boolean =>
  isStatic(line.from) && isStatic(line.to) && line.to <= evaluated;

/** The values of t as data, where it depends on nothing that a run gives. */
export function settled(t: Tensor, line: Line): Tensor {
  if (!isFixed(line)) return t;
  const { data } = evaluate([t])[0]!;
  return tensor(Array.from(data), { dtype: t.dtype, shape: t.shape as number[] });
}

/** The place in the axis that each element of the result stands for, rounded to f32 at every step, as other runtimes have it. */
export function coordinates(line: Line, place: string): Tensor {
  const value = (d: Dim): Operand => (isStatic(d) ? d : dimValue(d, "f32"));
  const at = iota([line.to], 0, "f32");
  const full = at.mul(0).add(1).mul(value(line.from));
  const scale = line.scale ?? quotient(line);
  // The definition counts in the scaled extent before it is cut to a whole number.
  const steps: Operand =
    line.scale !== undefined && isStatic(line.from)
      ? Math.max(line.from * line.scale - 1, 1)
      : value(maxDim(subDim(line.to, 1), 1));
  // By whole numbers where the scale is left to the program: half-way places stay so, whatever it rounds.
  const open = line.scale === undefined && !(isStatic(line.from) && isStatic(line.to));
  const half = open
    ? at
        .mul(2)
        .add(1)
        .mul(value(line.from))
        .div(value(mulDim(line.to, 2)))
    : at.add(0.5).div(scale);
  const [start, end] = line.roi;
  const reach = subDim(line.from, 1);
  switch (place) {
    case "half_pixel":
      return half.sub(0.5);
    case "pytorch_half_pixel":
      return alone(line, at.mul(0), half.sub(0.5));
    case "half_pixel_symmetric": {
      const adjustment = full.mul(scale).reciprocal().mul(value(line.to));
      const offset = full.div(2).mul(adjustment.neg().add(1));
      return offset.add(half).sub(0.5);
    }
    case "align_corners":
      return line.to === 1 ? at.mul(0) : at.mul(value(reach)).div(steps);
    case "tf_half_pixel_for_nn":
      return half;
    case "tf_crop_and_resize":
      return alone(
        line,
        full.sub(1).mul((start + end) / 2),
        at
          .mul(value(reach))
          .mul(end - start)
          .div(steps)
          .add(full.sub(1).mul(start)),
      );
    default:
      return open ? at.mul(value(line.from)).div(value(line.to)) : at.div(scale);
  }
}

/** One place where the result is one element, others where it has more. */
function alone(line: Line, one: Tensor, more: Tensor): Tensor {
  if (isStatic(line.to)) return line.to === 1 ? one : more;
  return select(dimValue(line.to).equal(1), one, more);
}

function quotient(line: Line): Operand {
  if (isStatic(line.from) && isStatic(line.to)) return line.to / line.from;
  return dimValue(line.to, "f32").div(dimValue(line.from, "f32"));
}

const roundings: Record<string, (x: Tensor) => Tensor> = {
  round_prefer_floor: (x) => x.sub(0.5).ceil(),
  round_prefer_ceil: (x) => x.add(0.5).floor(),
  floor: (x) => x.floor(),
  ceil: (x) => x.ceil(),
};

/** `outward`, the rule before opset 11: down where the axis grows, up where it shrinks. */
function roundingOf(line: Line, { rounding }: Sampling): (x: Tensor) => Tensor {
  const name = rounding !== "outward" ? rounding : (line.scale ?? 1) < 1 ? "ceil" : "floor";
  return roundings[name] ?? roundings.round_prefer_floor!;
}

/** A place as an index of the axis. */
function clamped(at: Tensor, line: Line): Tensor {
  const index = at.convert("i32").maximum(0);
  const last = subDim(line.from, 1);
  return index.minimum(isStatic(last) ? last : dimValue(last));
}

function nearest(x: Tensor, line: Line, sampling: Sampling): Tensor {
  const round = roundingOf(line, sampling);
  return take(x, settled(clamped(round(coordinates(line, sampling.place)), line), line), line.axis);
}

/** Each element repeated, where a whole scale and the rounding come to that. */
function repeated(x: Tensor, line: Line, sampling: Sampling): Tensor | undefined {
  const { scale } = line;
  if (scale === undefined || !Number.isInteger(scale) || scale < 1) return undefined;
  if (sampling.place === "align_corners" || sampling.place === "tf_crop_and_resize")
    return undefined;
  const sample = { ...line, from: 3, to: 3 * scale };
  const round = roundingOf(line, sampling);
  const index = clamped(round(coordinates(sample, sampling.place)), sample);
  const found = evaluate([index])[0]!.data;
  if (!found.every((v, i) => v === Math.floor(i / scale))) return undefined;
  const { axis } = line;
  const shape = [...x.shape.slice(0, axis + 1), scale, ...x.shape.slice(axis + 1)];
  const wide = x.broadcastInDim(
    shape,
    x.shape.map((_, i) => (i > axis ? i + 1 : i)),
  );
  return reshape(
    wide,
    x.shape.map((d, i) => (i === axis ? mulDim(d, scale) : d)),
  );
}

/** The cubic kernel at distance d, which may be a number or a tensor. */
function cubicAt(d: number, a: number): number {
  const x = Math.abs(d);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/** The four weights for a place that is r behind the second of its four neighbours. */
export function cubicWeights(r: Tensor, a: number): Tensor[] {
  const near = (d: Tensor) =>
    d
      .mul(a + 2)
      .sub(a + 3)
      .mul(d)
      .mul(d)
      .add(1);
  const far = (d: Tensor) =>
    d
      .mul(a)
      .sub(5 * a)
      .mul(d)
      .add(8 * a)
      .mul(d)
      .sub(4 * a);
  const s = r.neg().add(1);
  return [far(r.add(1)), near(r), near(s), far(s.add(1))];
}

/** Linear and cubic: a weighted sum of 2 or 4 neighbours, or, with antialiasing, of all places in reach. */
function mixed(x: Tensor, line: Line, sampling: Sampling): Tensor {
  if (sampling.antialias && (line.scale ?? 0) < 1) {
    const narrower = isStatic(line.from) && isStatic(line.to) && line.to < line.from;
    if (line.scale !== undefined || narrower || !isFixed(line))
      return antialiased(x, line, sampling);
  }
  const at = coordinates(line, sampling.place);
  const base = at.floor();
  const r = at.sub(base);
  const weights =
    sampling.mode === "linear" ? [r.neg().add(1), r] : cubicWeights(r, sampling.cubic);
  const first = sampling.mode === "linear" ? 0 : -1;
  const places = weights.map((_, k) => base.add(k + first));
  const kept = sampling.excludeOutside ? normalised(weights, places, line) : weights;
  const terms = places.map((place, k) => {
    const weight = settled(kept[k]!, line).convert(x.dtype);
    const shape = x.shape.map((_, i) => (i === line.axis ? line.to : 1));
    return take(x, settled(clamped(place, line), line), line.axis).mul(reshape(weight, shape));
  });
  return terms.reduce((a, b) => a.add(b));
}

/** Weights of places outside made 0, the others scaled so that they sum to 1. */
function normalised(weights: readonly Tensor[], places: readonly Tensor[], line: Line): Tensor[] {
  const kept = weights.map((w, k) => {
    const last = subDim(line.from, 1);
    const end = isStatic(last) ? last : dimValue(last, w.dtype);
    const inside = places[k]!.greaterEqual(0).and(places[k]!.lessEqual(end));
    return select(inside, w, 0);
  });
  const sum = kept.reduce((a, b) => a.add(b));
  return kept.map((w) => w.div(sum));
}

/** A matrix of the weights, one column an element of the result. */
function antialiased(x: Tensor, line: Line, sampling: Sampling): Tensor {
  const { from, to } = line;
  if (!isStatic(from) || !isStatic(to))
    throw new GraphError("antialias needs extents that are numbers");
  const scale = Math.min(1, line.scale ?? to / from);
  const linear = sampling.mode === "linear";
  const start = Math.floor((linear ? -1 : -2) / scale) + 1;
  const count = (linear ? 2 : 4) - 2 * start;
  const kernel = (d: number) =>
    linear ? Math.max(0, 1 - Math.abs(d)) : cubicAt(d, sampling.cubic);
  const at = evaluate([coordinates(line, sampling.place)])[0]!.data;
  const matrix = new Float32Array(from * to);
  for (let o = 0; o < to; o++) {
    const base = Math.floor(at[o]!);
    const all: [place: number, weight: number][] = [];
    for (let k = start; k < start + count; k++) {
      const i = base + k;
      if (sampling.excludeOutside && (i < 0 || i >= from)) continue;
      all.push([Math.max(0, Math.min(from - 1, i)), kernel((k - (at[o]! - base)) * scale)]);
    }
    const sum = all.reduce((s, [, w]) => s + w, 0);
    for (const [i, w] of all) matrix[i * to + o]! += w / sum;
  }
  const weights = tensor(matrix, { shape: [from, to] }).convert(x.dtype);
  const y = dotGeneral(x, weights, { lhsContract: [line.axis], rhsContract: [0] });
  const last = y.rank - 1;
  const order = x.shape.map((_, i) => (i < line.axis ? i : i === line.axis ? last : i - 1));
  return transpose(y, order);
}

/** x with one axis resized. For "linear" and "cubic" it must be a float. */
export function resampled(x: Tensor, line: Line, sampling: Sampling): Tensor {
  if (sampling.mode !== "nearest") return mixed(x, line, sampling);
  return repeated(x, line, sampling) ?? nearest(x, line, sampling);
}
