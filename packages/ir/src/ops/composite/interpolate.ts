/**
 * Images made larger or smaller, one axis after the other, and channels exchanged for places.
 */
import { type Dim, floorDiv, isStatic, mulDim } from "../../dim.ts";
import { isFloat } from "../../dtype.ts";
import {
  checkOptions,
  DtypeError,
  GraphError,
  type OptionNames,
  ShapeError,
} from "../../errors.ts";
import { checkExtentKind } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { exactQuotient, printShape } from "../../shape.ts";
import { checkTensor, perAxis, range } from "../apply.ts";
import { reshape, transpose } from "../movement.ts";
import { roundedOnce } from "./in-float32.ts";
import { type Line, resampled, type Sampling } from "./resample.ts";

export interface InterpolateOptions {
  /** The extents of the result; or give `scale`. */
  readonly size?: Dim | readonly Dim[];
  /**
   * What each extent is multiplied by, rounded down; places are found by it and not by the extents.
   */
  readonly scale?: number | readonly number[];
  /**
   * Default "nearest". "nearest" is PyTorch's, ⌊i/scale⌋; "nearestExact" ⌊(i + ½)/scale⌋; "cubic"
   * has a = −¾.
   */
  readonly mode?: "nearest" | "nearestExact" | "linear" | "cubic";
  /** The outer elements stay where they are, for "linear" and "cubic"; default false. */
  readonly alignCorners?: boolean;
}

const interpolateOptions: OptionNames<InterpolateOptions> = {
  size: 1,
  scale: 1,
  mode: 1,
  alignCorners: 1,
};

const modes = {
  nearest: { mode: "nearest", place: "asymmetric" },
  nearestExact: { mode: "nearest", place: "tf_half_pixel_for_nn" },
  linear: { mode: "linear", place: "half_pixel" },
  cubic: { mode: "cubic", place: "half_pixel" },
} as const;

function samplingOf({ mode = "nearest", alignCorners = false }: InterpolateOptions): Sampling {
  if (!Object.hasOwn(modes, mode))
    throw new GraphError(
      `interpolate: mode is ${String(mode)}\n  it is one of ${Object.keys(modes).join(", ")}`,
    );
  const found = modes[mode];
  if (alignCorners && found.mode === "nearest")
    throw new GraphError(
      `interpolate: alignCorners has no meaning for mode ${mode}\n  leave it out, or take mode linear or cubic`,
    );
  return {
    ...found,
    place: alignCorners ? "align_corners" : found.place,
    rounding: "floor",
    cubic: -0.75,
    antialias: false,
    excludeOutside: false,
  };
}

/** ⌊extent · scale⌋; of a symbol, where the scale is a fraction. */
function scaled(extent: Dim, scale: number): Dim {
  if (!(scale > 0 && Number.isFinite(scale)))
    throw new ShapeError(`interpolate: scale ${scale} is not a number above 0`);
  if (isStatic(extent)) return Math.floor(extent * scale);
  for (let den = 1; den <= 4096; den++) {
    const num = Math.round(scale * den);
    if (num > 0 && Math.abs(num - scale * den) <= scale * den * 1e-9)
      return floorDiv(mulDim(extent, num), den);
  }
  throw new ShapeError(
    `interpolate: the scale ${scale} is no fraction, so that the result has no symbolic extent\n  give the size`,
  );
}

function linesOf(x: Tensor, options: InterpolateOptions): Line[] {
  const { size, scale, alignCorners } = options;
  const axes = range(x.rank - 2);
  if ((size === undefined) === (scale === undefined))
    throw new GraphError("interpolate: give either the size or the scale");
  const line = (i: number, to: Dim, by: number | undefined): Line => ({
    axis: i + 2,
    from: x.shape[i + 2]!,
    to,
    scale: alignCorners ? undefined : by,
    roi: [0, 1],
  });
  if (size !== undefined) {
    const sizes = perAxis<Dim>("interpolate", "size", size, axes.length, 1);
    return axes.map((i) => {
      const ratio = exactQuotient(sizes[i]!, x.shape[i + 2]!);
      return line(
        i,
        sizes[i]!,
        ratio !== undefined && isStatic(ratio) && ratio > 0 ? ratio : undefined,
      );
    });
  }
  const scales = Array.isArray(scale) ? scale : axes.map(() => scale as number);
  if (scales.length !== axes.length)
    throw new ShapeError(
      `interpolate: scale has ${scales.length} entries for ${axes.length} axes: [${scales.join(",")}]`,
    );
  return axes.map((i) => line(i, scaled(x.shape[i + 2]!, scales[i]!), scales[i]!));
}

/**
 * An image made larger or smaller: every element of the result is read at its place in x, from the
 * nearest element, or as a weighted sum of two ("linear": bilinear for images, trilinear for
 * volumes) or four ("cubic") neighbours along each axis.
 *
 * x[N, C, D…] → [N, C, size…] in its dtype; for linear and cubic it must be a float. Without
 * `alignCorners` element i stands at (i + ½)/scale − ½, with it at i·(D − 1)/(size − 1). Halves are
 * computed in f32. Throws ShapeError for ranks below 3, GraphError unless one of `size` and `scale`
 * is given. `F.interpolate`; "linear" is its "linear", "bilinear" and "trilinear".
 *
 * @example
 *   interpolate(tensor([[[1, 3]]]), { scale: 2, mode: "nearest" }) // [[[1, 1, 3, 3]]]
 *   interpolate(tensor([[[1, 3]]]), { scale: 2, mode: "linear" }) // [[[1, 1.5, 2.5, 3]]]
 */
export function interpolate(x: Tensor, options: InterpolateOptions): Tensor {
  checkTensor("interpolate", x);
  const given = checkOptions("interpolate", options, interpolateOptions);
  if (x.rank < 3)
    throw new ShapeError(
      `interpolate: x is ${printShape(x.shape)}, not [N,C,...]\n  put axes of extent 1 in front: x.expandDims(0)`,
    );
  const sampling = samplingOf(given);
  const lines = linesOf(x, given);
  if (sampling.mode !== "nearest" && !isFloat(x.dtype))
    throw new DtypeError(
      `interpolate: x is ${x.dtype}, not a float\n  convert it first: x.convert("f32")`,
    );
  const all = (from: Tensor) =>
    lines.reduce(
      (y, line) =>
        line.from === line.to && (line.scale ?? 1) === 1 ? y : resampled(y, line, sampling),
      from,
    );
  return sampling.mode === "nearest" ? all(x) : roundedOnce([x], all);
}

function checkImage(op: string, x: Tensor, factor: number): void {
  checkTensor(op, x);
  checkExtentKind(op, "the factor", factor);
  if (x.rank < 3 || factor < 1)
    throw new ShapeError(
      `${op}: x is ${printShape(x.shape)} and the factor ${factor}\n  x is [...,C,H,W], the factor 1 or more`,
    );
}

/**
 * Channels made places: x[…, C·r², H, W] → [..., C, H·r, W·r], y[…, c, h·r + i, w·r + j] = x[…,
 * c·r² + i·r + j, h, w].
 *
 * Throws ShapeError unless r² divides the channels. Shi et al. 2016. `F.pixel_shuffle`.
 *
 * @param factor r, a whole number from 1.
 * @example
 *   pixelShuffle(tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2) // [[[[1, 2], [3, 4]]]]
 */
export function pixelShuffle(x: Tensor, factor: number): Tensor {
  checkImage("pixelShuffle", x, factor);
  const [lead, [channels, h, w]] = [x.shape.slice(0, -3), x.shape.slice(-3) as [Dim, Dim, Dim]];
  const c = exactQuotient(channels, factor * factor);
  if (c === undefined)
    throw new ShapeError(
      `pixelShuffle: ${factor}² does not divide the channels of ${printShape(x.shape)}`,
    );
  const k = lead.length;
  const parts = reshape(x, [...lead, c, factor, factor, h, w]);
  const turned = transpose(parts, [...range(k), k, k + 3, k + 1, k + 4, k + 2]);
  return reshape(turned, [...lead, c, mulDim(h, factor), mulDim(w, factor)]);
}

/**
 * Places made channels, the reverse of `pixelShuffle`: x[…, C, H·r, W·r] → [..., C·r², H, W].
 *
 * Throws ShapeError unless r divides both extents. `F.pixel_unshuffle`.
 *
 * @param factor r, a whole number from 1.
 * @example
 *   pixelUnshuffle(tensor([[[[1, 2], [3, 4]]]]), 2) // [[[[1]], [[2]], [[3]], [[4]]]]
 */
export function pixelUnshuffle(x: Tensor, factor: number): Tensor {
  checkImage("pixelUnshuffle", x, factor);
  const [lead, [c, height, width]] = [x.shape.slice(0, -3), x.shape.slice(-3) as [Dim, Dim, Dim]];
  const [h, w] = [height, width].map((d) => exactQuotient(d, factor));
  if (h === undefined || w === undefined)
    throw new ShapeError(
      `pixelUnshuffle: ${factor} does not divide the image of ${printShape(x.shape)}`,
    );
  const k = lead.length;
  const parts = reshape(x, [...lead, c, h, factor, w, factor]);
  const turned = transpose(parts, [...range(k), k, k + 2, k + 4, k + 1, k + 3]);
  return reshape(turned, [...lead, mulDim(c, factor * factor), h, w]);
}
