/**
 * Cumulative sums, products and extremes along one axis (ONNX CumSum). One record for each way to combine; `exclusive`
 * leaves an element out of its own result, `reverse` runs from the end of the axis. Several axes are several ops.
 */
import type { CumulativeOp } from "../attributes.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import { type Attrs, attrKey, type Tensor } from "../node.ts";
import { defineOp, type OpRecord, type Reducer } from "../op.ts";
import { totalDtype } from "../precision.ts";
import { checkAxis } from "../shape.ts";
import { apply, checkCount, checkTensor, inDtype } from "./apply.ts";
import { extremeVjp, productVjp } from "./cumulative-gradient.ts";
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
    const dtype = counted ? totalDtype(x.dtype) : x.dtype;
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
