/** Hyperbolic functions and their inverses. */
import { type Unary, unary } from "./define.ts";
import { tanhSlope } from "./half-slopes.ts";
import { unlessZero } from "./singular.ts";

/**
 * (eˣ − e⁻ˣ)/2. `torch.sinh`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   sinh(tensor([0, 1])) // [0, 1.1752]
 */
export const sinh: Unary = unary("sinh", {
  on: "float",
  full: true,
  eval: Math.sinh,
  vjp: (g, _y, x) => [g.mul(x!.cosh())],
  domain: [-4, 4],
  smooth: true,
  ulp: 64,
  costly: true,
});

/**
 * (eˣ + e⁻ˣ)/2. `torch.cosh`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   cosh(tensor([0, 1])) // [1, 1.54308]
 */
export const cosh: Unary = unary("cosh", {
  on: "float",
  full: true,
  eval: Math.cosh,
  vjp: (g, _y, x) => [g.mul(x!.sinh())],
  domain: [-4, 4],
  smooth: true,
  ulp: 64,
  costly: true,
});

/**
 * (eˣ − e⁻ˣ)/(eˣ + e⁻ˣ). `torch.tanh`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   tanh(tensor([0, 1])) // [0, 0.76159]
 */
export const tanh: Unary = unary("tanh", {
  on: "float",
  eval: Math.tanh,
  vjp: tanhSlope,
  domain: [-4, 4],
  smooth: true,
  ulp: 64,
  costly: true,
});

/**
 * ln(x + √(x² + 1)). `torch.asinh`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   asinh(tensor([0, Math.sinh(2)])) // [0, 2]
 */
export const asinh: Unary = unary("asinh", {
  on: "float",
  eval: Math.asinh,
  vjp: (g, _y, x) => [g.mul(x!.mul(x!).add(1).rsqrt())],
  domain: [-4, 4],
  smooth: true,
  ulp: 128,
  costly: true,
});

/**
 * ln(x + √(x² − 1)) for x ≥ 1. `torch.acosh`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   acosh(tensor([1, Math.cosh(2)])) // [0, 2]
 */
export const acosh: Unary = unary("acosh", {
  on: "float",
  eval: Math.acosh,
  vjp: (g, _y, x) => [g.mul(unlessZero(g, x!.sub(1).mul(x!.add(1))).rsqrt())],
  domain: [1.2, 8],
  smooth: true,
  ulp: 128,
  costly: true,
});

/**
 * ½·ln((1 + x)/(1 − x)) for |x| < 1. `torch.atanh`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   atanh(tensor([0, Math.tanh(2)])) // [0, 2]
 */
export const atanh: Unary = unary("atanh", {
  on: "float",
  eval: Math.atanh,
  vjp: (g, _y, x) => [g.div(unlessZero(g, x!.neg().add(1).mul(x!.add(1))))],
  domain: [-0.9, 0.9],
  smooth: true,
  ulp: 128,
  costly: true,
});
