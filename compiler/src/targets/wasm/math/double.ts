/**
 * The functions on one f64. What the host's `Math` has is called; the rest repeats the reference of the op's record
 * step for step, so that the bits are the same.
 */
import type { Bind, MathText } from "./vector.ts";

const host =
  (name: string): MathText =>
  (x) =>
    `(call $Math.${name} ${x.join(" ")})`;
const instruction =
  (name: string): MathText =>
  ([x]) =>
    `(${name} ${x})`;

const number = (v: number): string => `(f64.const ${v})`;
const infinity = "(f64.const inf)";
const nan = "(f64.const nan)";
const one = number(1);
const add = (a: string, b: string): string => `(f64.add ${a} ${b})`;
const sub = (a: string, b: string): string => `(f64.sub ${a} ${b})`;
const mul = (a: string, b: string): string => `(f64.mul ${a} ${b})`;
const over = (a: string, b: string): string => `(f64.div ${a} ${b})`;
const magnitude = (x: string): string => `(f64.abs ${x})`;
const copySign = (a: string, x: string): string => `(f64.copysign ${a} ${x})`;
/** a where the condition holds, else b. */
const choose = (a: string, b: string, condition: string): string =>
  `(select ${a} ${b} ${condition})`;
const decide = (condition: string, a: string, b: string): string =>
  `(if (result f64) ${condition} (then ${a}) (else ${b}))`;

/** The name of a local that `bind` returned the value of: what loops assign to. */
const nameOf = (local: string): string => local.slice("(local.get ".length, -1);
/** A local that only loops assign to; a constant alone would get none. */
const variable = (bind: Bind): string => bind("f64", magnitude(number(0)));
const assign = (local: string, value: string): string => `(local.set ${nameOf(local)} ${value})`;
/** Statements, then the value. */
const after = (statements: readonly string[], value: string): string =>
  `(block (result f64) ${statements.join(" ")} ${value})`;
/** The statements again and again while the condition, asked after them, holds. The label is `local`'s name. */
const repeat = (local: string, statements: readonly string[], condition: string): string =>
  `(loop ${nameOf(local)} ${statements.join(" ")} (br_if ${nameOf(local)} ${condition}))`;

/** Long division in base 2: d·2ᵏ is taken from r as often as it fits, from the greatest k down; every step is exact. */
const rem: MathText = ([x, y], bind) => {
  const d = bind("f64", magnitude(y!));
  const size = bind("f64", magnitude(x!));
  const [r, t, double] = [variable(bind), variable(bind), variable(bind)];
  const start = [assign(r, size), assign(double, d)];
  const grow = [assign(t, double), assign(double, add(t, t))];
  const fits = choose(t, number(0), `(f64.ge ${r} ${t})`);
  const shrink = [assign(r, sub(r, fits)), assign(t, mul(t, number(0.5)))];
  const divided = after(
    [
      ...start,
      repeat(double, grow, `(f64.le ${double} ${r})`),
      repeat(t, shrink, `(f64.ge ${t} ${d})`),
    ],
    copySign(r, x!),
  );
  // Infinite x and zero y have no remainder, and NaN none either; with a lesser x nothing is to be done.
  const none = `(i32.or (f64.eq ${size} ${infinity}) (f64.eq ${d} ${number(0)}))`;
  const known = decide(none, nan, choose(x!, y!, `(f64.eq ${y} ${y})`));
  return decide(`(i32.or ${none} (i32.eqz (f64.ge ${size} ${d})))`, known, divided);
};

/** 1 − erfc a for 3 ≤ a < 6: the continued fraction 7.1.14 of Abramowitz & Stegun, from its 60th level up. */
function erfTail(a: string, x: string, bind: Bind): string {
  const [k, tail] = [variable(bind), variable(bind)];
  const step = [assign(tail, add(a, over(over(k, number(2)), tail))), assign(k, sub(k, one))];
  const power = `(call $Math.exp ${mul(`(f64.neg ${a})`, a)})`;
  const complement = over(over(power, number(Math.sqrt(Math.PI))), tail);
  const loop = repeat(k, step, `(f64.ge ${k} ${one})`);
  return after([assign(k, number(60)), assign(tail, a), loop], copySign(sub(one, complement), x));
}

/** The series 7.1.6, whose terms have one sign, below 3. */
function erfSeries(x: string, bind: Bind): string {
  const [term, sum, n] = [variable(bind), variable(bind), variable(bind)];
  const start = [assign(term, x), assign(sum, x), assign(n, one)];
  const factor = over(mul(mul(number(2), x), x), add(mul(number(2), n), one));
  const step = [
    assign(term, mul(term, factor)),
    assign(sum, add(sum, term)),
    assign(n, add(n, one)),
  ];
  const more = `(f64.gt ${magnitude(term)} ${mul(magnitude(sum), number(1e-17))})`;
  const power = `(call $Math.exp ${mul(`(f64.neg ${x})`, x)})`;
  const value = mul(mul(number(2 / Math.sqrt(Math.PI)), power), sum);
  return after([...start, repeat(n, step, more)], value);
}

const erf: MathText = ([x], bind) => {
  const a = bind("f64", magnitude(x!));
  const far = decide(`(f64.ge ${a} ${number(6)})`, copySign(one, x!), erfTail(a, x!, bind));
  const near = decide(`(f64.lt ${a} ${number(3)})`, erfSeries(x!, bind), far);
  return decide(`(f64.gt ${a} ${number(0)})`, near, x!);
};

const called =
  "exp expm1 log log1p log2 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2".split(
    " ",
  );

export const double: Readonly<Record<string, MathText>> = {
  ...Object.fromEntries(called.map((name) => [name, host(name)])),
  exp2: ([x]) => `(call $Math.pow ${number(2)} ${x})`,
  sqrt: instruction("f64.sqrt"),
  floor: instruction("f64.floor"),
  ceil: instruction("f64.ceil"),
  trunc: instruction("f64.trunc"),
  round: instruction("f64.nearest"),
  rsqrt: ([x]) => over(one, `(f64.sqrt ${x})`),
  reciprocal: ([x]) => over(one, x!),
  sigmoid: ([x]) => over(one, add(one, `(call $Math.exp (f64.neg ${x}))`)),
  // Zeros and NaN stay what they are.
  sign: ([x]) => choose(copySign(one, x!), x!, `(f64.gt ${magnitude(x!)} ${number(0)})`),
  pow: ([x, y]) => choose(one, `(call $Math.pow ${x} ${y})`, `(f64.eq ${x} ${one})`),
  rem,
  erf,
};
