/**
 * GridSample, which reads an image at given positions, and AffineGrid, which makes such positions.
 */
import {
  type Dim,
  dimValue,
  inFloat32,
  iota,
  isStatic,
  type Operand,
  reshape,
  select,
  subDim,
  type Tensor,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { corners, cubicTaps, extentOf, linearTaps, type Tap, weighted } from "./sample.ts";

/** x mirrored at low and high until it is between them. */
function mirrored(x: Tensor, low: Operand, span: Operand): Tensor {
  const d = x.sub(low).abs();
  const turns = d.div(span).floor();
  const rest = d.sub(turns.mul(span));
  const odd = turns.sub(turns.div(2).floor().mul(2)).greater(0.5);
  const back = rest.neg().add(span);
  return select(odd, back, rest).add(low);
}

interface GridOptions {
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
function bordered(x: Tensor, extent: Dim, { aligned, padding }: GridOptions): Tensor {
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
function tapsOf(x: Tensor, extent: Dim, mode: string, options: GridOptions): Tap[] {
  const list =
    mode === "nearest" ? [{ at: x.round() }] : mode === "cubic" ? cubicTaps(x) : linearTaps(x);
  if (options.padding !== "reflection") return list;
  return list.map((tap) => ({ ...tap, at: bordered(tap.at, extent, options).round() }));
}

const modes: Record<string, string> = { bilinear: "linear", bicubic: "cubic" };

/** x[N, C, D…] at grid[N, E…, r], positions from the last axis of the image to the first: [N, C, E…]. */
function gridSample(n: NodeContext): Tensor {
  const [x, grid] = [n.tensor(0), n.tensor(1)];
  const given = n.string("mode", "linear");
  const mode = modes[given] ?? given;
  const options = { aligned: n.flag("align_corners"), padding: n.string("padding_mode", "zeros") };
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

/** theta[N, r, r+1] over the places of an image of `size`: [N, D…, r], the last axis of the image first. */
const affineGrid = (n: NodeContext): Tensor =>
  inFloat32([n.tensor(0)], (theta) => placesOf(n, theta));

function placesOf(n: NodeContext, theta: Tensor): Tensor {
  const size = n.dims(1);
  const aligned = n.flag("align_corners");
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

export const gridRows: readonly Row[] = [
  row("GridSample", gridSample),
  row("AffineGrid", affineGrid),
];
