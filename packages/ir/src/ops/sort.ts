/**
 * Sorting along one axis. The one primitive is the permutation; sorted values are gathered by it,
 * so that gradients come from gather, and any number of tensors can be brought into one order.
 */
import type { OpAttrs } from "../attributes.ts";
import { type Dim, printDim, subDim } from "../dim.ts";
import { checkOptions, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import { checkExtentKind } from "../kind.ts";
import type { Attrs, Tensor } from "../node.ts";
import { defineOp } from "../op.ts";
import { requireAtLeast } from "../requirement.ts";
import { checkAxis, printShape } from "../shape.ts";
import { apply, checkCount, checkTensor } from "./apply.ts";
import { takeAlongAxis } from "./gather.ts";

export interface SortAttrs {
  readonly axis: number;
  /** How many places of the order are given, from its start. */
  readonly count: Dim;
  readonly descending: boolean;
}

/**
 * The attributes of an argSort; a flag that text leaves out is false, and so is a count: all
 * places.
 */
export function sortAttrs(x: Tensor, attrs: OpAttrs["argSort"]): SortAttrs {
  const { axis, count = x.shape[axis]!, descending = false } = attrs;
  return { axis, count, descending };
}

defineOp({
  name: "argSort",
  family: "sort",
  infer(operands, attrs) {
    checkCount("argSort", operands, 1);
    const [x] = operands as [Tensor];
    if (typeof attrs.axis !== "number") throw new GraphError("argSort: attribute axis is missing");
    checkAxis("argSort", attrs.axis, x.rank);
    const { axis, count } = sortAttrs(x, attrs as Attrs & OpAttrs["argSort"]);
    const extent = x.shape[axis]!;
    const refuse = () =>
      new ShapeError(
        `argSort: count is ${printDim(count)}, axis ${axis} of ${printShape(x.shape)} may have fewer`,
      );
    for (const d of [count, subDim(extent, count)]) requireAtLeast(d, 0, refuse);
    return { dtype: "i32", shape: x.shape.map((d, i) => (i === axis ? count : d)) };
  },
  vjp: () => [undefined],
});

export interface SortOptions {
  /** From the greatest to the least; default false. */
  readonly descending?: boolean;
}

const sortOptions: OptionNames<SortOptions> = { descending: 1 };

/**
 * The places along `axis` in the order of their elements: i32 indices that sort x. Equal elements,
 * and 0 and −0, stay in the order in which they stand (stable), in both directions; NaN counts as
 * greater than all numbers. No gradient flows. `torch.argsort`, `numpy.argsort`.
 *
 * @param x The tensor.
 * @example
 *   argSort(tensor([30, 10, 20])) // [1, 2, 0]
 *   argSort(tensor([30, 10, 20]), -1, { descending: true }) // [0, 2, 1]
 */
export function argSort(x: Tensor, axis = -1, options: SortOptions = {}): Tensor {
  checkTensor("argSort", x);
  checkOptions("argSort", options, sortOptions);
  const a = checkAxis("argSort", axis, x.rank);
  return order("argSort", x, a, x.shape[a]!, options.descending ?? false);
}

/**
 * x with its elements sorted along `axis`; NaN counts as greater than all numbers. The gradient
 * goes to the places the elements came from. `torch.sort`.
 *
 * @param x The tensor.
 * @example
 *   sort(tensor([3, 1, 2])) // [1, 2, 3]
 *   sort(tensor([3, 1, 2]), -1, { descending: true }) // [3, 2, 1]
 */
export function sort(x: Tensor, axis = -1, options: SortOptions = {}): Tensor {
  checkTensor("sort", x);
  checkOptions("sort", options, sortOptions);
  const a = checkAxis("sort", axis, x.rank);
  return takeAlongAxis(x, argSort(x, a, options), a);
}

export interface TopKOptions {
  /** False for the k least; default true. */
  readonly largest?: boolean;
}

const topKOptions: OptionNames<TopKOptions> = { largest: 1 };

/**
 * The k largest elements along `axis`, the largest first, and their i32 places; of equal ones, the
 * first. NaN counts as greater than all numbers. The gradient of the values goes to those places.
 *
 * x[D…, n, E…] → two of [D…, k, E…]. Throws ShapeError if the axis may have fewer than k elements.
 * `torch.topk`.
 *
 * @param k How many.
 * @example
 *   const { values, indices } = topK(tensor([1, 9, 4, 7]), 2);
 *   values // [9, 7]
 *   indices // [1, 3]
 */
export function topK(
  x: Tensor,
  k: Dim,
  axis = -1,
  options: TopKOptions = {},
): { values: Tensor; indices: Tensor } {
  checkTensor("topK", x);
  checkExtentKind("topK", "k", k);
  checkOptions("topK", options, topKOptions);
  const a = checkAxis("topK", axis, x.rank);
  const extent = x.shape[a]!;
  const refuse = () =>
    new ShapeError(
      `topK: k is ${printDim(k)}, axis ${a} of ${printShape(x.shape)} may have fewer elements`,
    );
  for (const d of [k, subDim(extent, k)]) requireAtLeast(d, 0, refuse);
  const indices = order("topK", x, a, k, options.largest ?? true);
  return { values: takeAlongAxis(x, indices, a), indices };
}

function order(op: string, x: Tensor, axis: number, count: Dim, descending: boolean): Tensor {
  if (x.rank === 0) throw new ShapeError(`${op}: a scalar has no axis to sort along`);
  return apply("argSort", [x], { axis, count, descending });
}
