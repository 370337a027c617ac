/**
 * Functions of angles in radians, and their inverses. Sampled where f32 loses no digits to the
 * range reduction.
 */
import { type Unary, unary } from "./define.ts";
import { unlessZero } from "./singular.ts";

/**
 * sin x, in radians. `torch.sin`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   sin(tensor([0, Math.PI / 2])) // [0, 1]
 */
export const sin: Unary = unary("sin", {
  on: "float",
  eval: Math.sin,
  vjp: (g, _y, x) => [g.mul(x!.cos())],
  domain: [-3, 3],
  smooth: true,
  ulp: 64,
  costly: true,
});

/**
 * cos x, in radians. `torch.cos`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   cos(tensor([0, Math.PI])) // [1, −1]
 */
export const cos: Unary = unary("cos", {
  on: "float",
  eval: Math.cos,
  vjp: (g, _y, x) => [g.neg().mul(x!.sin())],
  domain: [-3, 3],
  smooth: true,
  ulp: 64,
  costly: true,
});

/**
 * tan x, in radians. `torch.tan`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   tan(tensor([0, Math.PI / 4])) // [0, 1]
 */
export const tan: Unary = unary("tan", {
  on: "float",
  full: true,
  eval: Math.tan,
  vjp: (g, y) => [g.mul(y.mul(y).add(1))],
  domain: [-1.2, 1.2],
  smooth: true,
  ulp: 128,
  costly: true,
});

/**
 * The angle in [−π/2, π/2] whose sine is x. d/dx = 1/√(1 − x²). `torch.asin`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   asin(tensor([-1, 0, 1])) // [−π/2, 0, π/2]
 */
export const asin: Unary = unary("asin", {
  on: "float",
  full: true,
  eval: Math.asin,
  vjp: (g, _y, x) => [g.mul(unlessZero(g, x!.neg().add(1).mul(x!.add(1))).rsqrt())],
  domain: [-0.9, 0.9],
  smooth: true,
  ulp: 128,
  costly: true,
});

/**
 * The angle in [0, π] whose cosine is x. d/dx = −1/√(1 − x²). `torch.acos`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   acos(tensor([1, 0, -1])) // [0, π/2, π]
 */
export const acos: Unary = unary("acos", {
  on: "float",
  full: true,
  eval: Math.acos,
  vjp: (g, _y, x) => [g.neg().mul(unlessZero(g, x!.neg().add(1).mul(x!.add(1))).rsqrt())],
  domain: [-0.9, 0.9],
  smooth: true,
  ulp: 128,
  costly: true,
});

/**
 * The angle in (−π/2, π/2) whose tangent is x. `torch.atan`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   atan(tensor([-1, 0, 1])) // [−π/4, 0, π/4]
 */
export const atan: Unary = unary("atan", {
  on: "float",
  eval: Math.atan,
  vjp: (g, _y, x) => [g.div(x!.mul(x!).add(1))],
  domain: [-5, 5],
  smooth: true,
  ulp: 128,
  costly: true,
});
