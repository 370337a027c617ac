/**
 * Slice and pad: a regular part of a tensor, and a tensor spread out and surrounded by one value.
 * They undo each other, so each is the other's gradient. Negative padding crops.
 */

import type { NodeOf, OpAttrs } from "../attributes.ts";
import {
  addDim,
  ceilDiv,
  type Dim,
  floorDiv,
  isNonNegative,
  isStatic,
  maxDim,
  modDim,
  mulDim,
  negDim,
  printDim,
  subDim,
} from "../dim.ts";
import { DtypeError, ShapeError } from "../errors.ts";
import { checkExtents } from "../kind.ts";
import type { Attrs, Tensor } from "../node.ts";
import { type Condition, defineOp, type Piece } from "../op.ts";
import { requireAtLeast } from "../requirement.ts";
import { checkAxis, printShape, type Shape } from "../shape.ts";
import { apply, checkCount, checkTensor, dimsOf, filled, numbersOf, perAxis } from "./apply.ts";

function checkRanks(op: string, x: Tensor, attrs: Attrs, names: readonly string[]): void {
  for (const name of names)
    if (dimsOf(attrs[name]).length !== x.rank)
      throw new ShapeError(
        `${op}: ${name} has ${dimsOf(attrs[name]).length} entries, operand ${printShape(x.shape)} has ${x.rank} axes\n  give one entry for each axis`,
      );
}

/**
 * An extent's value is read off an iota (`dimValue`); it may be negative, for nothing of that size
 * is held.
 */
const isValueOfDim = (x: Tensor): boolean => x.op === "iota";

defineOp({
  name: "slice",
  family: "movement",
  infer(operands, attrs) {
    checkCount("slice", operands, 1);
    const x = operands[0]!;
    checkRanks("slice", x, attrs, ["start", "limit", "stride"]);
    const shape = x.shape.map((extent, i) => {
      const [start, limit] = [dimsOf(attrs.start)[i]!, dimsOf(attrs.limit)[i]!];
      const stride = numbersOf(attrs.stride)[i]!;
      if (!(Number.isInteger(stride) && stride >= 1))
        throw new ShapeError(`slice: stride ${stride} of axis ${i} is not 1 or more`);
      const length = subDim(limit, start);
      const outside = () =>
        new ShapeError(
          `slice: ${printDim(start)}:${printDim(limit)} is outside axis ${i} of ${printShape(x.shape)}\n  start and limit count from 0, with start <= limit <= extent`,
        );
      for (const d of [start, length, subDim(extent, limit)])
        if (isStatic(d) || !isValueOfDim(x)) requireAtLeast(d, 0, outside);
      return ceilDiv(length, stride);
    });
    return { dtype: x.dtype, shape };
  },
  vjp(g, y, x) {
    const start = y.attrs.start;
    const interior = y.attrs.stride.map((s) => s - 1);
    const high = x!.shape.map((d, i) =>
      subDim(subDim(d, start[i]!), spread(g.shape[i]!, interior[i]!)),
    );
    return [pad(g, 0, start, high, interior)];
  },
  pieces(node, coords) {
    const [start, stride] = [node.attrs.start, node.attrs.stride];
    const at = coords.map((c, i) => addDim(start[i]!, mulDim(c, stride[i]!)));
    return [{ operand: 0, coords: at, when: [] }];
  },
});

/** The extent of an axis with `interior` values put between neighbours. */
export const spread = (extent: Dim, interior: number): Dim =>
  interior === 0 ? extent : addDim(extent, mulDim(maxDim(subDim(extent, 1), 0), interior));

/**
 * The elements start, start + stride, … before limit, in every axis. A negative static bound counts
 * from the end.
 *
 * x[D…] → [⌈(limit − start)/stride⌉…]. Throws ShapeError if a bound is outside the axis.
 * `jax.lax.slice`.
 *
 * @param start The first place along each axis.
 * @param limit The end along each axis, which is not reached.
 * @param stride Steps along each axis; 1 by default.
 * @example
 *   const x = tensor([[1, 2, 3], [4, 5, 6]]);
 *   slice(x, [0, 1], [2, 3]) // [[2, 3], [5, 6]]
 *   slice(x, [0, 0], [1, 3], [1, 2]) // [[1, 3]]
 */
export function slice(
  x: Tensor,
  start: readonly Dim[],
  limit: readonly Dim[],
  stride?: number | readonly number[],
): Tensor {
  checkTensor("slice", x);
  checkExtents("slice", "start", start);
  checkExtents("slice", "limit", limit);
  const fromEnd = (d: Dim, i: number): Dim =>
    isStatic(d) && d < 0 && i < x.rank ? addDim(x.shape[i]!, d) : d;
  return apply("slice", [x], {
    start: start.map(fromEnd),
    limit: limit.map(fromEnd),
    stride: perAxis("slice", "stride", stride, x.rank, 1),
  });
}

/**
 * The elements start … limit − 1 along one axis, with negative bounds counted from the end.
 * `torch.narrow`.
 *
 * @param x The tensor.
 * @param axis The axis, negative ones from the end.
 * @param start The first place.
 * @param limit The end, which is not reached; that of the axis by default.
 * @param stride The step.
 * @example
 *   sliceAxis(tensor([1, 2, 3, 4]), 0, 1, 3) // [2, 3]
 *   sliceAxis(tensor([1, 2, 3, 4]), 0, -2) // [3, 4]
 */
export function sliceAxis(x: Tensor, axis: number, start: Dim, limit?: Dim, stride = 1): Tensor {
  checkTensor("sliceAxis", x);
  const a = checkAxis("slice", axis, x.rank);
  return slice(
    x,
    x.shape.map((_, i) => (i === a ? start : 0)),
    x.shape.map((d, i) => (i === a ? (limit ?? d) : d)),
    x.shape.map((_, i) => (i === a ? stride : 1)),
  );
}

defineOp({
  name: "pad",
  family: "movement",
  infer(operands, attrs) {
    checkCount("pad", operands, 2);
    const [x, value] = operands as [Tensor, Tensor];
    if (value.rank !== 0)
      throw new ShapeError(`pad: value is ${printShape(value.shape)}, not a scalar`);
    if (value.dtype !== x.dtype)
      throw new DtypeError(`pad: value is ${value.dtype}, operand is ${x.dtype}`);
    checkRanks("pad", x, attrs, ["low", "high", "interior"]);
    const shape = x.shape.map((d, i) => {
      const interior = numbersOf(attrs.interior)[i]!;
      if (!(Number.isInteger(interior) && interior >= 0))
        throw new ShapeError(
          `pad: interior ${interior} of axis ${i} is not 0 or more\n  give 0 or more; negative low and high cut off`,
        );
      const sides = addDim(dimsOf(attrs.low)[i]!, dimsOf(attrs.high)[i]!);
      const extent = addDim(sides, spread(d, interior));
      requireAtLeast(
        extent,
        0,
        () =>
          new ShapeError(
            `pad: axis ${i} of ${printShape(x.shape)} would have extent ${printDim(extent)}\n  cut off less: low and high may be negative as far as the extent goes`,
          ),
      );
      return extent;
    });
    return { dtype: x.dtype, shape };
  },
  vjp(g, y, x, value) {
    const shape = x!.shape;
    const [gx, interior] = [unpad(g, y.attrs, x!.shape), y.attrs.interior];
    const outside = apply("pad", [filled(0, "bool", shape), filled(1, "bool", [])], {
      ...y.attrs,
      interior: [...interior],
    });
    const rest = apply("select", [outside, g, filled(0, g.dtype, g.shape)]);
    const axes = g.shape.map((_, i) => i);
    return [gx, value && axes.length ? apply("reduceSum", [rest], { axes }) : rest];
  },
  pieces: (node, coords) => padPieces(node, coords),
});

/**
 * Takes the sides off by padding with the negated amounts, then the interior by a strided slice. Of
 * an axis that may be empty the last element keeps its interior too, so that D elements are
 * D·(interior + 1), whatever D is.
 */
function unpad(
  g: Tensor,
  { low: before, high: after, interior }: OpAttrs["pad"],
  shape: Shape,
): Tensor {
  const low = before.map(negDim);
  const high = after.map((d, i) => {
    const [extent, n] = [shape[i]!, interior[i]!];
    if (n === 0 || isNonNegative(subDim(extent, 1))) return negDim(d);
    return subDim(mulDim(extent, n + 1), addDim(g.shape[i]!, low[i]!));
  });
  const core = pad(g, 0, low, high);
  return slice(
    core,
    core.shape.map(() => 0),
    core.shape,
    interior.map((n) => n + 1),
  );
}

/** Piece 0 is x within its bounds: p = c − low, p ≥ 0, p ≤ (D − 1)·s, p mod s = 0, at p / s. */
function padPieces(node: NodeOf<"pad">, coords: readonly Dim[]): Piece[] {
  const extents = node.operands[0]!.shape;
  const when: Condition[] = [];
  const at = coords.map((c, i) => {
    const p = subDim(c, node.attrs.low[i]!);
    const step = node.attrs.interior[i]! + 1;
    const above = subDim(mulDim(subDim(extents[i]!, 1), step), p);
    if (!isNonNegative(p)) when.push({ value: p, test: "nonnegative" });
    if (!isNonNegative(above)) when.push({ value: above, test: "nonnegative" });
    const rest = modDim(p, step);
    if (rest !== 0) when.push({ value: rest, test: "zero" });
    return floorDiv(p, step);
  });
  return [
    { operand: 0, coords: at, when },
    { operand: 1, coords: [], when: [] },
  ];
}

/**
 * Surrounds x with `value`: `low` before and `high` after each axis, `interior` between neighbours.
 * Negative low and high crop.
 *
 * x[D…], value a scalar → [low + D + (D−1)·interior + high…]. Throws ShapeError if an extent would
 * be negative, DtypeError if the value has another dtype. `F.pad`, `jax.lax.pad`.
 *
 * @example
 *   pad(tensor([1, 2]), 0, 1, 2) // [0, 1, 2, 0, 0]
 *   pad(tensor([[1]]), 9, [0, 1]) // [[9, 1, 9]]; nothing above and below
 */
export function pad(
  x: Tensor,
  value: number | Tensor,
  low: Dim | readonly Dim[],
  high: Dim | readonly Dim[] = low,
  interior?: number | readonly number[],
): Tensor {
  checkTensor("pad", x);
  const fill = typeof value === "number" ? filled(value, x.dtype, []) : value;
  return apply("pad", [x, fill], {
    low: perAxis<Dim>("pad", "low", low, x.rank, 0),
    high: perAxis<Dim>("pad", "high", high, x.rank, 0),
    interior: perAxis("pad", "interior", interior, x.rank, 0),
  });
}
