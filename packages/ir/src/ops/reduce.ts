/**
 * Reductions over axes, which are removed: sums, products, extremes and their indices. The first of
 * equal extremes counts, and NaN is more extreme than any number.
 */
import type { ReduceOp } from "../attributes.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { defineOp, type OpRecord, type Reducer } from "../op.ts";
import { totalDtype } from "../precision.ts";
import { requireAtLeast } from "../requirement.ts";
import { checkAxes, dropAxes, printShape, sizeOf } from "../shape.ts";
import { apply, checkCount, checkTensor, filled, inDtype, numbersOf, otherAxes } from "./apply.ts";
import { broadcastInDim, reshape } from "./movement.ts";

type Vjp = NonNullable<OpRecord<ReduceOp>["vjp"]>;

/** The operand coordinates made of result coordinates and, at the reduced axes, loop variables. */
function merge<T>(
  axes: readonly number[],
  rank: number,
  kept: readonly T[],
  vars: readonly T[],
): T[] {
  let [i, j] = [0, 0];
  return Array.from({ length: rank }, (_, k) => (axes.includes(k) ? vars[j++]! : kept[i++]!));
}

function checkDtype(op: string, reducer: Reducer, x: Tensor): void {
  const logical = reducer === "any" || reducer === "all";
  if (logical !== (x.dtype === "bool"))
    throw new DtypeError(
      `${op}: operand is ${x.dtype}, not ${logical ? "bool" : "a number"}\n  convert it first: ${logical ? "x.notEqual(0)" : 'x.convert("i32")'}`,
    );
}

function reduction(name: ReduceOp, reducer: Reducer, vjp?: Vjp): void {
  const index = reducer === "argMax" || reducer === "argMin";
  defineOp({
    name,
    family: "reduce",
    reducer,
    infer(operands, attrs) {
      checkCount(name, operands, 1);
      const x = operands[0]!;
      const axes = checkAxes(name, numbersOf(attrs.axes), x.rank);
      checkDtype(name, reducer, x);
      return { dtype: index ? "i32" : x.dtype, shape: dropAxes(x.shape, axes) };
    },
    ...(vjp ? { vjp } : {}),
    pieces(node, coords) {
      const [x, axes] = [node.operands[0]!, node.attrs.axes];
      const at = merge(axes, x.rank, coords.slice(0, node.rank), coords.slice(node.rank));
      return [{ operand: 0, coords: at, when: [] }];
    },
  });
}

/** g repeated along the reduced axes of x. */
const spreadOver = (g: Tensor, x: Tensor, axes: readonly number[]): Tensor =>
  broadcastInDim(g, x.shape, otherAxes(x.rank, axes));

/** The row-major index within `axes`, at every element of x. */
function positions(x: Tensor, axes: readonly number[]): Tensor {
  const extents = axes.map((a) => x.shape[a]!);
  const flat = apply("iota", [], { axis: 0 }, { dtype: "i32", shape: [sizeOf(extents)] });
  return broadcastInDim(reshape(flat, extents), x.shape, axes);
}

/**
 * The whole gradient goes to the first of equal extremes, which is where argMax and argMin point.
 */
const extremeVjp =
  (arg: ReduceOp): Vjp =>
  (g, y, x) => {
    const axes = y.attrs.axes;
    const chosen = spreadOver(apply(arg, [x!], { axes }), x!, axes);
    const mask = apply("equal", [positions(x!, axes), chosen]);
    return [apply("select", [mask, spreadOver(g, x!, axes), filled(0, g.dtype, x!.shape)])];
  };

/**
 * ∂/∂xᵢ Πⱼ xⱼ = Π_{j≠i} xⱼ, formed without division: so it is right, to every order, where elements
 * are 0. Costs n² for n reduced elements.
 */
const productVjp: Vjp = (g, y, x) => {
  const axes = y.attrs.axes;
  const order = [...otherAxes(x!.rank, axes), ...axes];
  const lead = order.length - axes.length;
  const moved = apply("transpose", [x!], { perm: order });
  const n = sizeOf(axes.map((a) => x!.shape[a]!));
  const flat = reshape(moved, [...moved.shape.slice(0, lead), n]);
  const square = [...flat.shape, n];
  const keep = square.slice(0, lead).map((_, i) => i);
  const [row, col] = [lead, lead + 1].map((axis) =>
    apply("iota", [], { axis }, { dtype: "i32", shape: square }),
  );
  const others = broadcastInDim(flat, square, [...keep, lead + 1]);
  const one = filled(1, flat.dtype, square);
  const masked = apply("select", [apply("equal", [row!, col!]), one, others]);
  const exclusive = apply("reduceProd", [masked], { axes: [lead + 1] });
  const scaled = apply("mul", [exclusive, broadcastInDim(g, flat.shape, keep)]);
  const back = order.map((_, axis) => order.indexOf(axis));
  return [apply("transpose", [reshape(scaled, moved.shape)], { perm: back })];
};

reduction("reduceSum", "sum", (g, y, x) => [spreadOver(g, x!, y.attrs.axes)]);
reduction("reduceProd", "prod", productVjp);
reduction("reduceMax", "max", extremeVjp("argMax"));
reduction("reduceMin", "min", extremeVjp("argMin"));
reduction("reduceAny", "any");
reduction("reduceAll", "all");
reduction("argMax", "argMax");
reduction("argMin", "argMin");

export type Axes = number | readonly number[];
export interface ReduceOptions {
  /** Keeps the reduced axes, with extent 1. */
  readonly keepDims?: boolean;
}
export interface ExtremeOptions extends ReduceOptions {
  /**
   * What there is of no elements: an error, by default, or what leaves every number as it is: the
   * lowest value for a maximum, the greatest for a minimum, place 0 for an index.
   */
  readonly empty?: "error" | "identity";
}

/** Throws where nothing is reduced; of symbols, when the program runs. */
function checkElements(op: string, x: Tensor, axes: readonly number[]): void {
  for (const a of axes)
    requireAtLeast(
      x.shape[a]!,
      1,
      () =>
        new ShapeError(
          `${op}: axis ${a} of ${printShape(x.shape)} is empty, and no element is its extreme\n  pass { empty: "identity" } for what leaves every number as it is`,
        ),
    );
}

const reduceOptions: OptionNames<ReduceOptions> = { keepDims: 1 };
const extremeOptions: OptionNames<ExtremeOptions> = { ...reduceOptions, empty: 1 };

/** One reduction, in the dtype in which the op counts. */
function reduced(op: ReduceOp, x: Tensor, list: readonly number[], keepDims = false): Tensor {
  const counted = op === "reduceSum" || op === "reduceProd";
  const numeric = inDtype(x, counted ? totalDtype(x.dtype) : x.dtype);
  const y = list.length || op.startsWith("arg") ? apply(op, [numeric], { axes: list }) : numeric;
  return keepDims ? reshape(y, dropAxes(x.shape, list, true)) : y;
}

const reducing =
  (name: string, op: ReduceOp) =>
  (x: Tensor, axes?: Axes, options: ReduceOptions = {}): Tensor => {
    checkTensor(name, x);
    const { keepDims } = checkOptions(name, options, reduceOptions);
    return reduced(op, x, checkAxes(name, axes, x.rank), keepDims);
  };

const extreme =
  (name: string, op: ReduceOp) =>
  (x: Tensor, axes?: Axes, options: ExtremeOptions = {}): Tensor => {
    checkTensor(name, x);
    const { empty, keepDims } = checkOptions(name, options, extremeOptions);
    const list = checkAxes(name, axes, x.rank);
    if (empty !== "identity") checkElements(name, x, list);
    return reduced(op, x, list, keepDims);
  };

/**
 * Σ over `axes` (all by default). Booleans, i8 and u8 count as i32. `torch.sum`.
 *
 * @param x Values of any shape.
 * @example
 *   sum(tensor([[1, 2], [3, 4]])) // 10
 *   sum(tensor([[1, 2], [3, 4]]), 0) // [4, 6]
 *   sum(tensor([[1, 2], [3, 4]]), 1, { keepDims: true }) // [[3], [7]]
 */
export const sum = reducing("sum", "reduceSum");
/**
 * Π over `axes` (all by default). Booleans, i8 and u8 count as i32. The gradient is exact at zeros.
 * `torch.prod`.
 *
 * @param x Values of any shape.
 * @example
 *   prod(tensor([[1, 2], [3, 4]])) // 24
 *   prod(tensor([[1, 2], [3, 4]]), 1) // [2, 12]
 */
export const prod = reducing("prod", "reduceProd");
/**
 * The largest over `axes` (all by default); NaN if any is NaN. The gradient goes to the first of
 * equals. Throws ShapeError over an empty axis. `torch.amax`, `numpy.max`.
 *
 * @param x Values of any shape.
 * @example
 *   max(tensor([[1, 5], [7, 2]])) // 7
 *   max(tensor([[1, 5], [7, 2]]), 1) // [5, 7]
 */
export const max = extreme("max", "reduceMax");
/**
 * The smallest over `axes` (all by default); NaN if any is NaN. The gradient goes to the first of
 * equals. Throws ShapeError over an empty axis. `torch.amin`, `numpy.min`.
 *
 * @param x Values of any shape.
 * @example
 *   min(tensor([[1, 5], [7, 2]])) // 1
 *   min(tensor([[1, 5], [7, 2]]), 1) // [1, 2]
 */
export const min = extreme("min", "reduceMin");
/**
 * True where any element over `axes` is true. x: bool. `torch.any`.
 * @example
 *   const x = tensor([[false, true], [false, false]]);
 *   any(x) // true
 *   any(x, 1) // [true, false]
 */
export const any = reducing("any", "reduceAny");
/**
 * True where all elements over `axes` are true. x: bool. `torch.all`.
 * @example
 *   const x = tensor([[true, true], [true, false]]);
 *   all(x) // false
 *   all(x, 1) // [true, false]
 */
export const all = reducing("all", "reduceAll");
/**
 * The index of the largest along `axis`, i32, the first of equals; over all elements in row-major
 * order without one. Throws ShapeError where there is none. `torch.argmax`, `numpy.argmax`.
 *
 * @param x Values of any shape.
 * @param axes The axis, or axes, whose places are counted; all by default.
 * @example
 *   const x = tensor([[1, 5, 5], [7, 0, 2]]);
 *   argMax(x, 1) // [1, 0]
 *   argMax(x) // 3; of all, row-major
 */
export const argMax = extreme("argMax", "argMax");
/**
 * The index of the smallest along `axis`, i32, the first of equals; over all elements without one.
 * Throws ShapeError where there is none. `torch.argmin`, `numpy.argmin`.
 *
 * @param x Values of any shape.
 * @param axes The axis, or axes, whose places are counted; all by default.
 * @example
 *   const x = tensor([[1, 5, 5], [7, 0, 2]]);
 *   argMin(x, 1) // [0, 1]
 *   argMin(x) // 4; of all, row-major
 */
export const argMin = extreme("argMin", "argMin");
