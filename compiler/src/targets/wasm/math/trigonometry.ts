/**
 * Sine, cosine and tangent. Reduction in double precision: x = n·π/2 + r with π/2 in two parts of
 * which n times the first, of 33 bits, is exact (Cody & Waite 1980, chapter 8). Arguments beyond
 * 2¹⁸ go to the host, lane by lane.
 */
import { type Code, op } from "../code.ts";
import { inDoubles, perLane, whereAny } from "./halves.ts";
import {
  abs,
  and,
  type Bind,
  div,
  f32,
  f64,
  i32,
  iadd,
  less,
  type MathCode,
  madd,
  mul,
  polynomial,
  select,
  shiftLeft,
  sub,
  xor,
} from "./vector.ts";

const magic = f32(12582912);
const limit = f32(262144);
const halfPiHigh = f64(1.5707963267341256);
const halfPiLow = f64(6.077100506506192e-11);

interface Quadrant {
  /** n as an integer in the low bits. */
  readonly bits: Code;
  readonly sin: Code;
  readonly cos: Code;
}

const sinCoefficients = [2.8193308e-6, -1.9852015e-4, 0.008333378, -0.16666667, 1];
const cosCoefficients = [2.442711e-5, -0.0013887283, 0.041666646, -0.5, 1];

/** The sine and cosine of r, |r| ≤ 0.8. */
function quadrant(x: Code, bind: Bind): Quadrant {
  const bits = bind("v128", madd(x, f32(0.63661975), magic));
  const n = bind("v128", sub(bits, magic));
  const reduced = ([t, m]: readonly Code[]): Code => {
    const near = op("f64x2.sub", t!, op("f64x2.mul", m!, halfPiHigh));
    return op("f64x2.sub", near, op("f64x2.mul", m!, halfPiLow));
  };
  const r = bind("v128", inDoubles([x, n], reduced, bind));
  const s = bind("v128", mul(r, r));
  const sin = bind("v128", mul(r, polynomial(sinCoefficients, s)));
  const cos = bind("v128", polynomial(cosCoefficients, s));
  return { bits, sin, cos };
}

/** Lanes with an odd n. */
const odd = (bits: Code): Code => op("i32x4.eq", and(bits, i32(1)), i32(1));

/** The function of the quadrant the turn `bits` begins with: 0 sin, 1 cos, 2 −sin, 3 −cos. */
const wave = (bits: Code, { sin, cos }: Quadrant): Code =>
  xor(select(odd(bits), cos, sin), shiftLeft(and(bits, i32(2)), 30));

const guarded =
  (name: string, near: (q: Quadrant, bind: Bind) => Code): MathCode =>
  ([x], bind) => {
    const usual = bind("v128", near(quadrant(x!, bind), bind));
    return whereAny(less(limit, abs(x!)), perLane(name, [x!], bind), usual);
  };

export const trigonometry: Readonly<Record<string, MathCode>> = {
  sin: guarded("sin", (q) => wave(q.bits, q)),
  cos: guarded("cos", (q, bind) => wave(bind("v128", iadd(q.bits, i32(1))), q)),
  tan: guarded("tan", ({ bits, sin, cos }, bind) => {
    const turned = bind("v128", odd(bits));
    const above = xor(select(turned, cos, sin), and(turned, i32(0x80000000)));
    return div(above, select(turned, sin, cos));
  }),
};
