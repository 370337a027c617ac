/**
 * xʸ and the remainder, which need doubles inside. |x|ʸ = 2^(y·log₂|x|): the logarithm as e +
 * s·P(s²) with s = f/(2 + f) in double precision (Cody & Waite 1980, chapter 11), of which only the
 * fraction left over by the nearest integer is brought back to f32.
 */
import {
  block,
  branchIf,
  type Code,
  choice,
  f64Const,
  laneOp,
  localOf,
  loop,
  op,
  set,
} from "../code.ts";
import { exp2Of } from "./exponential.ts";
import { half, joinHalves } from "./halves.ts";
import { splitAny } from "./logarithm.ts";
import {
  abs,
  and,
  andNot,
  type Bind,
  equal,
  f32,
  f64,
  i32,
  infinity,
  less,
  type MathCode,
  mul,
  nearest,
  or,
  select,
  signBit,
} from "./vector.ts";

const minusInfinity = i32(0xff800000);

// biome-ignore format: one row
const log2Coefficients = [0.3407489421224424, 0.4116717474979288, 0.5770836003143868, 0.9617966732662493, 2.885390081790142];

/** e + log₂(1 + f), in doubles to 4·10⁻¹² of it. */
function log2Half(e: Code, f: Code, bind: Bind): Code {
  const s = bind("v128", op("f64x2.div", f, op("f64x2.add", f, f64(2))));
  const z = bind("v128", op("f64x2.mul", s, s));
  const [first, ...rest] = log2Coefficients.map(f64);
  const p = rest.reduce((sum, c) => op("f64x2.add", op("f64x2.mul", sum, z), c), first!);
  return op("f64x2.add", e, op("f64x2.mul", s, p));
}

/** 2 to y·log₂ a, a ≥ 0: 0 and infinity through an infinite exponent. */
function powerOfMagnitude(a: Code, y: Code, bind: Bind): Code {
  const { e, f } = splitAny(a, bind);
  const finite = select(less(a, infinity), e, a);
  const exponent = bind("v128", select(equal(a, f32(0)), minusInfinity, finite));
  const parts = (["low", "high"] as const).map((which) => {
    const log = log2Half(half(exponent, which), bind("v128", half(f, which)), bind);
    const product = op("f64x2.mul", half(y, which), log);
    const t = op("f64x2.pmax", op("f64x2.pmin", product, f64(160)), f64(-160));
    const z = bind("v128", t);
    const n = bind("v128", op("f64x2.nearest", z));
    return { n, rest: op("f64x2.sub", z, n) };
  });
  const n = joinHalves(parts[0]!.n, parts[1]!.n);
  const rest = joinHalves(parts[0]!.rest, parts[1]!.rest);
  return exp2Of(n, rest, bind);
}

/**
 * Negative bases have powers of whole exponents only, with the sign of odd ones; x⁰ and 1ʸ are 1,
 * and so is −1 to ±∞.
 */
const pow: MathCode = ([x, y], bind) => {
  const size = powerOfMagnitude(bind("v128", abs(x!)), y!, bind);
  const whole = bind("v128", equal(nearest(y!), y!));
  const halved = bind("v128", mul(y!, f32(0.5)));
  const oddPower = andNot(whole, equal(nearest(halved), halved));
  const signed = or(size, and(and(x!, signBit), oddPower));
  const finiteNegative = and(less(x!, f32(0)), less(minusInfinity, x!));
  const real = or(signed, andNot(finiteNegative, whole));
  const endless = and(equal(abs(x!), f32(1)), equal(abs(y!), infinity));
  return select(or(or(equal(x!, f32(1)), equal(y!, f32(0))), endless), f32(1), real);
};

/** 2²⁸: quotients below it keep their product with a float exact in a double. */
const steps = 268435456;

/** t − y·trunc(t/y) of doubles, exact below 2²⁸ times y. */
const lessQuotient = (t: Code, y: Code): Code =>
  op("f64x2.sub", t, op("f64x2.mul", y, op("f64x2.trunc", op("f64x2.div", t, y))));

/**
 * Subtracts multiples of y·2²⁵², y·2²²⁴, … y until the rest is below y; the largest quotient of
 * floats is 2²⁷⁷.
 */
function longDivision(t: Code, y: Code, bind: Bind): Code {
  // Not a constant, which would be repeated instead of bound: the loop assigns to both.
  const fresh = op("f64x2.splat", f64Const(0));
  const rest = bind("v128", fresh);
  const scale = bind("v128", fresh);
  const again = op("f64.ge", laneOp("f64x2.extract_lane", 0, scale), f64Const(1));
  const body = [
    set(localOf(rest), lessQuotient(rest, op("f64x2.mul", y, scale))),
    set(localOf(scale), op("f64x2.mul", scale, f64(1 / steps))),
    branchIf(localOf(rest), again),
  ];
  return block("", "v128", [
    set(localOf(rest), t),
    set(localOf(scale), f64(2 ** 252)),
    loop(localOf(rest), body),
    rest,
  ]);
}

/** The remainder has the sign of x, and is x where y is infinite. */
const rem: MathCode = ([x, y], bind) => {
  const far = bind("i32", op("v128.any_true", less(mul(abs(y!), f32(steps)), abs(x!))));
  const [low, high] = (["low", "high"] as const).map((which) => {
    const t = bind("v128", half(x!, which));
    const d = bind("v128", half(y!, which));
    const rare = longDivision(t, d, bind);
    return choice("v128", far, rare, lessQuotient(t, d));
  });
  const r = or(joinHalves(low!, high!), and(x!, signBit));
  return select(and(equal(abs(y!), infinity), less(abs(x!), infinity)), x!, r);
};

export const power: Readonly<Record<string, MathCode>> = { pow, rem };
