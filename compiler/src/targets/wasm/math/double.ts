/**
 * The functions on one f64. What the host's `Math` has is called; the rest repeats the reference of
 * the op's record step for step, so that the bits are the same.
 */
import {
  block,
  branchIf,
  type Code,
  call,
  choice,
  f64Const,
  localOf,
  loop,
  op,
  set,
} from "../code.ts";
import type { PlainName } from "../opcodes.ts";
import type { Bind, MathCode } from "./vector.ts";

const host =
  (name: string): MathCode =>
  (x) =>
    call(`Math.${name}`, x);
const instruction =
  (name: PlainName): MathCode =>
  ([x]) =>
    op(name, x!);

const number = (v: number): Code => f64Const(v);
const infinity = f64Const(Infinity);
const nan = f64Const(NaN);
const one = number(1);
const add = (a: Code, b: Code): Code => op("f64.add", a, b);
const sub = (a: Code, b: Code): Code => op("f64.sub", a, b);
const mul = (a: Code, b: Code): Code => op("f64.mul", a, b);
const over = (a: Code, b: Code): Code => op("f64.div", a, b);
const magnitude = (x: Code): Code => op("f64.abs", x);
const copySign = (a: Code, x: Code): Code => op("f64.copysign", a, x);
/** a where the condition holds, else b. */
const choose = (a: Code, b: Code, condition: Code): Code => op("select", a, b, condition);
const decide = (condition: Code, a: Code, b: Code): Code => choice("f64", condition, a, b);

/** A local that only loops assign to; a constant alone would get none. */
const variable = (bind: Bind): Code => bind("f64", magnitude(number(0)));
const assign = (local: Code, value: Code): Code => set(localOf(local), value);
/** Statements, then the value. */
const after = (statements: readonly Code[], value: Code): Code =>
  block("", "f64", [...statements, value]);
/**
 * The statements again and again while the condition, asked after them, holds. The label is
 * `local`'s name.
 */
const repeat = (local: Code, statements: readonly Code[], condition: Code): Code =>
  loop(localOf(local), [...statements, branchIf(localOf(local), condition)]);

/**
 * Long division in base 2: d·2ᵏ is taken from r as often as it fits, from the greatest k down;
 * every step is exact.
 */
const rem: MathCode = ([x, y], bind) => {
  const d = bind("f64", magnitude(y!));
  const size = bind("f64", magnitude(x!));
  const [r, t, double] = [variable(bind), variable(bind), variable(bind)];
  const start = [assign(r, size), assign(double, d)];
  const grow = [assign(t, double), assign(double, add(t, t))];
  const fits = choose(t, number(0), op("f64.ge", r, t));
  const shrink = [assign(r, sub(r, fits)), assign(t, mul(t, number(0.5)))];
  const divided = after(
    [
      ...start,
      repeat(double, grow, op("f64.le", double, r)),
      repeat(t, shrink, op("f64.ge", t, d)),
    ],
    copySign(r, x!),
  );
  // Infinite x and zero y have no remainder, and NaN none either; with a lesser x nothing is to be
  // done.
  const none = op("i32.or", op("f64.eq", size, infinity), op("f64.eq", d, number(0)));
  const known = decide(none, nan, choose(x!, y!, op("f64.eq", y!, y!)));
  return decide(op("i32.or", none, op("i32.eqz", op("f64.ge", size, d))), known, divided);
};

/**
 * 1 − erfc a for 3 ≤ a < 6: the continued fraction 7.1.14 of Abramowitz & Stegun, from its 60th
 * level up.
 */
function erfTail(a: Code, x: Code, bind: Bind): Code {
  const [k, tail] = [variable(bind), variable(bind)];
  const step = [assign(tail, add(a, over(over(k, number(2)), tail))), assign(k, sub(k, one))];
  const power = call("Math.exp", [mul(op("f64.neg", a), a)]);
  const complement = over(over(power, number(Math.sqrt(Math.PI))), tail);
  const levels = repeat(k, step, op("f64.ge", k, one));
  return after([assign(k, number(60)), assign(tail, a), levels], copySign(sub(one, complement), x));
}

/** The series 7.1.6, whose terms have one sign, below 3. */
function erfSeries(x: Code, bind: Bind): Code {
  const [term, sum, n] = [variable(bind), variable(bind), variable(bind)];
  const start = [assign(term, x), assign(sum, x), assign(n, one)];
  const factor = over(mul(mul(number(2), x), x), add(mul(number(2), n), one));
  const step = [
    assign(term, mul(term, factor)),
    assign(sum, add(sum, term)),
    assign(n, add(n, one)),
  ];
  const more = op("f64.gt", magnitude(term), mul(magnitude(sum), number(1e-17)));
  const power = call("Math.exp", [mul(op("f64.neg", x), x)]);
  const value = mul(mul(number(2 / Math.sqrt(Math.PI)), power), sum);
  return after([...start, repeat(n, step, more)], value);
}

const erf: MathCode = ([x], bind) => {
  const a = bind("f64", magnitude(x!));
  const far = decide(op("f64.ge", a, number(6)), copySign(one, x!), erfTail(a, x!, bind));
  const near = decide(op("f64.lt", a, number(3)), erfSeries(x!, bind), far);
  return decide(op("f64.gt", a, number(0)), near, x!);
};

const called =
  "exp expm1 log log1p log2 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2".split(
    " ",
  );

export const double: Readonly<Record<string, MathCode>> = {
  ...Object.fromEntries(called.map((name) => [name, host(name)])),
  exp2: ([x]) => call("Math.pow", [number(2), x!]),
  sqrt: instruction("f64.sqrt"),
  floor: instruction("f64.floor"),
  ceil: instruction("f64.ceil"),
  trunc: instruction("f64.trunc"),
  round: instruction("f64.nearest"),
  rsqrt: ([x]) => over(one, op("f64.sqrt", x!)),
  reciprocal: ([x]) => over(one, x!),
  sigmoid: ([x]) => over(one, add(one, call("Math.exp", [op("f64.neg", x!)]))),
  // Zeros and NaN stay what they are.
  sign: ([x]) => choose(copySign(one, x!), x!, op("f64.gt", magnitude(x!), number(0))),
  // JavaScript has NaN for 1 to NaN, and for ±1 to ±∞.
  pow: ([x, y]) => {
    const endless = op(
      "i32.and",
      op("f64.eq", op("f64.abs", x!), one),
      op("f64.eq", op("f64.abs", y!), number(Infinity)),
    );
    return choose(one, call("Math.pow", [x!, y!]), op("i32.or", op("f64.eq", x!, one), endless));
  },
  rem,
  erf,
};
