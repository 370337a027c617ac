/**
 * Cumulative sums, products and extremes along one axis (ONNX CumSum). One record for each way to combine; `exclusive`
 * leaves an element out of its own result, `reverse` runs from the end of the axis. Several axes are several ops.
 */
import type { CumulativeOp } from "../attributes.ts";
import { sumDtype } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import { type Attrs, attrKey, type Tensor } from "../node.ts";
import { defineOp, type OpRecord, type Reducer } from "../op.ts";
import { fullDtype } from "../precision.ts";
import { checkAxis, type Shape } from "../shape.ts";
import { apply, checkCount, checkTensor, filled, inDtype, range } from "./apply.ts";
import { scanAttrs } from "./loops.ts";

export interface CumulativeOptions {
  /** Combines the elements before each one only; the first result is what a reduction of nothing gives. */
  readonly exclusive?: boolean;
  /** Starts at the end of the axis. */
  readonly reverse?: boolean;
}

function checkAttrs(op: string, x: Tensor, attrs: Attrs): void {
  const { axis, exclusive = false, reverse = false } = attrs;
  if (typeof exclusive !== "boolean" || typeof reverse !== "boolean")
    throw new GraphError(
      `${op}: exclusive and reverse are true or false, got ${attrKey(exclusive)} and ${attrKey(reverse)}`,
    );
  if (typeof axis !== "number" || checkAxis(op, axis, x.rank) !== axis)
    throw new ShapeError(`${op}: axis counts from the front, got ${attrKey(axis ?? "none")}`);
}

type Vjp = NonNullable<OpRecord["vjp"]>;

function cumulative(name: CumulativeOp, reducer: Reducer, vjp: Vjp): void {
  defineOp({
    name,
    family: "scan",
    reducer,
    infer(operands, attrs) {
      checkCount(name, operands, 1);
      const x = operands[0]!;
      checkAttrs(name, x, attrs);
      if (x.dtype === "bool")
        throw new DtypeError(
          `${name}: operand is bool, not a number\n  convert it first: x.convert("i32")`,
        );
      return { dtype: x.dtype, shape: x.shape };
    },
    vjp,
  });
}

/** A gradient that is written for scans from the front, for those from the end as well. */
const fromFront =
  (vjp: (g: Tensor, y: Tensor, x: Tensor) => Tensor): Vjp =>
  (g, y, x) => {
    const attrs = scanAttrs(y);
    if (!attrs.reverse) return [vjp(g, y, x!)];
    const flip = (t: Tensor) => apply("reverse", [t], { axes: [attrs.axis] });
    const turned = apply(y.op, [flip(x!)], { ...attrs, reverse: false });
    return [flip(vjp(flip(g), turned, flip(x!)))];
  };

const iota = (axis: number, shape: Shape): Tensor =>
  apply("iota", [], { axis }, { dtype: "i32", shape });

/**
 * ∂/∂xₖ Σᵢ gᵢ Π_{j≤i} xⱼ = Π_{j<k} xⱼ · Σ_{i≥k} gᵢ Π_{k<j≤i} xⱼ (exclusive: j < i and i > k), without a division: right,
 * to every order, where elements are 0. Costs n² for n elements; the products are not stored where they fuse with the
 * sum.
 */
const productVjp = fromFront((g, y, x) => {
  const { axis, exclusive } = scanAttrs(y);
  // Axis k of the element that is differentiated, before axis i of the results it has a part in.
  const shape = [...x.shape.slice(0, axis + 1), ...x.shape.slice(axis)];
  const dims = range(x.rank).map((a) => (a < axis ? a : a + 1));
  const spread = (t: Tensor) => apply("broadcastInDim", [t], { dims }, { dtype: t.dtype, shape });
  const [k, i] = [iota(axis, shape), iota(axis + 1, shape)];
  const after = apply("greater", [i, k]);
  const factors = apply("select", [after, spread(x), filled(1, x.dtype, shape)]);
  const attrs = { axis: axis + 1, exclusive, reverse: false };
  const terms = apply("mul", [spread(g), apply("cumprod", [factors], attrs)]);
  const counts = exclusive ? after : apply("greaterEqual", [i, k]);
  const kept = apply("select", [counts, terms, filled(0, x.dtype, shape)]);
  const before = apply("cumprod", [x], { axis, exclusive: true, reverse: false });
  return apply("mul", [before, apply("reduceSum", [kept], { axes: [axis + 1] })]);
});

/**
 * Each result's gradient is added to the element that the result is: the first of equals, or the first NaN. A place is the
 * latest so far at which the extreme changed; where there is none yet, the scatter drops the gradient.
 */
const extremeVjp = fromFront((g, y, x) => {
  const { axis, exclusive } = scanAttrs(y);
  const at = iota(axis, x.shape);
  const zero = filled(0, "i32", x.shape);
  const before = apply(y.op, [x], { axis, exclusive: true, reverse: false });
  const better = apply(y.op === "cummax" ? "greater" : "less", [x, before]);
  const nan = apply("and", [apply("notEqual", [x, x]), apply("equal", [before, before])]);
  const first = apply("equal", [at, zero]);
  const changes = apply("or", [apply("or", [better, nan]), first]);
  const kept = apply("select", [changes, at, zero]);
  const place = apply("cummax", [kept], { axis, exclusive, reverse: false });
  const places = range(x.rank).map((a) => (a === axis ? place : iota(a, x.shape)));
  const attrs = { axes: range(x.rank), mode: "add" };
  return apply("scatter", [filled(0, g.dtype, x.shape), g, ...places], attrs);
});

cumulative("cumsum", "sum", (g, y) => {
  const attrs = scanAttrs(y);
  return [apply("cumsum", [g], { ...attrs, reverse: !attrs.reverse })];
});
cumulative("cumprod", "prod", productVjp);
cumulative("cummax", "max", extremeVjp);
cumulative("cummin", "min", extremeVjp);

const cumulativeOptions: OptionNames<CumulativeOptions> = { exclusive: 1, reverse: 1 };

const along =
  (op: string) =>
  (x: Tensor, axis: number, options: CumulativeOptions = {}): Tensor => {
    checkTensor(op, x);
    const { exclusive = false, reverse = false } = checkOptions(op, options, cumulativeOptions);
    const a = checkAxis(op, axis, x.rank);
    const counted = op === "cumsum" || op === "cumprod";
    const dtype = counted ? fullDtype(sumDtype(x.dtype)) : x.dtype;
    return apply(op, [inDtype(x, dtype)], { axis: a, exclusive, reverse });
  };

/**
 * Sums along `axis` up to each element: y[i] = Σ_{j≤i} x[j]; `exclusive`: j < i, `reverse`: j ≥ i.
 * Booleans, i8 and u8 count as i32.
 */
export const cumsum = along("cumsum");
/**
 * Products along `axis` up to each element: y[i] = Π_{j≤i} x[j]. Booleans, i8 and u8 count as i32. The gradient is exact at zeros and
 * takes n² multiplications for n elements.
 */
export const cumprod = along("cumprod");
/**
 * The largest along `axis` up to each element: y[i] = max_{j≤i} x[j]; NaN from the first NaN on. The
 * gradient goes to the first of equals.
 */
export const cummax = along("cummax");
/**
 * The smallest along `axis` up to each element: y[i] = min_{j≤i} x[j]; NaN from the first NaN on.
 * The gradient goes to the first of equals.
 */
export const cummin = along("cummin");
