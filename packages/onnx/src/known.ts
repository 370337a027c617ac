/**
 * The values of small tensors, read off the graph: each element is a number, or a dim where it comes from a shape. It evaluates
 * symbolically what shape chains are made of, and gives up at inputs, at parameters and at whatever is too large to be a shape.
 */
import {
  addDim,
  convertNumber,
  type Dim,
  DimExpr,
  evaluate,
  evaluateElement,
  floorDiv,
  fromHost,
  hasHostData,
  hostDataOf,
  isFloat,
  isNonNegative,
  isStatic,
  maxDim,
  minDim,
  modDim,
  mulDim,
  negDim,
  opRecord,
  sameDim,
  subDim,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";

/** More elements than any shape has. */
const largest = 4096;

/** Thrown inside, where an element cannot be told. */
class Unknown extends Error {}

/** A fraction of a dim: what a float becomes that is made of extents. */
class Ratio {
  readonly num: Dim;
  readonly den: number;
  constructor(num: Dim, den: number) {
    this.num = num;
    this.den = den;
  }
}

/** A number (of any dtype, bool as 0 and 1), an integer expression, or a fraction of one. */
type Scalar = Dim | Ratio;

const isNumber = (x: Scalar): x is number => typeof x === "number";
const unknown = (): never => {
  throw new Unknown();
};

/** Values of tensors that the graph does not hold itself: the first values of parameters. */
export type Lookup = (leaf: Tensor) => readonly number[] | undefined;

/**
 * The elements of `t` in row-major order, or undefined where they depend on more than shapes and constants. `lookup` knows leaves that
 * have a value for this import.
 */
export function knownValues(t: Tensor, lookup: Lookup): readonly Dim[] | undefined {
  const shape: number[] = [];
  for (const d of t.shape) {
    if (!isStatic(d)) return undefined;
    shape.push(d);
  }
  const size = shape.reduce((a, b) => a * b, 1);
  if (size > largest) return undefined;
  const walk = new Walk(lookup);
  try {
    return indices(shape).map((index) => wholeOf(walk.at(t, index)));
  } catch (error) {
    if (!(error instanceof Unknown)) throw error;
    return constantValues(t);
  }
}

/** By the reference evaluator, if `t` depends on nothing that a run gives. */
function constantValues(t: Tensor): readonly number[] | undefined {
  const nodes = topologicalOrder([t]);
  const fixed = (n: Tensor) =>
    n.shape.every(isStatic) &&
    n.op !== "input" &&
    n.op !== "param" &&
    (n.op !== "data" || hasHostData(n)) &&
    n.shape.reduce<number>((a, d) => a * (d as number), 1) <= largest;
  if (!nodes.every(fixed)) return undefined;
  return Array.from(evaluate([t])[0]!.data);
}

/** Every index of a static shape, row-major. */
function indices(shape: readonly number[]): number[][] {
  let all: number[][] = [[]];
  for (const n of shape)
    all = all.flatMap((head) => Array.from({ length: n }, (_, i) => [...head, i]));
  return all;
}

/** A fraction is a value only where it is whole. */
function wholeOf(x: Scalar): Dim {
  if (!(x instanceof Ratio)) return x;
  const q = floorDiv(x.num, x.den);
  return sameDim(mulDim(q, x.den), x.num) ? q : unknown();
}

class Walk {
  readonly #lookup: Lookup;
  readonly #done = new Map<Tensor, Map<string, Scalar>>();

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  at(t: Tensor, index: readonly Dim[]): Scalar {
    let known = this.#done.get(t);
    if (!known) {
      known = new Map();
      this.#done.set(t, known);
    }
    const key = index.join();
    const before = known.get(key);
    if (before !== undefined) return before;
    const value = this.#element(t, index);
    known.set(key, value);
    return value;
  }

  #element(t: Tensor, index: readonly Dim[]): Scalar {
    const record = opRecord(t.op);
    switch (record.family) {
      case "source":
        return this.#leaf(t, index);
      case "elementwise":
        return this.#elementwise(t, index);
      case "movement":
        return this.#moved(t, index);
      case "gather":
        return this.#gathered(t, index);
      case "reduce":
        return this.#reduced(t, index);
      default:
        return unknown();
    }
  }

  #leaf(t: Tensor, index: readonly Dim[]): Scalar {
    if (t.op === "constant") return t.attrs.value as number;
    if (t.op === "iota") return index[t.attrs.axis as number]!;
    const values =
      this.#lookup(t) ??
      (t.op === "data" && hasHostData(t) ? fromHost(t.dtype, hostDataOf(t)) : undefined);
    if (!values) return unknown();
    let flat = 0;
    for (const [axis, i] of index.entries()) {
      const extent = t.shape[axis]!;
      if (!isNumber(i) || !isStatic(extent)) return unknown();
      flat = flat * extent + i;
    }
    return values[flat] ?? unknown();
  }

  #moved(t: Tensor, index: readonly Dim[]): Scalar {
    for (const piece of opRecord(t.op).pieces!(t, index)) {
      const verdicts = piece.when.map(({ value, test }) =>
        test === "zero" ? isZero(value) : isAtLeastZero(value),
      );
      if (verdicts.includes(false)) continue;
      if (verdicts.includes(undefined)) return unknown();
      return this.at(t.operands[piece.operand]!, piece.coords);
    }
    return unknown();
  }

  #gathered(t: Tensor, index: readonly Dim[]): Scalar {
    const [x, ...places] = t.operands as [Tensor, ...Tensor[]];
    const axes = t.attrs.axes as readonly number[];
    const rank = places[0]!.rank;
    const rest = index.slice(rank);
    const found = new Map<number, Dim>();
    for (const [k, axis] of axes.entries()) {
      const i = this.at(places[k]!, index.slice(0, rank));
      const extent = x.shape[axis]!;
      if (i instanceof Ratio) return unknown();
      if (isNumber(i) && isStatic(extent)) found.set(axis, Math.max(0, Math.min(i, extent - 1)));
      else if (isAtLeastZero(i) && isAtLeastZero(subDim(subDim(extent, 1), i))) found.set(axis, i);
      else return unknown();
    }
    const coords = x.shape.map((_, axis) => found.get(axis) ?? rest.shift()!);
    return this.at(x, coords);
  }

  #reduced(t: Tensor, index: readonly Dim[]): Scalar {
    const combine = reducers[t.op];
    if (!combine) return unknown();
    const x = t.operands[0]!;
    const axes = t.attrs.axes as readonly number[];
    const extents = axes.map((a) => x.shape[a]!);
    if (!extents.every(isStatic)) return unknown();
    const terms = indices(extents as number[]).map((at) => {
      const rest = [...index];
      const coords = x.shape.map((_, a) =>
        axes.includes(a) ? at[axes.indexOf(a)]! : rest.shift()!,
      );
      return this.at(x, coords);
    });
    if (terms.length === 0 || terms.length > largest) return unknown();
    return terms.reduce((a, b) => combine(a, b));
  }

  #elementwise(t: Tensor, index: readonly Dim[]): Scalar {
    if (t.op === "select") {
      const test = this.at(t.operands[0]!, index);
      return isNumber(test) ? this.at(t.operands[test ? 1 : 2]!, index) : unknown();
    }
    const x = t.operands.map((o) => this.at(o, index));
    if (t.op === "convert") return converted(t, x[0]!);
    if (x.every(isNumber)) return evaluateElement(opRecord(t.op), t.operands[0]!.dtype, t.dtype, x);
    const f = symbolic[t.op];
    return f ? f(x, t) : unknown();
  }
}

const isAtLeastZero = (d: Dim): boolean | undefined =>
  isNonNegative(d) ? true : isNonNegative(subDim(negDim(d), 1)) ? false : undefined;

function isZero(d: Dim): boolean | undefined {
  if (isNumber(d)) return d === 0;
  const positive = isNonNegative(subDim(d, 1)) || isNonNegative(subDim(negDim(d), 1));
  return positive ? false : undefined;
}

/** Of a sign that is known, toward zero. */
function truncated(x: Scalar): Dim {
  if (!(x instanceof Ratio)) return isNumber(x) ? Math.trunc(x) : x;
  return isNonNegative(x.num) ? floorDiv(x.num, x.den) : unknown();
}

function converted(t: Tensor, x: Scalar): Scalar {
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

const symbolic: Readonly<Record<string, (x: readonly Scalar[], t: Tensor) => Scalar>> = {
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

const reducers: Readonly<Record<string, (a: Scalar, b: Scalar) => Scalar>> = {
  reduceSum: sum,
  reduceProd: product,
  reduceMax: (a, b) => maxDim(wholeOf(a), wholeOf(b)),
  reduceMin: (a, b) => minDim(wholeOf(a), wholeOf(b)),
  reduceAny: (a, b) => Number(truthOf(a) || truthOf(b)),
  reduceAll: (a, b) => Number(truthOf(a) && truthOf(b)),
};
