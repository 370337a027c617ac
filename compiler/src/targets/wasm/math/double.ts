/**
 * The functions on one f64. What the host's `Math` has is called; the rest repeats the reference of the op's record
 * step for step.
 */
import type { MathText } from "./vector.ts";

const host =
  (name: string): MathText =>
  (x) =>
    `(call $Math.${name} ${x.join(" ")})`;
const instruction =
  (name: string): MathText =>
  ([x]) =>
    `(${name} ${x})`;

const number = (v: number): string => `(f64.const ${v})`;
const one = number(1);
const over = (x: string): string => `(f64.div ${one} ${x})`;
/** a where the condition holds, else b. */
const choose = (a: string, b: string, condition: string): string =>
  `(select ${a} ${b} ${condition})`;

const called =
  "exp expm1 log log1p log2 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2".split(
    " ",
  );

export const double: Readonly<Record<string, MathText>> = {
  ...Object.fromEntries(called.map((name) => [name, host(name)])),
  exp2: ([x]) => host("pow")([number(2), x!], String),
  sqrt: instruction("f64.sqrt"),
  floor: instruction("f64.floor"),
  ceil: instruction("f64.ceil"),
  trunc: instruction("f64.trunc"),
  round: instruction("f64.nearest"),
  rsqrt: ([x]) => over(`(f64.sqrt ${x})`),
  reciprocal: ([x]) => over(x!),
  sigmoid: ([x]) => over(`(f64.add ${one} (call $Math.exp (f64.neg ${x})))`),
  // Zeros and NaN stay what they are.
  sign: ([x]) => choose(`(f64.copysign ${one} ${x})`, x!, `(f64.gt (f64.abs ${x}) ${number(0)})`),
  pow: ([x, y]) => choose(one, `(call $Math.pow ${x} ${y})`, `(f64.eq ${x} ${one})`),
};
