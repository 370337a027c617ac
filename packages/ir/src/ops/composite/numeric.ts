/**
 * Elementwise names of PyTorch and NumPy that are a few ops each: tests of closeness, floored
 * division, angles, bounds.
 */
import { isFloat, maxOf, minOf } from "../../dtype.ts";
import { checkOptions, type OptionNames } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { broadcastOperands, type Operand } from "../broadcast.ts";
import { full, zeros } from "../create.ts";
import { maximum, minimum, rem } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { all } from "../reduce.ts";
import { scan } from "../scan.ts";
import { logAddExp } from "./arithmetic.ts";
import { inFloat32, roundedOnce } from "./in-float32.ts";
import { movedim } from "./rearrange.ts";

/**
 * True at ∞ and −∞; false of all integers. `torch.isinf`.
 *
 * @param x The tensor.
 * @example
 *   isInf(tensor([1, NaN, -Infinity])) // [false, false, true]
 */
export function isInf(x: Tensor): Tensor {
  checkTensor("isInf", x);
  return isFloat(x.dtype) ? x.abs().equal(Number.POSITIVE_INFINITY) : zeros(x.shape, "bool");
}

export interface CloseOptions {
  /** Times |y|; default 1e-5. */
  readonly relative?: number;
  /** Default 1e-8. */
  readonly absolute?: number;
  /** NaN is close to NaN; default false. */
  readonly equalNan?: boolean;
}

const closeOptions: OptionNames<CloseOptions> = { relative: 1, absolute: 1, equalNan: 1 };

/**
 * |x − y| ≤ absolute + relative·|y|, or equal, infinities too. Operands broadcast → bool.
 * `torch.isclose`, `numpy.isclose`.
 *
 * @param x A tensor or a number.
 * @param y A tensor or a number; it broadcasts against x.
 * @example
 *   isClose(tensor([0.3, 0.4]), 0.1 + 0.2) // [true, false]
 */
export function isClose(x: Operand, y: Operand, options: CloseOptions = {}): Tensor {
  const { relative = 1e-5, absolute = 1e-8, equalNan = false } = checkOptions("isClose", options, closeOptions); // biome-ignore format: one line
  const [a, b] = broadcastOperands("isClose", [x, y]) as [Tensor, Tensor];
  if (!isFloat(a.dtype) && a.dtype !== "bool") return isClose(convert(a, "f32"), convert(b, "f32"), options); // biome-ignore format: one line
  if (a.dtype === "bool") return a.equal(b);
  const within = (u: Tensor, v: Tensor) =>
    u.sub(v).abs().lessEqual(v.abs().mul(relative).add(absolute)).and(v.isFinite());
  const close = a.dtype === "f64" || a.dtype === "f32" ? within(a, b) : within(convert(a, "f32"), convert(b, "f32")); // biome-ignore format: one line
  const equal = a.equal(b).or(close);
  return equalNan ? equal.or(a.isNan().and(b.isNan())) : equal;
}

/**
 * Whether all elements are close: bool[]. The options are those of `isClose`. `torch.allclose`.
 *
 * @param x A tensor or a number.
 * @param y A tensor or a number; it broadcasts against x.
 * @example
 *   allClose(tensor([1, 2]), tensor([1, 2 + 1e-7])) // true
 */
export const allClose = (x: Operand, y: Operand, options: CloseOptions = {}): Tensor =>
  all(isClose(x, y, checkOptions("allClose", options, closeOptions)));

export interface NanToNumOptions {
  /** For NaN; default 0. */
  readonly nan?: number;
  /** For ∞; the greatest finite number of the dtype by default. */
  readonly posInf?: number;
  /** For −∞; the least finite number of the dtype by default. */
  readonly negInf?: number;
}

const nanToNumOptions: OptionNames<NanToNumOptions> = { nan: 1, posInf: 1, negInf: 1 };

/**
 * x with finite numbers for NaN and infinities; integers stay. No gradient flows where one was
 * replaced. `torch.nan_to_num`.
 *
 * @param x The tensor.
 * @example
 *   nanToNum(tensor([NaN, Infinity]), { posInf: 1 }) // [0, 1]
 */
export function nanToNum(x: Tensor, options: NanToNumOptions = {}): Tensor {
  checkTensor("nanToNum", x);
  const given = checkOptions("nanToNum", options, nanToNumOptions);
  if (!isFloat(x.dtype)) return x.mul(1);
  const { nan = 0, posInf = maxOf(x.dtype), negInf = minOf(x.dtype) } = given;
  const low = select(x.equal(Number.NEGATIVE_INFINITY), negInf, x);
  return select(x.isNan(), nan, select(x.equal(Number.POSITIVE_INFINITY), posInf, low));
}

/**
 * The remainder with the sign of y: x − y·⌊x/y⌋; `rem` has that of x. Operands broadcast; dtypes
 * promote. ∂x is 1, ∂y −⌊x/y⌋. `torch.remainder`, `numpy.mod`, % of Python.
 *
 * @param x A tensor or a number.
 * @example
 *   remainder(tensor([-1]), 3) // [2]
 */
export function remainder(x: Operand, y: Operand): Tensor {
  const [a, b] = broadcastOperands("remainder", [x, y]) as [Tensor, Tensor];
  return roundedOnce([a, b], (u, v) => {
    const r = rem(u, v);
    return select(r.notEqual(0).and(r.less(0).notEqual(v.less(0))), r.add(v), r);
  });
}

/**
 * ⌊x/y⌋, of integers too, where `div` drops the fraction. Operands broadcast; dtypes promote. No
 * gradient flows. `torch.floor_divide`, // of Python. Floats are divided less their remainder, so
 * that 1 over 0.1 is what it is there: 9.
 *
 * @param x A tensor or a number.
 * @param y A tensor or a number; it broadcasts against x.
 * @example
 *   floorDivide(tensor([-7], { dtype: "i32" }), 2) // [-4]
 */
export function floorDivide(x: Operand, y: Operand): Tensor {
  const [a, b] = broadcastOperands("floorDivide", [x, y]) as [Tensor, Tensor];
  return roundedOnce([a, b], (u, v) => {
    const r = rem(u, v);
    const crossed = r.notEqual(0).and(r.less(0).notEqual(v.less(0)));
    const whole = u.sub(r).div(v);
    const floored = select(crossed, whole.sub(1), whole);
    if (!isFloat(u.dtype)) return floored;
    const by0 = v.equal(0);
    return select(by0, u.div(v), floored.round()).stopGradient();
  });
}

/**
 * √(x² + y²) without overflow: scaled by the greater. The gradient is x/√(x² + y²), and 0 where
 * both are 0. `torch.hypot`.
 *
 * @param x A tensor or a number.
 * @param y A tensor or a number; it broadcasts against x.
 * @example
 *   hypot(tensor([3]), 4) // [5]
 */
export function hypot(x: Operand, y: Operand): Tensor {
  const [a, b] = broadcastOperands("hypot", [x, y]) as [Tensor, Tensor];
  const [own, other] = isFloat(a.dtype) ? [a, b] : [convert(a, "f32"), convert(b, "f32")];
  return inFloat32([own, other], (u, v) => {
    const most = maximum(u.abs(), v.abs()).stopGradient();
    const scale = select(most.greater(0).and(most.isFinite()), most, 1);
    const [p, q] = [u.div(scale), v.div(scale)];
    const squares = p.mul(p).add(q.mul(q));
    const zero = squares.equal(0);
    return select(zero, 0, select(zero, 1, squares).sqrt().mul(scale));
  });
}

const scaledBy = (name: string, factor: number) => (x: Tensor): Tensor => {
  checkTensor(name, x);
  return roundedOnce([x], (v) => (isFloat(v.dtype) ? v : convert(v, "f32")).mul(factor));
}; // biome-ignore format: short

/**
 * x·π/180. `torch.deg2rad`.
 *
 * @param x The tensor.
 * @example
 *   deg2rad(tensor([90, 180])) // [π/2, π]
 */
export const deg2rad: (x: Tensor) => Tensor = /* @__PURE__ */ scaledBy("deg2rad", Math.PI / 180);
/**
 * x·180/π. `torch.rad2deg`.
 *
 * @param x The tensor.
 * @example
 *   rad2deg(tensor([Math.PI, 0])) // [180, 0]
 */
export const rad2deg: (x: Tensor) => Tensor = /* @__PURE__ */ scaledBy("rad2deg", 180 / Math.PI);

/**
 * max(x, low); the gradient is 1 at the bound. `torch.clamp_min`.
 *
 * @param x A tensor or a number.
 * @param low The bound, broadcast.
 * @example
 *   clampMin(tensor([-2, 0.5]), 0) // [0, 0.5]
 */
export const clampMin = (x: Operand, low: Operand): Tensor => maximum(x, low);
/**
 * min(x, high); the gradient is 1 at the bound. `torch.clamp_max`.
 *
 * @param x A tensor or a number.
 * @param high The bound, broadcast.
 * @example
 *   clampMax(tensor([0.5, 3]), 1) // [0.5, 1]
 */
export const clampMax = (x: Operand, high: Operand): Tensor => minimum(x, high);

/**
 * ln Σ_{j≤i} e^xⱼ along an axis, one element after the other, so that none overflows or vanishes
 * beside a later one.
 *
 * x[…] → the same; integers become f32, halves are f32 on the way. Throws ShapeError for an axis
 * that there is not. `torch.logcumsumexp`.
 *
 * @param axis The axis.
 * @example
 *   logCumSumExp(tensor([0, 0]), 0) // [0, ln 2]
 */
export function logCumSumExp(x: Tensor, axis: number): Tensor {
  checkTensor("logCumSumExp", x);
  const a = checkAxis("logCumSumExp", axis, x.rank);
  return inFloat32([isFloat(x.dtype) ? x : convert(x, "f32")], (wide) => {
    const rows = movedim(wide, a, 0);
    const start = full(rows.shape.slice(1), Number.NEGATIVE_INFINITY, rows.dtype);
    const { ys } = scan([start], [rows], ([before], [row]) => {
      const sum = logAddExp(before!, row!);
      return { carry: [sum], ys: [sum] };
    });
    return movedim(ys[0]!, 0, a);
  });
}
