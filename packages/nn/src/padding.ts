/**
 * What stands beyond the ends of the spatial axes: amounts for each side, and values by mode. Slices and joins only, so that
 * extents may be symbols and what reads the result may be fused with it.
 */
import {
  addDim,
  concat,
  type Dim,
  GraphError,
  printDim,
  printShape,
  requireAtLeast,
  ShapeError,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { checkCount, checkLength } from "./parameter.ts";

/**
 * "valid" adds nothing; "same" gives ⌈extent / stride⌉ places; a number pads both ends of its axis, a pair of numbers the
 * beginning and the end.
 */
export type Padding = number | readonly (number | Sides)[] | "same" | "valid";

/** Before and after. */
export type Sides = readonly [number, number];

/** What the padding holds: zeros, the values mirrored at the end or repeated from it, or those of the other end. */
export type PaddingMode = "zeros" | "reflect" | "replicate" | "circular";

const modes: readonly PaddingMode[] = ["zeros", "reflect", "replicate", "circular"];

/** Throws for a mode that there is not. */
export function checkMode(op: string, mode: PaddingMode): PaddingMode {
  if (!modes.includes(mode))
    throw new GraphError(
      `${op}: paddingMode must be ${modes.join(", ")}, got ${String(mode)}\n  leave it out for zeros`,
    );
  return mode;
}

/** A number or a pair for each axis, each 0 or more. */
export function sidesOf(
  op: string,
  padding: number | readonly (number | Sides)[],
  axes: number,
): (number | Sides)[] {
  const list = typeof padding === "number" ? new Array<number>(axes).fill(padding) : padding;
  checkLength(op, "padding", list, axes);
  for (const p of list) {
    if (Array.isArray(p)) checkLength(op, "a pair of padding", p, 2);
    for (const v of Array.isArray(p) ? p : [p]) checkCount(op, "padding", v as number, 0);
  }
  return [...list];
}

type Extend = (x: Tensor, axis: number, low: Dim, high: Dim) => Tensor;

const repeated: Extend = (x, axis, low, high) => {
  const last = subDim(x.shape[axis]!, 1);
  const at = (start: Dim, count: Dim) =>
    count === 0
      ? undefined
      : x
          .sliceAxis(axis, start, addDim(start, 1))
          .broadcastTo(x.shape.map((d, i) => (i === axis ? count : d)));
  return joined(axis, [at(0, low), x, at(last, high)]);
};

const mirrored: Extend = (x, axis, low, high) => {
  const last = subDim(x.shape[axis]!, 1);
  return joined(axis, [
    low === 0 ? undefined : x.sliceAxis(axis, 1, addDim(low, 1)).reverse([axis]),
    x,
    high === 0 ? undefined : x.sliceAxis(axis, subDim(last, high), last).reverse([axis]),
  ]);
};

const wrapped: Extend = (x, axis, low, high) => {
  const extent = x.shape[axis]!;
  return joined(axis, [
    low === 0 ? undefined : x.sliceAxis(axis, subDim(extent, low), extent),
    x,
    high === 0 ? undefined : x.sliceAxis(axis, 0, high),
  ]);
};

const extend = { reflect: mirrored, replicate: repeated, circular: wrapped } as const;

const joined = (axis: number, parts: readonly (Tensor | undefined)[]): Tensor => {
  const some = parts.filter((t) => t !== undefined);
  return some.length === 1 ? some[0]! : concat(some, axis);
};

/** Throws where an axis has too few values to pad with, or requires enough of the run. */
function checkReach(op: string, x: Tensor, axis: number, p: Dim, mode: PaddingMode): void {
  const needed = mode === "replicate" ? 1 : mode === "reflect" ? addDim(p, 1) : p;
  requireAtLeast(
    subDim(x.shape[axis]!, needed),
    0,
    () =>
      new ShapeError(
        `${op}: padding ${printDim(p)} by ${mode} reaches beyond axis ${axis} of ${printShape(x.shape)}\n  pad by ${mode === "reflect" ? "less than" : "at most"} the extent, or take another mode`,
      ),
  );
}

/** x with its last axes extended by `sides`, one pair for each. */
export function extended(
  op: string,
  x: Tensor,
  sides: readonly (readonly [Dim, Dim])[],
  mode: Exclude<PaddingMode, "zeros">,
): Tensor {
  const lead = x.rank - sides.length;
  for (const [i, side] of sides.entries())
    for (const p of side) if (p !== 0) checkReach(op, x, lead + i, p, mode);
  return sides.reduce(
    (y, [low, high], i) => (low === 0 && high === 0 ? y : extend[mode](y, lead + i, low, high)),
    x,
  );
}
