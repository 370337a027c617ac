/**
 * Deformable convolution: the kernel reads the image at places that are computed, between elements.
 * No op of its own: columns gathered by linear interpolation, and one product.
 */
import { addDim, type Dim, isStatic, mulDim, printDim, sameDim } from "../../dim.ts";
import { isFloat } from "../../dtype.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { exactQuotient, printShape, sameShape } from "../../shape.ts";
import { checkTensor, perAxis, range } from "../apply.ts";
import { dotGeneral } from "../contraction.ts";
import { type Padding, resolvePadding } from "../convolution.ts";
import { dimValue } from "../create.ts";
import { reshape, transpose } from "../movement.ts";
import { iota } from "../source.ts";
import { placements } from "../windows.ts";
import { inFloat32 } from "./in-float32.ts";
import { corners, linearTaps, weighted } from "./places.ts";

export interface DeformConvOptions {
  /** Places from one window to the next along each axis, default 1; a number is for all. */
  readonly stride?: number | readonly number[];
  /**
   * Places added at the edges, default 0: for all sides, for each axis, for each side of each
   * axis, "same" or "valid".
   */
  readonly padding?: Padding;
  /** Places from one element of a window to the next, default 1; a number is for all. */
  readonly dilation?: number | readonly number[];
  /** Groups of channels that do not mix, default 1. */
  readonly groups?: number;
  /**
   * float[N, R·K, D′…]: what each element that is read is multiplied by, as in the second version.
   */
  readonly mask?: Tensor;
}

const deformConvOptions: OptionNames<DeformConvOptions> = {
  stride: 1,
  padding: 1,
  dilation: 1,
  groups: 1,
  mask: 1,
};

/** Where the kernel stands, and how many groups of channels have offsets of their own. */
interface Frame {
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly low: readonly Dim[];
  readonly out: readonly Dim[];
  readonly regions: number;
}

/**
 * y[n, o, t…] = Σ_{c,k…} w[o, c, k…] · x[n, c, t·stride + k·dilation − padding + offset[n, k, :,
 * t…]], within `groups` of channels, where x between elements is interpolated linearly and 0
 * outside; no bias. `torchvision.ops.deform_conv2d`.
 *
 * x: float[N, G·C, D…] of r axes D, w[G·O, C, K…], offset float[N, R·K·r, D′…] → [N, G·O, D′…],
 * with D′ as of `convolution` and K the number of places of the kernel. Offsets stand by region,
 * then by place, then by axis; each of the R regions of channels has its own. Gradients go to all.
 * Throws ShapeError unless they fit, DtypeError for integers. Dai et al. 2017; with a `mask` Zhu et
 * al. 2019.
 *
 * @param offset Shifts of the places read, [N, K…·r, O…].
 * @param w [G·O, C, K…].
 * @example
 *   const [x, w] = [tensor([[[1, 2, 3]]]), ones([1, 1, 1])];
 *   deformConv(x, zeros([1, 1, 3]), w) // [[[1, 2, 3]]]
 *   deformConv(x, tensor([[[0.5, 0.5, 0]]]), w) // [[[1.5, 2.5, 3]]]; half a place on
 */
export function deformConv(
  x: Tensor,
  offset: Tensor,
  w: Tensor,
  options: DeformConvOptions = {},
): Tensor {
  const op = "deformConv";
  const { mask, groups = 1 } = checkOptions(op, options, deformConvOptions);
  checkOperands(op, [x, offset, w, ...(mask ? [mask] : [])]);
  const frame = frameOf(op, x, offset, w, options);
  checkGroups(op, x, w, groups);
  if (mask) checkMask(op, mask, x.shape[0]!, frame);
  const columns = inFloat32([x, offset, mask], (...wide) => columnsOf(frame, ...wide));
  return product(columns, w, groups, frame.out);
}

function checkOperands(op: string, operands: readonly Tensor[]): void {
  for (const t of operands) checkTensor(op, t);
  const [x, offset, w] = operands as [Tensor, Tensor, Tensor];
  if (x.rank < 3 || operands.some((t) => t.rank !== x.rank))
    throw new ShapeError(
      `${op}: x is ${printShape(x.shape)}, offset is ${printShape(offset.shape)}, w is ${printShape(w.shape)}, not [N,C,...], [N,R,...] and [O,C,...] of one rank`,
    );
  for (const t of operands)
    if (!isFloat(t.dtype))
      throw new DtypeError(
        `${op}: operands must be floats, got ${t.dtype}\n  convert it first: x.convert("f32")`,
      );
}

function checkGroups(op: string, x: Tensor, w: Tensor, groups: number): void {
  if (!(Number.isInteger(groups) && groups >= 1))
    throw new ShapeError(`${op}: groups is ${groups}, not 1 or more`);
  const [o, c] = w.shape as [Dim, Dim];
  if (!sameDim(mulDim(c, groups), x.shape[1]!) || exactQuotient(o, groups) === undefined)
    throw new ShapeError(
      `${op}: channels differ: x ${printShape(x.shape)} has ${printDim(x.shape[1]!)}, w ${printShape(w.shape)} takes ${groups} groups of ${printDim(c)}\n  x must have groups times as many channels as w takes, and w a multiple of groups of rows`,
    );
}

function frameOf(
  op: string,
  x: Tensor,
  offset: Tensor,
  w: Tensor,
  options: DeformConvOptions,
): Frame {
  const r = x.rank - 2;
  const kernel = w.shape.slice(2);
  if (!kernel.every(isStatic))
    throw new ShapeError(`${op}: the kernel of w ${printShape(w.shape)} has no known extents`);
  const stride = perAxis(op, "stride", options.stride, r, 1);
  const dilation = perAxis(op, "dilation", options.dilation, r, 1);
  const extents = x.shape.slice(2);
  const sides = resolvePadding(op, options.padding ?? 0, extents, kernel, stride, dilation);
  const out = extents.map((d, i) =>
    placements(addDim(d, addDim(...sides[i]!)), kernel[i]!, stride[i]!, dilation[i]!),
  );
  const places = kernel.reduce((a, b) => a * b, 1);
  const regions = exactQuotient(offset.shape[1]!, places * r);
  const fits =
    typeof regions === "number" &&
    regions > 0 &&
    exactQuotient(x.shape[1]!, regions) !== undefined &&
    sameShape(offset.shape, [x.shape[0]!, regions * places * r, ...out]);
  if (!fits)
    throw new ShapeError(
      `${op}: offset must be ${printShape([x.shape[0]!, places * r, ...out])}, or a multiple of its second axis that divides the channels, got ${printShape(offset.shape)}\n  it has ${r} numbers for each of the ${places} places of the kernel`,
    );
  return { kernel, stride, dilation, low: sides.map(([low]) => low), out, regions };
}

function checkMask(op: string, mask: Tensor, batch: Dim, { kernel, regions, out }: Frame): void {
  const shape = [batch, kernel.reduce((a, b) => a * b, regions), ...out];
  if (!sameShape(mask.shape, shape))
    throw new ShapeError(
      `${op}: mask must be ${printShape(shape)}, got ${printShape(mask.shape)}\n  it has one number for each place of the kernel`,
    );
}

/** x as it is read, by region and place of the kernel: [N, R, K, D′…, C/R]. */
function columnsOf(f: Frame, x: Tensor, offset: Tensor, mask: Tensor | undefined): Tensor {
  const [batch, channels, ...image] = x.shape as [Dim, Dim, ...Dim[]];
  const places = f.kernel.reduce((a, b) => a * b, 1);
  const shape = [batch, f.regions, places, ...f.out];
  const moved = reshape(offset, [batch, f.regions, places, image.length, ...f.out]);
  const taps = image.map((_, i) => {
    const by = reshape(moved.sliceAxis(3, i, i + 1), shape);
    return [i + 3, linearTaps(startOf(f, shape, i).convert(by.dtype).add(by))] as const;
  });
  const grouped = reshape(x, [batch, f.regions, exactQuotient(channels, f.regions)!, ...image]);
  const own = [
    [0, iota(shape, 0)],
    [1, iota(shape, 1)],
  ] as const;
  const read = weighted(corners(grouped, own, taps, true));
  return mask ? read.mul(reshape(mask, [...shape, 1])) : read;
}

/** t·stride + k·dilation − padding of axis i, for each place of the kernel and of the result. */
function startOf(f: Frame, shape: readonly Dim[], i: number): Tensor {
  const inner = f.kernel.slice(i + 1).reduce((a, b) => a * b, 1);
  const within = iota(shape, 2).div(inner).rem(f.kernel[i]!).mul(f.dilation[i]!);
  const low = f.low[i]!;
  const start = iota(shape, i + 3)
    .mul(f.stride[i]!)
    .add(within);
  return start.sub(isStatic(low) ? low : dimValue(low));
}

/** [N, R, K, D′…, C/R] with w[G·O, C, K…] → [N, G·O, D′…]. */
function product(columns: Tensor, w: Tensor, groups: number, out: readonly Dim[]): Tensor {
  const [batch, , places] = columns.shape as [Dim, Dim, Dim];
  const [o, c] = w.shape as [Dim, Dim];
  // The channels come first, to be cut into the groups of the weight.
  const order = [0, 1, columns.rank - 1, 2, ...range(out.length).map((i) => i + 3)];
  const terms = mulDim(c, places);
  const lhs = reshape(transpose(columns, order), [
    batch,
    groups,
    terms,
    out.reduce<Dim>(mulDim, 1),
  ]);
  const rhs = reshape(w, [groups, exactQuotient(o, groups)!, terms]);
  const y = dotGeneral(rhs, lhs, {
    lhsBatch: [0],
    rhsBatch: [1],
    lhsContract: [2],
    rhsContract: [2],
  });
  // [G, O/G, N, D′]
  return reshape(transpose(y, [2, 0, 1, 3]), [batch, o, ...out]);
}
