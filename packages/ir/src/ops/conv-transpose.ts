/**
 * Transposed convolution: the map whose matrix is the transpose of a convolution's, also called
 * fractionally strided. No op of its own: a convolution of the spread-out input with the reversed
 * kernel, as is the gradient of a convolution.
 */
import { addDim, mulDim, subDim } from "../dim.ts";
import { checkOptions, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { exactQuotient, printShape } from "../shape.ts";
import { checkTensor, perAxis, range } from "./apply.ts";
import { convolution, type Padding, resolvePadding } from "./convolution.ts";
import { swapWithinGroups } from "./grouped-channels.ts";
import { reverse } from "./movement.ts";

export interface ConvTransposeOptions {
  /** Places of the result from one element of x to the next, default 1. */
  readonly stride?: number | readonly number[];
  /**
   * What the convolution would have padded: it is cut off the result. Numbers, or pairs of them.
   */
  readonly padding?: Exclude<Padding, "same">;
  /** Added to the result at the end, less than the stride or the dilation. */
  readonly outputPadding?: number | readonly number[];
  /** Places from one element of a window to the next, default 1; a number is for all. */
  readonly dilation?: number | readonly number[];
  /** Groups of channels that do not mix, default 1. */
  readonly groups?: number;
}

const convTransposeOptions: OptionNames<ConvTransposeOptions> = {
  stride: 1,
  padding: 1,
  outputPadding: 1,
  dilation: 1,
  groups: 1,
};

/**
 * y[n, o, p…] = Σ x[n, c, t…] · w[c, o, k…] over all c, t and k with t·stride + k·dilation − low =
 * p, within `groups` of channels; no bias.
 *
 * x[N, G·C, D…], w[G·C, O, K…], 1 or more spatial axes → [N, G·O, D′…] with D′ = (D − 1)·stride −
 * low − high + (K−1)·dilation + outputPadding + 1. Throws ShapeError if ranks, channels or groups
 * do not fit, or an `outputPadding` reaches the stride and the dilation. Dumoulin & Visin 2016,
 * section 4. `F.conv_transpose1d`, `F.conv_transpose2d`, `F.conv_transpose3d`.
 *
 * @param x [N, G·C, D…].
 * @param w [G·C, O, K…].
 * @example
 *   const x = tensor([[[1, 2]]]);
 *   convTranspose(x, tensor([[[1, 1]]])) // [[[1, 3, 2]]]
 *   convTranspose(x, tensor([[[1, 1]]]), { stride: 2 }) // [[[1, 1, 2, 2]]]
 */
export function convTranspose(x: Tensor, w: Tensor, options: ConvTransposeOptions = {}): Tensor {
  const op = "convTranspose";
  for (const t of [x, w]) checkTensor(op, t);
  const { groups = 1, padding = 0 } = checkOptions(op, options, convTransposeOptions);
  checkOperands(op, x, w, groups);
  const n = x.rank - 2;
  const [stride, dilation] = [
    perAxis(op, "stride", options.stride, n, 1),
    perAxis(op, "dilation", options.dilation, n, 1),
  ];
  const after = perAxis(op, "outputPadding", options.outputPadding, n, 0);
  for (const [i, v] of after.entries()) checkAfter(op, v, stride[i]!, dilation[i]!);
  if ((padding as unknown) === "same")
    throw new GraphError(
      `${op}: padding "same" is not one of its own\n  give numbers: the result has (D − 1)·stride − padding + (K − 1)·dilation + 1 places`,
    );
  const kernel = w.shape.slice(2);
  const sides = resolvePadding(op, padding, x.shape.slice(2), kernel, stride, dilation);
  const reach = kernel.map((k, i) => mulDim(subDim(k, 1), dilation[i]!));
  // Reversed, k′ = K − 1 − k: p = t·s + (K−1)·d − k′·d − low, so x, spread out by s, starts (K−1)·d
  // − low before p.
  const ends = reach.map(
    (r, i) => [subDim(r, sides[i]![0]), addDim(subDim(r, sides[i]![1]), after[i]!)] as const,
  );
  return convolution(x, reverse(swapWithinGroups(w, groups), range(x.rank).slice(2)), {
    padding: ends,
    dilation,
    lhsDilation: stride,
    groups,
  });
}

function checkOperands(op: string, x: Tensor, w: Tensor, groups: number): void {
  if (x.rank !== w.rank || x.rank < 3)
    throw new ShapeError(
      `${op}: x is ${printShape(x.shape)}, w is ${printShape(w.shape)}, not [N,C,...] and [C,O,...] of one rank`,
    );
  if (!(Number.isInteger(groups) && groups >= 1))
    throw new ShapeError(`${op}: groups is ${groups}, not 1 or more`);
  if (exactQuotient(w.shape[0]!, groups) === undefined)
    throw new ShapeError(
      `${op}: channels do not divide into ${groups} groups: w is ${printShape(w.shape)}\n  choose groups that divide the first axis of w`,
    );
}

function checkAfter(op: string, value: number, stride: number, dilation: number): void {
  if (value < 0 || value >= Math.max(stride, dilation))
    throw new ShapeError(
      `${op}: outputPadding ${value} is not less than stride ${stride} or dilation ${dilation}\n  it tells apart results that a convolution of this stride maps to one extent; pad to add more`,
    );
}
