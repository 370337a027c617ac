/**
 * Numbers that shape chains are made of: plain ones, dims, and fractions of dims, with the ops that work on them symbolically.
 */
import {
  addDim,
  convertNumber,
  type Dim,
  DimExpr,
  floorDiv,
  isFloat,
  isNonNegative,
  maxDim,
  minDim,
  modDim,
  mulDim,
  negDim,
  sameDim,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";

/** Thrown inside, where an element cannot be told. */
export class Unknown extends Error {}

/** One for all, since a stack trace takes long. */
const notKnown = new Unknown();

/** A fraction of a dim: what a float becomes that is made of extents. */
export class Ratio {
  readonly num: Dim;
  readonly den: number;
  constructor(num: Dim, den: number) {
    this.num = num;
    this.den = den;
  }
}

/** A number (of any dtype, bool as 0 and 1), an integer expression, or a fraction of one. */
export type Scalar = Dim | Ratio;

export const isNumber = (x: Scalar): x is number => typeof x === "number";
export const unknown = (): never => {
  throw notKnown;
};

/** A fraction is a value only where it is whole. */
export function wholeOf(x: Scalar): Dim {
  if (!(x instanceof Ratio)) return x;
  const q = floorDiv(x.num, x.den);
  return sameDim(mulDim(q, x.den), x.num) ? q : unknown();
}

export const isAtLeastZero = (d: Dim): boolean | undefined =>
  isNonNegative(d) ? true : isNonNegative(subDim(negDim(d), 1)) ? false : undefined;

export function isZero(d: Dim): boolean | undefined {
  if (isNumber(d)) return d === 0;
  const positive = isNonNegative(subDim(d, 1)) || isNonNegative(subDim(negDim(d), 1));
  return positive ? false : undefined;
}

/** Of a sign that is known, toward zero. */
function truncated(x: Scalar): Dim {
  if (!(x instanceof Ratio)) return isNumber(x) ? Math.trunc(x) : x;
  return isNonNegative(x.num) ? floorDiv(x.num, x.den) : unknown();
}

export function converted(t: Tensor, x: Scalar): Scalar {
  if (t.dtype === "bool") return isNumber(x) ? Number(x !== 0) : truth(isZero(numerator(x)), true);
  if (isNumber(x)) return convertNumber(t.operands[0]!.dtype, t.dtype, x);
  return isFloat(t.dtype) ? x : truncated(x);
}

const numerator = (x: Scalar): Dim => (x instanceof Ratio ? x.num : x);
const truth = (verdict: boolean | undefined, not = false): number =>
  verdict === undefined ? unknown() : Number(verdict !== not);

/** A number as a fraction of integers, for floats such as 0.5 that scale an extent. */
function ratioOf(x: Scalar): Ratio {
  if (x instanceof Ratio) return x;
  if (x instanceof DimExpr) return new Ratio(x, 1);
  for (let den = 1; den <= 4096; den++) {
    const num = x * den;
    // Float32 holds thirds and tenths to 24 bits.
    if (Math.abs(num - Math.round(num)) <= Math.abs(num) * 2 ** -24)
      return new Ratio(Math.round(num), den);
  }
  return unknown();
}

const plain = (r: Ratio): Scalar => (r.den === 1 ? r.num : r);

function sum(a: Scalar, b: Scalar): Scalar {
  if (!(a instanceof Ratio || b instanceof Ratio) && isWhole(a) && isWhole(b)) return addDim(a, b);
  const [x, y] = [ratioOf(a), ratioOf(b)];
  return plain(new Ratio(addDim(mulDim(x.num, y.den), mulDim(y.num, x.den)), x.den * y.den));
}

const isWhole = (x: Dim): boolean => !isNumber(x) || Number.isInteger(x);

function product(a: Scalar, b: Scalar): Scalar {
  const [x, y] = [ratioOf(a), ratioOf(b)];
  return reduced(mulDim(x.num, y.num), x.den * y.den);
}

/** num/den, with den divided out where it goes. */
function reduced(num: Dim, den: number): Scalar {
  const q = floorDiv(num, den);
  return sameDim(mulDim(q, den), num) ? q : plain(new Ratio(num, den));
}

function quotient(a: Scalar, b: Scalar, t: Tensor): Scalar {
  if (isFloat(t.dtype)) {
    const [x, y] = [ratioOf(a), ratioOf(b)];
    if (isNumber(y.num) && y.num > 0) return reduced(mulDim(x.num, y.den), x.den * y.num);
    const whole = floorDiv(mulDim(x.num, y.den), mulDim(y.num, x.den));
    return sameDim(mulDim(whole, mulDim(y.num, x.den)), mulDim(x.num, y.den)) ? whole : unknown();
  }
  const [x, y] = [wholeOf(a), wholeOf(b)];
  if (isNonNegative(x) && isNonNegative(subDim(y, 1))) return floorDiv(x, y);
  // Exact quotients have no rounding to disagree about.
  const q = isNonNegative(subDim(y, 1)) ? floorDiv(x, y) : unknown();
  return sameDim(mulDim(q, y), x) ? q : unknown();
}

/** a − b ≥ 0, as far as it can be told. */
const atLeast = (a: Scalar, b: Scalar): boolean | undefined => {
  const d = sum(a, product(b, -1));
  return isAtLeastZero(numerator(d));
};
const equal = (a: Scalar, b: Scalar): boolean | undefined => {
  const d = numerator(sum(a, product(b, -1)));
  return sameDim(d, 0) ? true : isZero(d);
};
const negated = (x: boolean | undefined) => (x === undefined ? undefined : !x);

export const symbolic: Readonly<Record<string, (x: readonly Scalar[], t: Tensor) => Scalar>> = {
  add: ([a, b]) => sum(a!, b!),
  sub: ([a, b]) => sum(a!, product(b!, -1)),
  neg: ([a]) => product(a!, -1),
  mul: ([a, b]) => product(a!, b!),
  div: ([a, b], t) => quotient(a!, b!, t),
  rem: ([a, b]) =>
    isNonNegative(wholeOf(a!)) && isNonNegative(wholeOf(b!))
      ? modDim(wholeOf(a!), wholeOf(b!))
      : unknown(),
  maximum: ([a, b]) => maxDim(wholeOf(a!), wholeOf(b!)),
  minimum: ([a, b]) => minDim(wholeOf(a!), wholeOf(b!)),
  abs: ([a]) => (isNonNegative(numerator(a!)) ? a! : unknown()),
  sign: ([a]) => (isNonNegative(subDim(numerator(a!), 1)) ? 1 : unknown()),
  floor: ([a]) => (a instanceof Ratio ? floorDiv(a.num, a.den) : a!),
  ceil: ([a]) => (a instanceof Ratio ? floorDiv(addDim(a.num, a.den - 1), a.den) : a!),
  trunc: ([a]) => truncated(a!),
  round: ([a]) => (a instanceof Ratio ? unknown() : a!),
  equal: ([a, b]) => truth(equal(a!, b!)),
  notEqual: ([a, b]) => truth(equal(a!, b!), true),
  greaterEqual: ([a, b]) => truth(atLeast(a!, b!)),
  lessEqual: ([a, b]) => truth(atLeast(b!, a!)),
  less: ([a, b]) => truth(negated(atLeast(a!, b!))),
  greater: ([a, b]) => truth(negated(atLeast(b!, a!))),
  stopGradient: ([a]) => a!,
};

const truthOf = (x: Scalar): boolean => (isNumber(x) ? x !== 0 : unknown());

export const reducers: Readonly<Record<string, (a: Scalar, b: Scalar) => Scalar>> = {
  reduceSum: sum,
  reduceProd: product,
  reduceMax: (a, b) => maxDim(wholeOf(a), wholeOf(b)),
  reduceMin: (a, b) => minDim(wholeOf(a), wholeOf(b)),
  reduceAny: (a, b) => Number(truthOf(a) || truthOf(b)),
  reduceAll: (a, b) => Number(truthOf(a) && truthOf(b)),
};
