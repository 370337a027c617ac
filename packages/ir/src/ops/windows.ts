/**
 * Windows and fold: all placements of a window over the trailing axes, and the transpose of that
 * map, which sums every element back to the place it came from. Pooling is windows and a reduction;
 * neither pads.
 */

import type { NodeOf } from "../attributes.ts";
import {
  addDim,
  type Dim,
  floorDiv,
  isNonNegative,
  isStatic,
  modDim,
  mulDim,
  printDim,
  sameDim,
  subDim,
} from "../dim.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../errors.ts";
import { checkExtents, checkRecord } from "../kind.ts";
import type { Attrs, Tensor } from "../node.ts";
import { type Condition, defineOp, type Piece } from "../op.ts";
import { requireAtLeast } from "../requirement.ts";
import { printShape } from "../shape.ts";
import { apply, checkCount, checkTensor, dimsOf, numbersOf, perAxis } from "./apply.ts";

/** ⌊(D − (size − 1)·dilation − 1) / stride⌋ + 1. */
export const placements = (extent: Dim, size: Dim, stride: number, dilation: number): Dim =>
  addDim(floorDiv(subDim(subDim(extent, mulDim(subDim(size, 1), dilation)), 1), stride), 1);

function checkStep(op: string, name: string, value: Dim, axis: number): void {
  const refuse = () =>
    new ShapeError(`${op}: ${name} ${printDim(value)} of axis ${axis} is not 1 or more`);
  if (isStatic(value) && !Number.isInteger(value)) throw refuse();
  requireAtLeast(value, 1, refuse);
}

/** The spatial rank of a window; throws unless its attributes fit each other and the operand. */
function checkWindow(op: string, x: Tensor, attrs: Attrs, axes: number): number {
  const [size, stride, dilation] = [
    dimsOf(attrs.size),
    numbersOf(attrs.stride),
    numbersOf(attrs.dilation),
  ];
  const n = size.length;
  if (stride.length !== n || dilation.length !== n || axes < n)
    throw new ShapeError(
      `${op}: size, stride and dilation of ${n}, ${stride.length}, ${dilation.length} axes do not fit operand ${printShape(x.shape)}`,
    );
  for (let i = 0; i < n; i++)
    for (const [name, value] of [
      ["size", size[i]!],
      ["stride", stride[i]!],
      ["dilation", dilation[i]!],
    ] as const)
      checkStep(op, name, value, i);
  return n;
}

defineOp({
  name: "windows",
  family: "movement",
  infer(operands, attrs) {
    checkCount("windows", operands, 1);
    const x = operands[0]!;
    const n = checkWindow("windows", x, attrs, x.rank);
    const [size, lead] = [dimsOf(attrs.size), x.rank - n];
    const out = size.map((s, i) => {
      const [stride, dilation] = [numbersOf(attrs.stride)[i]!, numbersOf(attrs.dilation)[i]!];
      const count = placements(x.shape[lead + i]!, s, stride, dilation);
      requireAtLeast(
        count,
        1,
        () =>
          new ShapeError(
            `windows: window ${printDim(s)} with dilation ${dilation} does not fit axis ${lead + i} of ${printShape(x.shape)}`,
          ),
      );
      return count;
    });
    return { dtype: x.dtype, shape: [...x.shape.slice(0, lead), ...out, ...size] };
  },
  vjp(g, y, x) {
    const { size, stride, dilation } = y.attrs;
    const lead = x!.rank - stride.length;
    return [apply("fold", [g], { size, stride, dilation, extent: x!.shape.slice(lead) })];
  },
  pieces(node, coords) {
    const [stride, dilation] = [node.attrs.stride, node.attrs.dilation];
    const n = stride.length;
    const lead = coords.length - 2 * n;
    const at = stride.map((s, i) =>
      addDim(mulDim(coords[lead + i]!, s), mulDim(coords[lead + n + i]!, dilation[i]!)),
    );
    return [{ operand: 0, coords: [...coords.slice(0, lead), ...at], when: [] }];
  },
});

export interface WindowOptions {
  /** Places of a window along each of the last axes. */
  readonly size: Dim | readonly Dim[];
  /** Places from one window to the next along each axis, default 1; a number is for all. */
  readonly stride?: number | readonly number[] | undefined;
  /** Places from one element of a window to the next, default 1; a number is for all. */
  readonly dilation?: number | readonly number[] | undefined;
}

const windowOptions: OptionNames<WindowOptions> = { size: 1, stride: 1, dilation: 1 };

/**
 * All placements of a window over the trailing axes: y[…, o, k] = x[…, o·stride + k·dilation].
 *
 * x[…, D…] → [..., ⌊(D − (size−1)·dilation − 1)/stride⌋+1…, size…]. A number for `size` means one
 * axis. Throws ShapeError if the window is larger than the axis. `torch.Tensor.unfold` over several
 * axes.
 *
 * @example
 *   windows(tensor([1, 2, 3, 4]), { size: 2 }) // [[1, 2], [2, 3], [3, 4]]
 *   windows(tensor([1, 2, 3, 4]), { size: 2, stride: 2 }) // [[1, 2], [3, 4]]
 */
export function windows(x: Tensor, options: WindowOptions): Tensor {
  checkTensor("windows", x);
  checkRecord("windows", options);
  checkOptions("windows", options, windowOptions);
  const size = Array.isArray(options.size)
    ? (options.size as readonly Dim[])
    : [options.size as Dim];
  return apply("windows", [x], {
    size,
    stride: perAxis("windows", "stride", options.stride, size.length, 1),
    dilation: perAxis("windows", "dilation", options.dilation, size.length, 1),
  });
}

defineOp({
  name: "fold",
  family: "reduce",
  reducer: "sum",
  infer(operands, attrs) {
    checkCount("fold", operands, 1);
    const x = operands[0]!;
    const n = checkWindow("fold", x, attrs, x.rank / 2);
    const [size, extent, lead] = [dimsOf(attrs.size), dimsOf(attrs.extent), x.rank - 2 * n];
    if (x.dtype === "bool") throw new DtypeError("fold: dtype bool has no sum");
    const expected = extent.map((d, i) =>
      placements(d, size[i]!, numbersOf(attrs.stride)[i]!, numbersOf(attrs.dilation)[i]!),
    );
    const window = [...expected, ...size];
    if (extent.length !== n || window.some((d, i) => !sameDim(d, x.shape[lead + i]!)))
      throw new ShapeError(
        `fold: extent ${printShape(extent)} has windows ${printShape(window)}, operand is ${printShape(x.shape)}`,
      );
    return { dtype: x.dtype, shape: [...x.shape.slice(0, lead), ...extent] };
  },
  vjp(g, y) {
    const { size, stride, dilation } = y.attrs;
    return [apply("windows", [g], { size, stride, dilation })];
  },
  pieces: (node, coords) => foldPieces(node, coords),
});

export interface FoldOptions extends WindowOptions {
  /** The extents of the result. */
  readonly extent: readonly Dim[];
}

const foldOptions: OptionNames<FoldOptions> = { ...windowOptions, extent: 1 };

/**
 * The transpose of `windows`: every element is added to the place that it would have come from.
 *
 * x[…, O…, size…] → [..., extent…]. Throws ShapeError unless `extent` has the windows O…. `F.fold`,
 * of values instead of columns.
 *
 * @example
 *   const x = windows(tensor([1, 2, 3]), { size: 2 }); // [[1, 2], [2, 3]]
 *   foldWindows(x, { size: [2], extent: [3] }) // [1, 4, 3]; 2 was in both windows
 */
export function foldWindows(x: Tensor, options: FoldOptions): Tensor {
  checkTensor("foldWindows", x);
  checkRecord("foldWindows", options);
  checkOptions("foldWindows", options, foldOptions);
  checkExtents("fold", "extent", options.extent);
  const size = Array.isArray(options.size)
    ? (options.size as readonly Dim[])
    : [options.size as Dim];
  return apply("fold", [x], {
    size,
    stride: perAxis("fold", "stride", options.stride, size.length, 1),
    dilation: perAxis("fold", "dilation", options.dilation, size.length, 1),
    extent: [...options.extent],
  });
}

/**
 * With k the last coordinates: o·stride = p − k·dilation, where the division is exact and o in
 * range.
 */
function foldPieces(node: NodeOf<"fold">, coords: readonly Dim[]): Piece[] {
  const [stride, dilation] = [node.attrs.stride, node.attrs.dilation];
  const lead = node.rank - stride.length;
  const offsets = coords.slice(node.rank);
  const when: Condition[] = [];
  const at = stride.map((s, i) => {
    const from = subDim(coords[lead + i]!, mulDim(offsets[i]!, dilation[i]!));
    const last = mulDim(subDim(node.operands[0]!.shape[lead + i]!, 1), s);
    const rest = modDim(from, s);
    if (!isNonNegative(from)) when.push({ value: from, test: "nonnegative" });
    if (!isNonNegative(subDim(last, from)))
      when.push({ value: subDim(last, from), test: "nonnegative" });
    if (rest !== 0) when.push({ value: rest, test: "zero" });
    return floorDiv(from, s);
  });
  return [{ operand: 0, coords: [...coords.slice(0, lead), ...at, ...offsets], when }];
}
