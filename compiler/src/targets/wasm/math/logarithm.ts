/**
 * Logarithms. Reduction: x = 2ᵉ·(1 + f) with 1 + f in [√½, √2); ln(1 + f) = f − f²/2 + f³·P(f), P a minimax fit of our
 * own as in `exponential.ts`.
 */
import {
  and,
  type Bind,
  equal,
  f32,
  i32,
  iadd,
  infinity,
  isub,
  less,
  type MathText,
  madd,
  mul,
  or,
  polynomial,
  select,
  shiftLeft,
  shiftRight,
  sub,
} from "./vector.ts";

/** x = 2ᵉ·(1 + f). */
interface Split {
  readonly e: string;
  readonly f: string;
}

const rootHalf = i32(0x3f3504f3);

/** e and f of a positive normal x; `shift` is added to e. */
function split(x: string, shift: string | undefined, bind: Bind): Split {
  const high = bind("v128", shiftRight(isub(x, rootHalf), 23));
  const f = bind("v128", sub(isub(x, shiftLeft(high, 23)), f32(1)));
  const e = bind("v128", `(f32x4.convert_i32x4_s ${shift ? iadd(high, shift) : high})`);
  return { e, f };
}

/** Brings subnormal numbers into the normal range before they are split. */
function splitAny(x: string, bind: Bind): Split {
  const tiny = bind("v128", less(x, f32(1.17549435e-38)));
  const normal = bind("v128", select(tiny, mul(x, f32(8388608)), x));
  return split(normal, and(tiny, i32(-23)), bind);
}

const coefficients = [
  -0.07636428, 0.12762213, -0.1315961, 0.1420158, -0.16623409, 0.20001242, -0.2500082, 0.3333333,
];

/** The terms of ln(1 + f) after f. */
function afterFirst(f: string, bind: Bind): string {
  const s = bind("v128", mul(f, f));
  return madd(s, f32(-0.5), mul(mul(s, f), polynomial(coefficients, f)));
}

/** e·ln 2 + f + rest, smallest first. */
const joined = (e: string, f: string, rest: string): string =>
  madd(e, f32(0.693359375), `(f32x4.add ${f} ${madd(e, f32(-2.1219444e-4), rest)})`);

/** y, but −∞ at 0, NaN below it, and x where x is infinite or NaN. */
function edges(y: string, x: string): string {
  const finite = select(less(x, infinity), y, x);
  return or(select(equal(x, f32(0)), i32(0xff800000), finite), less(x, f32(0)));
}

const log: MathText = ([x], bind) => {
  const { e, f } = splitAny(x!, bind);
  return edges(joined(e, f, afterFirst(f, bind)), x!);
};

const log2: MathText = ([x], bind) => {
  const { e, f } = splitAny(x!, bind);
  const rest = bind("v128", afterFirst(f, bind));
  const low = madd(rest, f32(Math.LOG2E), mul(f, f32(0.44269504)));
  return edges(`(f32x4.add ${e} (f32x4.add ${f} ${low}))`, x!);
};

export const logarithm: Readonly<Record<string, MathText>> = { log, log2 };
