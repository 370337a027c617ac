/**
 * Exponentials, logarithms and the functions made of them. Floats only; a target's own function may
 * be some ulps off.
 */
import { erfOf } from "../../special.ts";
import { type Unary, unary } from "./define.ts";
import { erfSlope, sigmoidSlope } from "./half-slopes.ts";
import { unlessZero } from "./singular.ts";

/**
 * eˣ. `torch.exp`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   exp(tensor([0, 1])) // [1, 2.71828]
 */
export const exp: Unary = unary("exp", {
  on: "float",
  full: true,
  eval: Math.exp,
  vjp: (g, y) => [g.mul(y)],
  domain: [-10, 10],
  smooth: true,
  ulp: 16,
  costly: true,
});

/**
 * 2ˣ. d/dx = 2ˣ·ln 2. `torch.exp2`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   exp2(tensor([0, 3, -1])) // [1, 8, ½]
 */
export const exp2: Unary = unary("exp2", {
  on: "float",
  full: true,
  eval: (x) => 2 ** x,
  vjp: (g, y) => [g.mul(y).mul(Math.LN2)],
  domain: [-10, 10],
  smooth: true,
  ulp: 16,
  costly: true,
});

/**
 * eˣ − 1, accurate near 0. `torch.expm1`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   expm1(tensor([1e-6])).mul(1e6) // [1]; exp(x) − 1 would give 0.9537
 */
export const expm1: Unary = unary("expm1", {
  on: "float",
  full: true,
  eval: Math.expm1,
  // y + 1 would cancel far below 0.
  vjp: (g, _y, x) => [g.mul(exp(x))],
  domain: [-10, 10],
  smooth: true,
  ulp: 16,
  costly: true,
});

/**
 * ln x; NaN below 0, −∞ at 0. `torch.log`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   log(tensor([1, Math.E, 0])) // [0, 1, −∞]
 */
export const log: Unary = unary("log", {
  on: "float",
  full: true,
  eval: Math.log,
  vjp: (g, _y, x) => [g.div(unlessZero(g, x!))],
  domain: [0.05, 20],
  smooth: true,
  ulp: 16,
  costly: true,
});

/**
 * log₂ x; NaN below 0, −∞ at 0. d/dx = 1/(x·ln 2). `torch.log2`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   log2(tensor([1, 8, 0.5])) // [0, 3, −1]
 */
export const log2: Unary = unary("log2", {
  on: "float",
  full: true,
  eval: Math.log2,
  vjp: (g, _y, x) => [g.div(unlessZero(g, x!).mul(Math.LN2))],
  domain: [0.05, 20],
  smooth: true,
  ulp: 16,
  costly: true,
});

/**
 * ln(1 + x), accurate near 0. `torch.log1p`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   log1p(tensor([1e-6])).mul(1e6) // [1]; log(1 + x) would give 0.9537
 */
export const log1p: Unary = unary("log1p", {
  on: "float",
  full: true,
  eval: Math.log1p,
  vjp: (g, _y, x) => [g.div(unlessZero(g, x!.add(1)))],
  domain: [-0.9, 20],
  smooth: true,
  ulp: 16,
  costly: true,
});

/**
 * 1/(1 + e⁻ˣ). `torch.sigmoid`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   sigmoid(tensor([0, 2, -2])) // [½, 0.8808, 0.1192]
 */
export const sigmoid: Unary = unary("sigmoid", {
  on: "float",
  eval: (x) => 1 / (1 + Math.exp(-x)),
  spell: (x) => `(1 / (1 + exp(-(${x}))))`,
  vjp: sigmoidSlope,
  domain: [-8, 8],
  smooth: true,
  ulp: 32,
  costly: true,
});

/**
 * 2/√π · ∫₀ˣ e^(−t²) dt. `torch.erf`.
 *
 * @param x Floats; integers become f32. Any shape.
 * @example
 *   erf(tensor([0, 1])) // [0, 0.8427]
 */
export const erf: Unary = unary("erf", {
  on: "float",
  eval: erfOf,
  vjp: erfSlope,
  domain: [-3, 3],
  smooth: true,
  ulp: 64,
  costly: true,
});
