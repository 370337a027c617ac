/** Tests, complements and `stopGradient`: ops through which no gradient flows. */
import { type Unary, unary } from "./define.ts";

/**
 * True where x is NaN. `torch.isnan`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   isNan(tensor([1, NaN])) // [false, true]
 */
export const isNan: Unary = unary("isNan", {
  on: "number",
  test: true,
  eval: (x) => Number(Number.isNaN(x)),
  spell: (x) => `((${x}) != (${x}))`,
  vjp: () => [undefined],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * True where x is neither NaN nor infinite. `torch.isfinite`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @example
 *   isFinite(tensor([1, NaN, Infinity])) // [true, false, false]
 */
// biome-ignore lint/suspicious/noShadowRestrictedNames: the op has this name, unused here.
export const isFinite: Unary = unary("isFinite", {
  on: "number",
  test: true,
  eval: (x) => Number(Number.isFinite(x)),
  spell: (x) => `((${x}) - (${x}) == 0)`,
  vjp: () => [undefined],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * True where x is false. Integers are complemented by `bitwiseNot`. `torch.logical_not`.
 *
 * @param x bool. Any shape.
 * @example
 *   not(tensor([true, false])) // [false, true]
 */
export const not: Unary = unary("not", {
  on: "bool",
  eval: (x) => (x ? 0 : 1),
  spell: (x) => `(!(${x}))`,
  vjp: () => [undefined],
  domain: [0, 1],
  ulp: 0,
});

/**
 * Every bit flipped. `torch.bitwise_not`.
 *
 * @param x Integers. Any shape.
 * @example
 *   bitwiseNot(tensor([0, 5], { dtype: "i32" })) // [−1, −6]
 */
export const bitwiseNot: Unary = unary("bitwiseNot", {
  on: "integer",
  eval: (x) => ~x,
  spell: (x) => `(~(${x}))`,
  vjp: () => [undefined],
  domain: [-100, 100],
  ulp: 0,
});

/**
 * x, through which no gradient flows. `torch.Tensor.detach`.
 *
 * @param x Any dtype. Any shape.
 * @example
 *   const x = param([2]);
 *   const [dx] = grad(x.mul(stopGradient(x)).sum(), [x]);
 *   dx // [2]; not 2·x = 4
 */
export const stopGradient: Unary = unary("stopGradient", {
  on: "any",
  eval: (x) => x,
  spell: (x) => `(${x})`,
  vjp: () => [undefined],
  domain: [-10, 10],
  ulp: 0,
});
