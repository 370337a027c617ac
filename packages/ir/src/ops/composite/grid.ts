/**
 * Images read at positions between their elements, and the positions that an affine map gives.
 */
import { type Dim, isStatic, subDim } from "../../dim.ts";
import { isFloat } from "../../dtype.ts";
import {
  checkOptions,
  DtypeError,
  GraphError,
  type OptionNames,
  ShapeError,
} from "../../errors.ts";
import { checkExtents } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { printShape } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import type { Operand } from "../broadcast.ts";
import { dimValue } from "../create.ts";
import { select } from "../elementwise/compare.ts";
import { reshape, transpose } from "../movement.ts";
import { iota } from "../source.ts";
import { inFloat32 } from "./in-float32.ts";
import { corners, cubicTaps, extentOf, linearTaps, type Tap, weighted } from "./places.ts";

/** x mirrored at low and high until it is between them. */
function mirrored(x: Tensor, low: Operand, span: Operand): Tensor {
  const d = x.sub(low).abs();
  const turns = d.div(span).floor();
  const rest = d.sub(turns.mul(span));
  const odd = turns.sub(turns.div(2).floor().mul(2)).greater(0.5);
  const back = rest.neg().add(span);
  return select(odd, back, rest).add(low);
}

export interface AffineGridOptions {
  /** −1 and 1 are the centres of the outer elements, not their edges; default false. */
  readonly alignCorners?: boolean;
}

export interface GridSampleOptions extends AffineGridOptions {
  /**
   * Default "linear", which is bilinear for images; "cubic" is bicubic, for images alone in
   * PyTorch.
   */
  readonly mode?: "nearest" | "linear" | "cubic";
  /** What is outside: 0, the nearest element, or the image mirrored; default "zeros". */
  readonly padding?: "zeros" | "border" | "reflection";
}

const affineGridOptions: OptionNames<AffineGridOptions> = { alignCorners: 1 };
const gridSampleOptions: OptionNames<GridSampleOptions> = { mode: 1, padding: 1, alignCorners: 1 };

interface Edges {
  readonly aligned: boolean;
  readonly padding: string;
}

/** A place of the image for a position −1 … 1. */
function unnormalised(position: Tensor, extent: Dim, aligned: boolean): Tensor {
  const size = extentOf(extent);
  const half = position.add(1).div(2);
  return aligned ? half.mul(extentOf(subDim(extent, 1))) : half.mul(size).sub(0.5);
}

/** Places beyond the border brought to it, or mirrored. */
function bordered(x: Tensor, extent: Dim, { aligned, padding }: Edges): Tensor {
  if (padding === "zeros") return x;
  const last = extentOf(subDim(extent, 1));
  const [low, end] = aligned ? [0, last] : [-0.5, extentOf(extent)];
  const high = aligned ? last : typeof end === "number" ? end - 0.5 : (end as Tensor).sub(0.5);
  const outside = x.less(low).or(x.greater(high));
  if (padding === "border") return select(outside, x.maximum(0).minimum(last), x);
  // One element has no distance between its mirrors.
  const span = aligned && extent === 1 ? 1 : aligned ? last : extentOf(extent);
  return select(outside, mirrored(x, low, span), x);
}

/** Taps of a reflected image are mirrored one by one; those of a border are clamped when read. */
function tapsOf(x: Tensor, extent: Dim, mode: string, options: Edges): Tap[] {
  const list =
    mode === "nearest" ? [{ at: x.round() }] : mode === "cubic" ? cubicTaps(x) : linearTaps(x);
  if (options.padding !== "reflection") return list;
  return list.map((tap) => ({ ...tap, at: bordered(tap.at, extent, options).round() }));
}

function checkGrid(x: Tensor, grid: Tensor): void {
  for (const t of [x, grid]) checkTensor("gridSample", t);
  const rank = x.rank - 2;
  if (rank < 1 || grid.rank < 2 || grid.shape[grid.rank - 1] !== rank)
    throw new ShapeError(
      `gridSample: x ${printShape(x.shape)} has ${Math.max(0, rank)} axes behind [N,C], grid is ${printShape(grid.shape)}\n  its last axis has one position for each of them: [N,...,${Math.max(1, rank)}]`,
    );
  for (const t of [x, grid])
    if (!isFloat(t.dtype))
      throw new DtypeError(
        `gridSample: operands must be floats, got ${t.dtype}\n  convert it first: x.convert("f32")`,
      );
}

function checkChoice(op: string, name: string, value: unknown, choices: readonly string[]): void {
  if (!choices.includes(value as string))
    throw new GraphError(
      `${op}: ${name} is ${String(value)}\n  it is one of ${choices.join(", ")}`,
    );
}

/**
 * Elements of an image at positions between them: y[n, c, p] = the image at grid[n, p],
 * interpolated. Positions go from −1 to 1, the last axis of the image first, so that (x, y) reads
 * column x of row y.
 *
 * x: float[N, C, D…] of r axes D, grid: float[N, E…, r] → [N, C, E…] in the dtype of x. Gradients
 * go to both; there is none of a place to the grid where mode is "nearest". Throws ShapeError
 * unless they fit, GraphError for another mode. `F.grid_sample`.
 *
 * @example
 *   const image = tensor([[[[1, 2], [3, 4]]]]);
 *   gridSample(image, tensor([[[[0, 0]]]])) // [[[[2.5]]]]; the middle
 */
export function gridSample(x: Tensor, grid: Tensor, options: GridSampleOptions = {}): Tensor {
  const {
    mode = "linear",
    padding = "zeros",
    alignCorners: aligned = false,
  } = checkOptions("gridSample", options, gridSampleOptions);
  checkChoice("gridSample", "mode", mode, ["nearest", "linear", "cubic"]);
  checkChoice("gridSample", "padding", padding, ["zeros", "border", "reflection"]);
  checkGrid(x, grid);
  return sampled(x, grid, mode, { aligned, padding });
}

function sampled(x: Tensor, grid: Tensor, mode: string, options: Edges): Tensor {
  const rank = x.rank - 2;
  const places = grid.shape.slice(0, -1);
  const taps = Array.from({ length: rank }, (_, i) => {
    const column = rank - 1 - i;
    const position = reshape(grid.sliceAxis(-1, column, column + 1), places).convert("f32");
    const extent = x.shape[i + 2]!;
    const at = unnormalised(position, extent, options.aligned);
    const whole = mode === "nearest" ? at.round() : at;
    // Of a cubic only the taps are brought inside.
    const inside = mode === "cubic" ? whole : bordered(whole, extent, options);
    return [i + 2, tapsOf(inside, extent, mode, options)] as const;
  });
  const y = inFloat32([x], (wide) =>
    weighted(corners(wide, [[0, iota(places, 0)]], taps, options.padding === "zeros")),
  );
  return transpose(y, [0, y.rank - 1, ...places.slice(1).map((_, i) => i + 1)]);
}

/** Normalised positions −1 … 1 of the places of an axis. */
function gridLine(extent: Dim, aligned: boolean): Tensor {
  const at = iota([extent], 0, "f32");
  const size = isStatic(extent) ? extent : dimValue(extent, "f32");
  if (!aligned) return at.mul(2).add(1).div(size).sub(1);
  const last = isStatic(extent)
    ? Math.max(1, extent - 1)
    : dimValue(extent, "f32").sub(1).maximum(1);
  return at.mul(2).div(last).sub(1);
}

/**
 * The positions at which `gridSample` reads an image moved by affine maps: theta · (position, 1)
 * for each place of the result.
 *
 * theta: float[N, r, r + 1], size [N, C, D…] of r axes D → [N, D…, r]. Throws ShapeError unless
 * they fit. `F.affine_grid`.
 *
 * @param size Shape of the image, [N, C, D…].
 * @example
 *   const identity = tensor([[[1, 0, 0], [0, 1, 0]]]);
 *   affineGrid(identity, [1, 3, 1, 2]) // [[[[−½, 0], [½, 0]]]]; (x, y) of both pixels
 */
export function affineGrid(
  theta: Tensor,
  size: readonly Dim[],
  options: AffineGridOptions = {},
): Tensor {
  checkTensor("affineGrid", theta);
  checkExtents("affineGrid", "the size", size);
  const { alignCorners = false } = checkOptions("affineGrid", options, affineGridOptions);
  const rank = size.length - 2;
  if (rank < 1 || theta.rank !== 3 || theta.shape[1] !== rank || theta.shape[2] !== rank + 1)
    throw new ShapeError(
      `affineGrid: theta ${printShape(theta.shape)} is no map of images of size ${printShape(size)}\n  it is [N,r,r+1] for [N,C,...] of r axes more`,
    );
  return inFloat32([theta], (wide) => placesOf(wide, size, alignCorners));
}

function placesOf(theta: Tensor, size: readonly Dim[], aligned: boolean): Tensor {
  const extents = size.slice(2);
  const rank = extents.length;
  const shape = [size[0]!, ...extents, rank];
  // Column k of theta goes with the k-th axis from the end.
  const term = (k: number) => {
    const column = theta.sliceAxis(2, k, k + 1).reshape([size[0]!, rank]);
    return column.broadcastInDim(shape, [0, rank + 1]);
  };
  let sum = term(rank);
  for (const [axis, extent] of extents.entries()) {
    const line = gridLine(extent, aligned).convert(theta.dtype);
    sum = sum.add(line.broadcastInDim(shape, [axis + 1]).mul(term(rank - 1 - axis)));
  }
  return sum;
}
