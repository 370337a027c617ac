/** Exponentials, logarithms and the functions made of them. Floats only; a target's own function may be some ulps off. */
import { erfOf } from "../../special.ts";
import { type Unary, unary } from "./define.ts";
import { unlessZero } from "./singular.ts";

/** eˣ. */
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

/** 2ˣ. d/dx = 2ˣ·ln 2. */
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

/** eˣ − 1, accurate near 0. */
export const expm1: Unary = unary("expm1", {
  on: "float",
  full: true,
  eval: Math.expm1,
  vjp: (g, y) => [g.mul(y.add(1))],
  domain: [-10, 10],
  smooth: true,
  ulp: 16,
  costly: true,
});

/** ln x; NaN below 0, −∞ at 0. */
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

/** log₂ x; NaN below 0, −∞ at 0. d/dx = 1/(x·ln 2). */
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

/** ln(1 + x), accurate near 0. */
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

/** 1/(1 + e⁻ˣ). */
export const sigmoid: Unary = unary("sigmoid", {
  on: "float",
  eval: (x) => 1 / (1 + Math.exp(-x)),
  spell: (x) => `(1 / (1 + exp(-(${x}))))`,
  vjp: (g, y) => [g.mul(y).mul(y.neg().add(1))],
  domain: [-8, 8],
  smooth: true,
  ulp: 32,
  costly: true,
});

const erfSlope = 2 / Math.sqrt(Math.PI);

/** 2/√π · ∫₀ˣ e^(−t²) dt. */
export const erf: Unary = unary("erf", {
  on: "float",
  eval: erfOf,
  vjp: (g, _y, x) => [g.mul(x!.mul(x!).neg().exp().mul(erfSlope))],
  domain: [-3, 3],
  smooth: true,
  ulp: 64,
  costly: true,
});
