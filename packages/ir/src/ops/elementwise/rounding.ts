/** Signs and rounding: exact on every target, on integers and floats. */
import { roundHalfEven } from "../../special.ts";
import { zerosLike } from "../create.ts";
import { type Unary, unary } from "./define.ts";

/**
 * −x. `torch.neg`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   neg(tensor([1, -2])) // [−1, 2]
 */
export const neg: Unary = unary("neg", {
  on: "number",
  eval: (x) => -x,
  spell: (x) => `(-(${x}))`,
  vjp: (g) => [g.neg()],
  domain: [-10, 10],
  smooth: true,
  ulp: 0,
});

/**
 * |x|. The gradient at 0 is 0. `torch.abs`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   abs(tensor([-2, 0, 3])) // [2, 0, 3]
 */
export const abs: Unary = unary("abs", {
  on: "number",
  eval: Math.abs,
  vjp: (g, _y, x) => [g.mul(x!.sign())],
  domain: [0.5, 10],
  smooth: true,
  ulp: 0,
});

/**
 * −1, 0 or 1; ±0 and NaN are kept. Its gradient is 0. `torch.sign`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   sign(tensor([-3, 0, 2])) // [−1, 0, 1]
 */
export const sign: Unary = unary("sign", {
  on: "number",
  eval: Math.sign,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * ⌊x⌋. Its gradient is 0. `torch.floor`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   floor(tensor([-1.5, 0.2, 2])) // [−2, 0, 2]
 */
export const floor: Unary = unary("floor", {
  on: "number",
  eval: Math.floor,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * ⌈x⌉. Its gradient is 0. `torch.ceil`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   ceil(tensor([-1.5, 0.2, 2])) // [−1, 1, 2]
 */
export const ceil: Unary = unary("ceil", {
  on: "number",
  eval: Math.ceil,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * The nearest integer, a half to the even one. Its gradient is 0. `torch.round`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   round(tensor([0.5, 1.5, 2.4])) // [0, 2, 2]; a half to the even one
 */
export const round: Unary = unary("round", {
  on: "number",
  eval: roundHalfEven,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * x without its fraction. Its gradient is 0. `torch.trunc`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   trunc(tensor([-1.5, 1.7])) // [−1, 1]
 */
export const trunc: Unary = unary("trunc", {
  on: "number",
  eval: Math.trunc,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});
