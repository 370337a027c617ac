/**
 * Resize and Upsample, one axis after the other: nearest places are read, linear and cubic results
 * are weighted sums of a few places (`sampling` of the IR). Where extents are symbolic, places and
 * weights are computed by the program in float32.
 */
import {
  checkAxis,
  type Dim,
  dimValue,
  exactQuotient,
  floorDiv,
  isFloat,
  isStatic,
  mulDim,
  reshape,
  sameDim,
  sampling as sampler,
  select,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { widened } from "./operands.ts";

type Line = sampler.Line;
type Sampling = sampler.Sampling;

/** ⌊extent · scale⌋; a symbolic extent wants a scale that is a fraction. */
function scaled(n: NodeContext, extent: Dim, scale: number): Dim {
  // In float32, in which scales are: 3 · 5/3 is 5.
  if (isStatic(extent)) return Math.floor(Math.fround(extent * Math.fround(scale)));
  for (let den = 1; den <= 4096; den++) {
    const num = Math.round(scale * den);
    if (Math.abs(num - scale * den) <= scale * den * 2 ** -23)
      return floorDiv(mulDim(extent, num), den);
  }
  return n.fail(`the scale ${scale} is no fraction, so the result has no symbolic extent`);
}

/** A list that exporters leave empty where another input counts. */
const given = (n: NodeContext, i: number): boolean =>
  n.has(i) && !sameDim(sizeOf(n.tensor(i).shape), 0);

/** For each of `axes` the extent of the result and the scale; undefined: the quotient of the extents. */
function targets(n: NodeContext, x: Tensor, axes: readonly number[]): Omit<Line, "roi">[] {
  const from = axes.map((a) => x.shape[a]!);
  const byScale = (scales: readonly number[]) => {
    if (scales.length !== axes.length) n.fail(`${scales.length} scales for ${axes.length} axes`);
    return axes.map((axis, k) => {
      const scale = scales[k]!;
      return { axis, from: from[k]!, to: scaled(n, from[k]!, scale), scale };
    });
  };
  if (n.node.op === "Upsample") return byScale(n.opset < 9 ? n.floats("scales") : n.numbers(1));
  const at = n.opset < 11 ? 1 : 2;
  if (given(n, at)) return byScale(n.numbers(at));
  if (!given(n, 3)) return n.fail("neither scales nor sizes are given");
  const sizes = n.dims(3);
  if (sizes.length !== axes.length) n.fail(`${sizes.length} sizes for ${axes.length} axes`);
  const policy = n.string("keep_aspect_ratio_policy", "stretch");
  if (policy !== "stretch") return byPolicy(n, axes, from, sizes, policy);
  return axes.map((axis, k) => {
    const ratio = exactQuotient(sizes[k]!, from[k]!);
    const scale = ratio !== undefined && isStatic(ratio) && ratio > 0 ? ratio : undefined;
    return { axis, from: from[k]!, to: sizes[k]!, scale };
  });
}

/**
 * One scale for all axes, the least or the greatest of those asked for: extents are rounded, and
 * places are not.
 */
function byPolicy(
  n: NodeContext,
  axes: readonly number[],
  from: readonly Dim[],
  sizes: readonly Dim[],
  policy: string,
): Omit<Line, "roi">[] {
  if (policy !== "not_larger" && policy !== "not_smaller")
    return n.fail(`keep_aspect_ratio_policy is ${policy}`);
  const ratios = sizes.map((d, k) => {
    const e = from[k]!;
    return isStatic(d) && isStatic(e) ? d / e : n.fail(`${policy} needs extents that are numbers`);
  });
  const scale = policy === "not_larger" ? Math.min(...ratios) : Math.max(...ratios);
  return axes.map((axis, k) => {
    const to = Math.floor(scale * (from[k] as number) + 0.5);
    return { axis, from: from[k]!, to, scale };
  });
}

function samplingOf(n: NodeContext): Sampling {
  const old = n.node.op === "Upsample" || n.opset < 11;
  const mode = n.string("mode", "nearest");
  if (mode !== "nearest" && mode !== "linear" && mode !== "bilinear" && mode !== "cubic")
    return n.fail(`mode ${mode} is not nearest, linear or cubic`);
  return {
    mode: mode === "bilinear" ? "linear" : mode,
    place: n.string("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
    rounding: n.string("nearest_mode", old ? "outward" : "round_prefer_floor"),
    cubic: n.float("cubic_coeff_a", -0.75),
    antialias: n.flag("antialias"),
    excludeOutside: n.flag("exclude_outside"),
  };
}

/** The axes in order, with the part of each that is cropped and resized. */
function linesOf(n: NodeContext, x: Tensor, sampling: Sampling): Line[] {
  const axes = n.hasAttribute("axes")
    ? n.ints("axes").map((a) => checkAxis("resize", a, x.rank))
    : x.shape.map((_, i) => i);
  const crops = sampling.place === "tf_crop_and_resize";
  const roi = crops ? n.numbers(1) : [];
  if (crops && roi.length !== 2 * axes.length)
    n.fail(`roi has ${roi.length} entries for ${axes.length} axes`);
  return targets(n, x, axes).map((line, k) => ({
    ...line,
    roi: [roi[k] ?? 0, roi[k + axes.length] ?? 1] as const,
  }));
}

const isIdle = (line: Line): boolean =>
  sameDim(line.from, line.to) &&
  (line.scale === undefined || line.scale === 1) &&
  line.roi[0] === 0 &&
  line.roi[1] === 1;

/** True where the place that an element of the result stands for is outside the axis. */
function outside(line: Line, sampling: Sampling, shape: readonly Dim[]): Tensor {
  const at = sampler.coordinates(line, sampling.place);
  const last = isStatic(line.from) ? line.from - 1 : dimValue(line.from, at.dtype).sub(1);
  return sampler.settled(at.less(0).or(at.greater(last)), line).broadcastInDim(shape, [line.axis]);
}

function resized(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const sampling = samplingOf(n);
  const lines = linesOf(n, x, sampling).filter((line) => !isIdle(line));
  const chosen = sampling.mode === "nearest";
  let y = chosen ? x : widened(x);
  for (const line of lines) y = sampler.resampled(y, line, sampling);
  if (y.dtype !== x.dtype) y = (isFloat(x.dtype) ? y : y.round()).convert(x.dtype);
  if (sampling.place !== "tf_crop_and_resize") return lines.length ? y : reshape(y, y.shape);
  const out = lines.map((line) => outside(line, sampling, y.shape));
  if (!out.length) return y;
  return select(
    out.reduce((a, b) => a.or(b)),
    n.float("extrapolation_value", 0),
    y,
  );
}

export const resizeRows: readonly Row[] = [row("Resize", resized), row("Upsample", resized)];
