/** Powers with a fixed exponent: ½, −½ and −1. Other exponents are `pow`, of two operands. */
import { type Unary, unary } from "./define.ts";
import { unlessZero } from "./singular.ts";

/**
 * √x. `torch.sqrt`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   sqrt(tensor([0, 4, 2])) // [0, 2, √2]
 */
export const sqrt: Unary = unary("sqrt", {
  on: "float",
  eval: Math.sqrt,
  vjp: (g, y) => [g.mul(0.5).div(unlessZero(g, y))],
  domain: [0.05, 20],
  smooth: true,
  ulp: 2,
});

/**
 * 1/√x. `torch.rsqrt`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   rsqrt(tensor([4, 0.25])) // [½, 2]
 */
export const rsqrt: Unary = unary("rsqrt", {
  on: "float",
  full: true,
  eval: (x) => 1 / Math.sqrt(x),
  spell: (x) => `(1 / sqrt(${x}))`,
  vjp: (g, y, x) => [g.mul(-0.5).mul(y).div(x!)],
  domain: [0.05, 20],
  smooth: true,
  ulp: 4,
});

/**
 * 1/x. `torch.reciprocal`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   reciprocal(tensor([2, -4])) // [½, −¼]
 */
export const reciprocal: Unary = unary("reciprocal", {
  on: "float",
  full: true,
  eval: (x) => 1 / x,
  spell: (x) => `(1 / (${x}))`,
  vjp: (g, y) => [g.neg().mul(y.mul(y))],
  domain: [0.2, 10],
  smooth: true,
  ulp: 3,
});
