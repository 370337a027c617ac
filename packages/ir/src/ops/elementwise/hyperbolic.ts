/** Hyperbolic functions and their inverses. */
import { type Unary, unary } from "./define.ts";
import { unlessZero } from "./singular.ts";

/** (eˣ − e⁻ˣ)/2. */
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

/** (eˣ + e⁻ˣ)/2. */
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

/** (eˣ − e⁻ˣ)/(eˣ + e⁻ˣ). */
export const tanh: Unary = unary("tanh", {
  on: "float",
  eval: Math.tanh,
  vjp: (g, y) => [g.mul(y.mul(y).neg().add(1))],
  domain: [-4, 4],
  smooth: true,
  ulp: 64,
  costly: true,
});

/** ln(x + √(x² + 1)). */
export const asinh: Unary = unary("asinh", {
  on: "float",
  eval: Math.asinh,
  vjp: (g, _y, x) => [g.mul(x!.mul(x!).add(1).rsqrt())],
  domain: [-4, 4],
  smooth: true,
  ulp: 128,
  costly: true,
});

/** ln(x + √(x² − 1)) for x ≥ 1. */
export const acosh: Unary = unary("acosh", {
  on: "float",
  eval: Math.acosh,
  vjp: (g, _y, x) => [g.mul(unlessZero(g, x!.sub(1).mul(x!.add(1))).rsqrt())],
  domain: [1.2, 8],
  smooth: true,
  ulp: 128,
  costly: true,
});

/** ½·ln((1 + x)/(1 − x)) for |x| < 1. */
export const atanh: Unary = unary("atanh", {
  on: "float",
  eval: Math.atanh,
  vjp: (g, _y, x) => [g.div(unlessZero(g, x!.neg().add(1).mul(x!.add(1))))],
  domain: [-0.9, 0.9],
  smooth: true,
  ulp: 128,
  costly: true,
});
