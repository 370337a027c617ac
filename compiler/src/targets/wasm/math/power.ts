/**
 * xʸ and the remainder, which need doubles inside. |x|ʸ = 2^(y·log₂|x|): the logarithm as e + s·P(s²) with
 * s = f/(2 + f) in double precision (Cody & Waite 1980, chapter 11), of which only the fraction left over by the nearest
 * integer is brought back to f32.
 */
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
  type MathText,
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
function log2Half(e: string, f: string, bind: Bind): string {
  const s = bind("v128", `(f64x2.div ${f} (f64x2.add ${f} ${f64(2)}))`);
  const z = bind("v128", `(f64x2.mul ${s} ${s})`);
  const [first, ...rest] = log2Coefficients.map(f64);
  const p = rest.reduce((sum, c) => `(f64x2.add (f64x2.mul ${sum} ${z}) ${c})`, first!);
  return `(f64x2.add ${e} (f64x2.mul ${s} ${p}))`;
}

/** 2 to y·log₂ a, a ≥ 0: 0 and infinity through an infinite exponent. */
function powerOfMagnitude(a: string, y: string, bind: Bind): string {
  const { e, f } = splitAny(a, bind);
  const finite = select(less(a, infinity), e, a);
  const exponent = bind("v128", select(equal(a, f32(0)), minusInfinity, finite));
  const parts = (["low", "high"] as const).map((which) => {
    const log = log2Half(half(exponent, which), bind("v128", half(f, which)), bind);
    const product = `(f64x2.mul ${half(y, which)} ${log})`;
    const t = `(f64x2.pmax (f64x2.pmin ${product} ${f64(160)}) ${f64(-160)})`;
    const z = bind("v128", t);
    const n = bind("v128", `(f64x2.nearest ${z})`);
    return { n, rest: `(f64x2.sub ${z} ${n})` };
  });
  const n = joinHalves(parts[0]!.n, parts[1]!.n);
  const rest = joinHalves(parts[0]!.rest, parts[1]!.rest);
  return exp2Of(n, rest, bind);
}

/** Negative bases have powers of whole exponents only, with the sign of odd ones; x⁰ and 1ʸ are 1. */
const pow: MathText = ([x, y], bind) => {
  const size = powerOfMagnitude(bind("v128", abs(x!)), y!, bind);
  const whole = bind("v128", equal(nearest(y!), y!));
  const halved = bind("v128", mul(y!, f32(0.5)));
  const oddPower = andNot(whole, equal(nearest(halved), halved));
  const signed = or(size, and(and(x!, signBit), oddPower));
  const finiteNegative = and(less(x!, f32(0)), less(minusInfinity, x!));
  const real = or(signed, andNot(finiteNegative, whole));
  return select(or(equal(x!, f32(1)), equal(y!, f32(0))), f32(1), real);
};

/** 2²⁸: quotients below it keep their product with a float exact in a double. */
const steps = 268435456;

/** t − y·trunc(t/y) of doubles, exact below 2²⁸ times y. */
const lessQuotient = (t: string, y: string): string =>
  `(f64x2.sub ${t} (f64x2.mul ${y} (f64x2.trunc (f64x2.div ${t} ${y}))))`;

/** Subtracts multiples of y·2²⁵², y·2²²⁴, … y until the rest is below y; the largest quotient of floats is 2²⁷⁷. */
function longDivision(t: string, y: string, bind: Bind): string {
  const name = (local: string): string => local.slice("(local.get ".length, -1);
  // Not a constant, which would be repeated instead of bound: the loop assigns to both.
  const fresh = "(f64x2.splat (f64.const 0))";
  const rest = bind("v128", fresh);
  const scale = bind("v128", fresh);
  const again = `(f64.ge (f64x2.extract_lane 0 ${scale}) (f64.const 1))`;
  const body = [
    `(local.set ${name(rest)} ${lessQuotient(rest, `(f64x2.mul ${y} ${scale})`)})`,
    `(local.set ${name(scale)} (f64x2.mul ${scale} ${f64(1 / steps)}))`,
    `(br_if ${name(rest)} ${again})`,
  ];
  const start = `(local.set ${name(rest)} ${t}) (local.set ${name(scale)} ${f64(2 ** 252)})`;
  return `(block (result v128) ${start} (loop ${name(rest)} ${body.join(" ")}) ${rest})`;
}

/** The remainder has the sign of x, and is x where y is infinite. */
const rem: MathText = ([x, y], bind) => {
  const far = bind("i32", `(v128.any_true ${less(mul(abs(y!), f32(steps)), abs(x!))})`);
  const [low, high] = (["low", "high"] as const).map((which) => {
    const t = bind("v128", half(x!, which));
    const d = bind("v128", half(y!, which));
    const rare = longDivision(t, d, bind);
    return `(if (result v128) ${far} (then ${rare}) (else ${lessQuotient(t, d)}))`;
  });
  const r = or(joinHalves(low!, high!), and(x!, signBit));
  return select(and(equal(abs(y!), infinity), less(abs(x!), infinity)), x!, r);
};

export const power: Readonly<Record<string, MathText>> = { pow, rem };
