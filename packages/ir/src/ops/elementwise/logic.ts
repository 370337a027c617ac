/** Tests, complements and `stopGradient`: ops through which no gradient flows. */
import { type Unary, unary } from "./define.ts";

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
