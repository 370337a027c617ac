/**
 * Elementwise ops of one operand. Integers given to an op on floats become f32. Text is C-family; targets
 * override what they spell otherwise.
 */
import { erfOf, roundHalfEven } from "../../special.ts";
import { zerosLike } from "../create.ts";
import { type Unary, unary } from "./define.ts";
import { erfSlope, sigmoidSlope, tanhSlope } from "./half-slopes.ts";
import { unlessZero } from "./singular.ts";

/** −x. */
export const neg: Unary = unary("neg", {
  on: "number",
  eval: (x) => -x,
  spell: (x) => `(-(${x}))`,
  vjp: (g) => [g.neg()],
  domain: [-10, 10],
  smooth: true,
  ulp: 0,
});

/** |x|. The gradient at 0 is 0. */
export const abs: Unary = unary("abs", {
  on: "number",
  eval: Math.abs,
  vjp: (g, _y, x) => [g.mul(x!.sign())],
  domain: [0.5, 10],
  smooth: true,
  ulp: 0,
});

/** −1, 0 or 1; ±0 and NaN are kept. Its gradient is 0. */
export const sign: Unary = unary("sign", {
  on: "number",
  eval: Math.sign,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/** ⌊x⌋. Its gradient is 0. */
export const floor: Unary = unary("floor", {
  on: "number",
  eval: Math.floor,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/** ⌈x⌉. Its gradient is 0. */
export const ceil: Unary = unary("ceil", {
  on: "number",
  eval: Math.ceil,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/** The nearest integer, a half to the even one. Its gradient is 0. */
export const round: Unary = unary("round", {
  on: "number",
  eval: roundHalfEven,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

/** x without its fraction. Its gradient is 0. */
export const trunc: Unary = unary("trunc", {
  on: "number",
  eval: Math.trunc,
  vjp: (g) => [zerosLike(g)],
  domain: [-10, 10],
  ulp: 0,
});

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
  // y + 1 would cancel far below 0.
  vjp: (g, _y, x) => [g.mul(exp(x))],
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

/** √x. */
export const sqrt: Unary = unary("sqrt", {
  on: "float",
  eval: Math.sqrt,
  vjp: (g, y) => [g.mul(0.5).div(unlessZero(g, y))],
  domain: [0.05, 20],
  smooth: true,
  ulp: 2,
});

/** 1/√x. */
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

/** 1/x. */
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

/** sin x, in radians. */
export const sin: Unary = unary("sin", {
  on: "float",
  eval: Math.sin,
  vjp: (g, _y, x) => [g.mul(x!.cos())],
  domain: [-3, 3],
  smooth: true,
  ulp: 64,
  costly: true,
});

/** cos x, in radians. */
export const cos: Unary = unary("cos", {
  on: "float",
  eval: Math.cos,
  vjp: (g, _y, x) => [g.neg().mul(x!.sin())],
  domain: [-3, 3],
  smooth: true,
  ulp: 64,
  costly: true,
});

/** tan x, in radians. */
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

/** The angle in [−π/2, π/2] whose sine is x. d/dx = 1/√(1 − x²). */
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

/** The angle in [0, π] whose cosine is x. d/dx = −1/√(1 − x²). */
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

/** The angle in (−π/2, π/2) whose tangent is x. */
export const atan: Unary = unary("atan", {
  on: "float",
  eval: Math.atan,
  vjp: (g, _y, x) => [g.div(x!.mul(x!).add(1))],
  domain: [-5, 5],
  smooth: true,
  ulp: 128,
  costly: true,
});

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

/** (eˣ − e⁻ˣ)/(eˣ + e⁻ˣ). */
export const tanh: Unary = unary("tanh", {
  on: "float",
  eval: Math.tanh,
  vjp: tanhSlope,
  domain: [-4, 4],
  smooth: true,
  ulp: 64,
  costly: true,
});

/** 1/(1 + e⁻ˣ). */
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

/** 2/√π · ∫₀ˣ e^(−t²) dt. */
export const erf: Unary = unary("erf", {
  on: "float",
  eval: erfOf,
  vjp: erfSlope,
  domain: [-3, 3],
  smooth: true,
  ulp: 64,
  costly: true,
});

/** True where x is NaN. */
export const isNan: Unary = unary("isNan", {
  on: "number",
  test: true,
  eval: (x) => Number(Number.isNaN(x)),
  spell: (x) => `((${x}) != (${x}))`,
  vjp: () => [undefined],
  domain: [-10, 10],
  ulp: 0,
});

/** True where x is neither NaN nor infinite. */
// biome-ignore lint/suspicious/noShadowRestrictedNames: the op has this name, and it is not used here.
export const isFinite: Unary = unary("isFinite", {
  on: "number",
  test: true,
  eval: (x) => Number(Number.isFinite(x)),
  spell: (x) => `((${x}) - (${x}) == 0)`,
  vjp: () => [undefined],
  domain: [-10, 10],
  ulp: 0,
});

/** True where x is false. Integers are complemented by `bitwiseNot`. */
export const not: Unary = unary("not", {
  on: "bool",
  eval: (x) => (x ? 0 : 1),
  spell: (x) => `(!(${x}))`,
  vjp: () => [undefined],
  domain: [0, 1],
  ulp: 0,
});

/** Every bit flipped. */
export const bitwiseNot: Unary = unary("bitwiseNot", {
  on: "integer",
  eval: (x) => ~x,
  spell: (x) => `(~(${x}))`,
  vjp: () => [undefined],
  domain: [-100, 100],
  ulp: 0,
});

/** x, through which no gradient flows. */
export const stopGradient: Unary = unary("stopGradient", {
  on: "any",
  eval: (x) => x,
  spell: (x) => `(${x})`,
  vjp: () => [undefined],
  domain: [-10, 10],
  ulp: 0,
});
