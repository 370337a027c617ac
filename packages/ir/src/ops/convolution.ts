/**
 * Convolution (cross-correlation) over the trailing axes, with stride, padding, dilation of either
 * operand and groups. Both gradients are convolutions again. Padding may be negative, which crops.
 */

import type { NodeOf, OpAttrs } from "../attributes.ts";
import {
  addDim,
  ceilDiv,
  type Dim,
  floorDiv,
  isNonNegative,
  maxDim,
  modDim,
  mulDim,
  printDim,
  sameDim,
  subDim,
} from "../dim.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../errors.ts";
import type { Attrs, Tensor } from "../node.ts";
import { type Condition, defineOp, type Piece } from "../op.ts";
import { requireAtLeast } from "../requirement.ts";
import { exactQuotient, printShape } from "../shape.ts";
import {
  apply,
  asFactor,
  checkCount,
  checkSameDtype,
  checkTensor,
  dimsOf,
  numbersOf,
  perAxis,
  range,
} from "./apply.ts";
import { swapWithinGroups } from "./grouped-channels.ts";
import { reverse, transpose } from "./movement.ts";
import { spread } from "./slice.ts";
import { placements } from "./windows.ts";

const read = (attrs: Attrs): OpAttrs["convolution"] => ({
  stride: numbersOf(attrs.stride),
  low: dimsOf(attrs.low),
  high: dimsOf(attrs.high),
  lhsDilation: numbersOf(attrs.lhsDilation),
  rhsDilation: numbersOf(attrs.rhsDilation),
  groups: attrs.groups as number,
});

function checkChannels(x: Tensor, w: Tensor, groups: number): void {
  if (!(Number.isInteger(groups) && groups >= 1))
    throw new ShapeError(`convolution: groups is ${groups}, not 1 or more`);
  if (!sameDim(mulDim(w.shape[1]!, groups), x.shape[1]!))
    throw new ShapeError(
      `convolution: channels differ: x ${printShape(x.shape)} has ${printDim(x.shape[1]!)}, w ${printShape(w.shape)} takes ${groups} groups of ${printDim(w.shape[1]!)}\n  x must have groups times as many channels as w takes: change w, or the groups`,
    );
  if (exactQuotient(w.shape[0]!, groups) === undefined)
    throw new ShapeError(
      `convolution: ${printDim(w.shape[0]!)} output channels do not divide into ${groups} groups`,
    );
}

function check(x: Tensor, w: Tensor, a: OpAttrs["convolution"]): void {
  if (x.rank !== w.rank || x.rank < 3)
    throw new ShapeError(
      `convolution: x is ${printShape(x.shape)}, w is ${printShape(w.shape)}, not [N,C,...] and [O,C,...] of one rank`,
    );
  checkSameDtype("convolution", [x, w]);
  if (x.dtype === "bool") throw new DtypeError("convolution: operands are bool, not a number");
  const n = x.rank - 2;
  for (const name of ["stride", "low", "high", "lhsDilation", "rhsDilation"] as const)
    if (a[name].length !== n)
      throw new ShapeError(`convolution: ${name} has ${a[name].length} entries for ${n} axes`);
  for (const name of ["stride", "lhsDilation", "rhsDilation"] as const)
    for (const [i, v] of a[name].entries())
      if (!(Number.isInteger(v) && v >= 1))
        throw new ShapeError(`convolution: ${name} ${v} of axis ${i} is not 1 or more`);
  checkChannels(x, w, a.groups);
}

defineOp({
  name: "convolution",
  family: "contraction",
  infer(operands, attrs) {
    checkCount("convolution", operands, 2);
    const [x, w] = operands as [Tensor, Tensor];
    const a = read(attrs);
    check(x, w, a);
    const out = a.stride.map((stride, i) => {
      const sides = addDim(a.low[i]!, a.high[i]!);
      const extent = addDim(spread(x.shape[i + 2]!, a.lhsDilation[i]! - 1), sides);
      const count = placements(extent, w.shape[i + 2]!, stride, a.rhsDilation[i]!);
      requireAtLeast(
        count,
        1,
        () =>
          new ShapeError(
            `convolution: kernel ${printShape(w.shape.slice(2))} does not fit padded axis ${i + 2} of ${printShape(x.shape)}`,
          ),
      );
      return count;
    });
    return { dtype: x.dtype, shape: [x.shape[0]!, w.shape[0]!, ...out] };
  },
  vjp: (g, y, x, w) => [dataGradient(g, y, x!, w!), kernelGradient(g, y, x!, w!)],
  pieces: (node, coords) => convolutionPieces(node, coords),
});

/**
 * x at p / lhsDilation with p = o·stride + k·rhsDilation − low, where that is an element; and w.
 */
function convolutionPieces(node: NodeOf<"convolution">, coords: readonly Dim[]): Piece[] {
  const [x, w] = node.operands as [Tensor, Tensor];
  const a = node.attrs;
  const [n, o, ...at] = coords.slice(0, node.rank);
  const [c, ...k] = coords.slice(node.rank);
  const when: Condition[] = [];
  const from = at.map((t, i) => {
    const moved = addDim(mulDim(t, a.stride[i]!), mulDim(k[i]!, a.rhsDilation[i]!));
    const p = subDim(moved, a.low[i]!);
    const above = subDim(mulDim(subDim(x.shape[i + 2]!, 1), a.lhsDilation[i]!), p);
    const rest = modDim(p, a.lhsDilation[i]!);
    if (!isNonNegative(p)) when.push({ value: p, test: "nonnegative" });
    if (!isNonNegative(above)) when.push({ value: above, test: "nonnegative" });
    if (rest !== 0) when.push({ value: rest, test: "zero" });
    return floorDiv(p, a.lhsDilation[i]!);
  });
  const perGroup = exactQuotient(w.shape[0]!, a.groups)!;
  const group = a.groups === 1 ? 0 : floorDiv(o!, perGroup);
  const channel = addDim(mulDim(group, w.shape[1]!), c!);
  return [
    { operand: 0, coords: [n!, channel, ...from], when },
    { operand: 1, coords: [o!, c!, ...k], when: [] },
  ];
}

/**
 * x[d] meets w[k] in y[t] where t·s = d·ld + low − k·rd. With k counted from the other end, k′ = K
 * − 1 − k, that is d·ld + k′·rd − ((K−1)·rd − low): a convolution of g, dilated by s, with the
 * reversed kernel, of stride ld. `high` is what makes its extent D, also where the stride did not
 * divide.
 */
function dataGradient(g: Tensor, y: NodeOf<"convolution">, x: Tensor, w: Tensor): Tensor {
  const a = y.attrs;
  const axes = range(x.rank).slice(2);
  const reach = axes.map((axis, i) => mulDim(subDim(w.shape[axis]!, 1), a.rhsDilation[i]!));
  const low = reach.map((r, i) => subDim(r, a.low[i]!));
  const high = axes.map((axis, i) => {
    const span = addDim(mulDim(subDim(x.shape[axis]!, 1), a.lhsDilation[i]!), reach[i]!);
    const dilated = spread(g.shape[axis]!, a.stride[i]! - 1);
    return subDim(subDim(addDim(span, 1), dilated), low[i]!);
  });
  return apply("convolution", [g, reverse(swapWithinGroups(w, a.groups), axes)], {
    stride: a.lhsDilation,
    low,
    high,
    lhsDilation: a.stride,
    rhsDilation: a.rhsDilation,
    groups: a.groups,
  });
}

/**
 * w[k] collects g[t]·x[(t·s + k·rd − low)/ld] over n and t: a convolution of x with g as the
 * kernel, dilated by s, of stride rd, in which the batch is the channel axis that is summed and the
 * input channels are the batch.
 */
function kernelGradient(g: Tensor, y: NodeOf<"convolution">, x: Tensor, w: Tensor): Tensor {
  const a = y.attrs;
  const axes = range(x.rank).slice(2);
  const high = axes.map((axis, i) => {
    const reach = mulDim(subDim(g.shape[axis]!, 1), a.stride[i]!);
    const span = addDim(mulDim(subDim(w.shape[axis]!, 1), a.rhsDilation[i]!), reach);
    const dilated = spread(x.shape[axis]!, a.lhsDilation[i]! - 1);
    return subDim(subDim(addDim(span, 1), dilated), a.low[i]!);
  });
  const exchange = [1, 0, ...axes];
  // [N, G·C, D…] → [C, G·N, D…].
  const lhs = transpose(swapWithinGroups(transpose(x, exchange), a.groups), exchange);
  const product = apply("convolution", [lhs, transpose(g, exchange)], {
    stride: a.rhsDilation,
    low: a.low,
    high,
    lhsDilation: a.lhsDilation,
    rhsDilation: a.stride,
    groups: a.groups,
  });
  return transpose(product, exchange);
}

/** Amounts for all sides, for each axis, for each side of each axis; or by rule. */
export type Padding = Dim | readonly (Dim | readonly [Dim, Dim])[] | "same" | "valid";

export interface ConvolutionOptions {
  /** Places from one window to the next along each axis, default 1; a number is for all. */
  readonly stride?: number | readonly number[];
  /**
   * Places added at the edges, default 0: for all sides, for each axis, for each side of each
   * axis, "same" or "valid".
   */
  readonly padding?: Padding;
  /** Places from one element of a window to the next, default 1; a number is for all. */
  readonly dilation?: number | readonly number[];
  /** 1 + zeros between elements of x, default 1. */
  readonly lhsDilation?: number | readonly number[];
  /** Groups of channels that do not mix, default 1. */
  readonly groups?: number;
}

/**
 * [low, high] for each axis. "same" gives ⌈extent/stride⌉ placements, the odd element after.
 * `jax.lax.padtype_to_pads`.
 *
 * @param op What errors call the operation.
 * @param padding A number, a list, "same" or "valid".
 * @param extents Extents of x.
 * @param size Places of the window.
 * @param stride Steps of the window.
 * @param dilation Steps within the window.
 * @example
 *   resolvePadding("conv", "same", [5], [3], [1], [1]) // [[1, 1]]
 *   resolvePadding("conv", "same", [5], [2], [1], [1]) // [[0, 1]]
 */
export function resolvePadding(
  op: string,
  padding: Padding,
  extents: readonly Dim[],
  size: readonly Dim[],
  stride: readonly number[],
  dilation: readonly number[],
): (readonly [Dim, Dim])[] {
  if (padding === "valid") return extents.map(() => [0, 0]);
  if (padding === "same")
    return extents.map((d, i) => {
      const reach = addDim(mulDim(subDim(size[i]!, 1), dilation[i]!), 1);
      const span = addDim(mulDim(subDim(ceilDiv(d, stride[i]!), 1), stride[i]!), reach);
      const total = maxDim(subDim(span, d), 0);
      return [floorDiv(total, 2), subDim(total, floorDiv(total, 2))];
    });
  if (typeof padding === "string")
    throw new ShapeError(`${op}: padding "${String(padding)}" is not "same" or "valid"`);
  if (!Array.isArray(padding)) return extents.map(() => [padding as Dim, padding as Dim]);
  const list = padding as readonly (Dim | readonly [Dim, Dim])[];
  if (list.length !== extents.length)
    throw new ShapeError(`${op}: padding has ${list.length} entries for ${extents.length} axes`);
  return list.map((p) => (Array.isArray(p) ? (p as unknown as [Dim, Dim]) : [p as Dim, p as Dim]));
}

const convolutionOptions: OptionNames<ConvolutionOptions> = {
  stride: 1,
  padding: 1,
  dilation: 1,
  lhsDilation: 1,
  groups: 1,
};

/**
 * y[n, o, t…] = Σ_{c,k…} x[n, c, t·stride + k·dilation − low…] · w[o, c, k…], within `groups` of
 * channels; no bias.
 *
 * x[N, G·C, D…], w[G·O, C, K…], 1 or more spatial axes → [N, G·O, D′…] with D′ = ⌊(low + D + high −
 * (K−1)·dilation − 1)/stride⌋ + 1. `lhsDilation` puts zeros between elements of x first. Throws
 * ShapeError if ranks, channels or groups do not fit. `F.conv1d`, `F.conv2d`, `F.conv3d`.
 *
 * @param x [N, G·C, D…].
 * @param w [G·O, C, K…].
 * @example
 *   const x = tensor([[[1, 2, 3, 4]]]);
 *   convolution(x, tensor([[[1, 1]]])) // [[[3, 5, 7]]]
 *   convolution(x, tensor([[[1, 1]]]), { stride: 2 }) // [[[3, 7]]]
 */
export function convolution(x: Tensor, w: Tensor, options: ConvolutionOptions = {}): Tensor {
  const name = "convolution";
  for (const t of [x, w]) checkTensor(name, t);
  checkOptions(name, options, convolutionOptions);
  const n = x.rank - 2;
  const stride = perAxis(name, "stride", options.stride, n, 1);
  const dilation = perAxis(name, "dilation", options.dilation, n, 1);
  const lhsDilation = perAxis(name, "lhsDilation", options.lhsDilation, n, 1);
  const extents = x.shape.slice(2).map((d, i) => spread(d, lhsDilation[i]! - 1));
  const kernel = w.shape.slice(2);
  const sides = resolvePadding(name, options.padding ?? 0, extents, kernel, stride, dilation);
  return apply(name, [asFactor(x), asFactor(w)], {
    stride,
    low: sides.map(([low]) => low),
    high: sides.map(([, high]) => high),
    lhsDilation,
    rhsDilation: dilation,
    groups: options.groups ?? 1,
  });
}
