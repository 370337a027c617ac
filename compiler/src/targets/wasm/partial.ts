/**
 * The accumulators of a simd loop: each lane has its own, and the loop's accumulator takes them
 * over, in a fixed order, when the loop is done. Extremes are kept in a form that takes few
 * instructions a vector and is exact nevertheless: NaN wins, and −0 is less than 0.
 */
import { type Dim, type Dtype, isFloat, mulDim, type Reducer, subDim } from "@kiln-ml/ir";
import { strideOf } from "../../kernel/stride.ts";
import { isArg } from "../../kernel/uses.ts";
import { indexText } from "../index-text.ts";
import { type Code, localOf, op, set, shuffle, splat } from "./code.ts";
import { indexValue } from "./language.ts";
import { bind, compared, laneName, newLocal, numbers, type Printer, signOf } from "./printer.ts";
import { combined, identity, takeBetter, worst } from "./reducers.ts";

/**
 * What lanes keep of one accumulator. Sums and the like: the value. Extremes of real numbers: the
 * greatest and the least bits as signed numbers and the greatest as unsigned ones. argMax and
 * argMin: position and extreme, and the first position of a NaN.
 */
export interface LaneAcc {
  readonly name: string;
  readonly reducer: Reducer;
  /** Of what is accumulated, and of what argMax and argMin are fed. */
  readonly dtype: Dtype;
  readonly fed: Dtype;
  readonly values: readonly Code[];
  /** Elements between the first stream and this one. */
  readonly offset: Dim;
  /** Whether positions are counted from the stream's first element: all streams share them then. */
  relative: boolean;
}

const nowhere = splat("i32x4", -1);
const infinity = splat("i32x4", 2139095040);
const minusInfinity = splat("i32x4", -8388608);
const zero = splat("i32x4", 0);

const isExtreme = (reducer: Reducer): boolean => reducer === "max" || reducer === "min";

/**
 * Declares what lanes keep of `name`, stream by stream: of each vector of a group its own, or of
 * several. An extreme waits so little for the one before that a stream has but one.
 */
export function openPartials(
  p: Printer,
  name: string,
  { streams, vectors }: { readonly streams: number; readonly vectors: number },
  length: Dim,
): LaneAcc[] {
  const { dtype, reducer = "sum" } = p.e.facts.accs.get(name)!;
  const apart = isArg(reducer) || (isExtreme(reducer) && isFloat(dtype));
  const perStream = apart ? 1 : vectors;
  return Array.from({ length: streams * perStream }, (_, i) =>
    openPartial(p, name, mulDim(length, Math.floor(i / perStream))),
  );
}

function openPartial(p: Printer, name: string, offset: Dim): LaneAcc {
  const { dtype, reducer = "sum", fed = dtype } = p.e.facts.accs.get(name)!;
  const start = identity(reducer, dtype);
  const values: Code[] = [];
  const add = (suffix: string, init: Code) =>
    values.push(newLocal(p, `${name}${suffix}`, "v128", init));
  if (isArg(reducer)) {
    add("Lanes", start);
    add("Bests", worst(reducer, fed));
    if (isFloat(fed)) add("Nans", nowhere);
  } else if (isExtreme(reducer) && isFloat(dtype)) {
    // The identity is an element like others.
    for (const kept of ["Greatest", "Least", "Unsigned"]) add(kept, start);
  } else add("Lanes", start);
  return { name, reducer, fed, dtype, values, offset, relative: false };
}

const assign = (p: Printer, to: Code, value: Code): void => p.e.line(set(localOf(to), value));

const bitsKept = ["i32x4.max_s", "i32x4.min_s", "i32x4.max_u"] as const;

/** Accumulates a vector of an extreme. */
export function seeInLanes(p: Printer, { values }: LaneAcc, v: Code): void {
  values.forEach((kept, i) => {
    assign(p, kept, op(bitsKept[i]!, kept, v));
  });
}

/**
 * The extreme, in each lane. Bits of positive numbers grow with the number, and those of negative
 * ones against it. The most positive bits beyond infinity are those of a NaN, and so are the
 * greatest unsigned ones beyond −infinity.
 */
function extremeOf(p: Printer, { reducer, values }: LaneAcc): Code {
  const [greatest, least, unsigned] = values as [Code, Code, Code];
  const nan = op(
    "v128.or",
    op("i32x4.gt_s", greatest, infinity),
    op("i32x4.gt_u", unsigned, minusInfinity),
  );
  const v =
    reducer === "max"
      ? op("v128.bitselect", least, greatest, op("i32x4.lt_s", greatest, zero))
      : op("v128.bitselect", unsigned, least, op("i32x4.lt_s", unsigned, zero));
  return bind(p, "v128", op("v128.or", v, nan));
}

/**
 * Accumulates a vector of argMax or argMin. Positions grow from vector to vector, so that the
 * latest is the greatest; a NaN is never better.
 */
export function takeInLanes(p: Printer, partial: LaneAcc, v: Code, element: Dim): void {
  const resolved = p.e.resolved(element);
  partial.relative = strideOf(resolved, laneName) === 1;
  const index = indexValue(p, partial.relative ? subDim(resolved, partial.offset) : resolved);
  const at = bind(p, "v128", index);
  const [position, best, nan] = partial.values as [Code, Code, Code | undefined];
  const { fed, reducer } = partial;
  const max = reducer === "argMax";
  const extreme = max ? "max" : "min";
  const better = compared(max ? "gt" : "lt", fed, v, best);
  assign(p, position, op("i32x4.max_s", position, op("v128.and", better, at)));
  const further = isFloat(fed)
    ? op(`f32x4.p${extreme}`, best, v)
    : op(`i32x4.${extreme}_${signOf(fed)}`, best, v);
  assign(p, best, further);
  if (nan) assign(p, nan, op("i32x4.min_u", nan, op("v128.or", at, op("f32x4.eq", v, v))));
}

/**
 * The orders of lanes under which halves, and then halves of halves, meet, until all lanes have
 * met: lane i with lane i xor `apart`.
 */
const meetings = (width: number): number[][] => {
  const orders: number[][] = [];
  for (let apart = width >> 1; apart >= 1; apart >>= 1)
    orders.push(numbers(4 * width).map((byte) => ((byte >> 2) ^ apart) * 4 + (byte & 3)));
  return orders;
};

const turned = (p: Printer, order: readonly number[], v: Code): Code =>
  bind(p, "v128", shuffle(order, v, v));

const bound = (p: Printer, t: Code): Code => bind(p, "v128", t);

/** Pairs, then pairs of pairs, until one is left. */
function inPairs<T>(all: readonly T[], meet: (a: T, b: T) => T): T {
  let level = all;
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => {
      const [a, b] = [level[2 * i]!, level[2 * i + 1]];
      return b === undefined ? a : meet(a, b);
    });
  return level[0]!;
}

/** Adds what lanes hold into the accumulator: pairs of vectors first, then pairs of lanes. */
export function closePartials(p: Printer, partials: readonly LaneAcc[]): void {
  const { e } = p;
  const { name, reducer, dtype } = partials[0]!;
  if (isArg(reducer)) {
    closeArgs(p, partials);
    return;
  }
  const meet = (a: Code, b: Code): Code => combined(reducer, dtype, a, b);
  // Afterwards all lanes hold the same bits: each pair is combined in both orders, and ⊕ commutes.
  const wide = inPairs(
    partials.map((x) => laneValue(p, x)),
    meet,
  );
  const v = meetings(p.width).reduce(
    (t, order) => bind(p, "v128", meet(t, turned(p, order, t))),
    bind(p, "v128", wide),
  );
  const acc = e.find(name).text;
  e.line(set(localOf(acc), combined(reducer, dtype, acc, v)));
}

const laneValue = (p: Printer, x: LaneAcc): Code =>
  x.values.length > 1 ? extremeOf(p, x) : x.values[0]!;

function closeArgs(p: Printer, partials: readonly LaneAcc[]): void {
  const first = partials[0]!;
  const { name, reducer, fed } = first;
  const meet = (a: readonly Code[], b: readonly Code[]) => furthest(p, first, a, b);
  let kept = inPairs(
    partials.map((x) => placed(p, x)),
    meet,
  );
  for (const order of meetings(p.width))
    kept = meet(
      kept,
      kept.map((v) => turned(p, order, v)),
    );
  const [position, best, nan] = kept as [Code, Code, Code | undefined];
  if (!nan) {
    takeBetter(p, reducer, name, fed, best, position, true);
    return;
  }
  const none = bind(p, "v128", op("i32x4.eq", nan, nowhere));
  const at = bind(p, "v128", op("v128.bitselect", position, nan, none));
  const value = op("v128.or", best, op("v128.not", none));
  takeBetter(p, reducer, name, fed, bind(p, "v128", value), at, true);
}

/** The values of a partial result whose positions are those of the whole range. */
function placed(p: Printer, { values, offset, relative }: LaneAcc): readonly Code[] {
  if (!relative || offset === 0) return values;
  const [position, best, nan] = values as [Code, Code, Code | undefined];
  const from = op("i32x4.splat", indexText(p.e, offset));
  const shifted = [bound(p, op("i32x4.add", position, from)), best];
  if (!nan) return shifted;
  const none = op("i32x4.eq", nan, nowhere);
  return [...shifted, bound(p, op("v128.or", op("i32x4.add", nan, from), none))];
}

/**
 * The better of two extremes in each lane, at a tie the one further front; the NaN further front.
 */
function furthest(
  p: Printer,
  { reducer, fed }: LaneAcc,
  [at, best, nan]: readonly Code[],
  [otherAt, otherBest, otherNan]: readonly Code[],
): Code[] {
  const more = compared(reducer === "argMax" ? "gt" : "lt", fed, otherBest!, best!);
  const same = compared("eq", fed, otherBest!, best!);
  const tie = op("v128.and", same, op("i32x4.lt_s", otherAt!, at!));
  const take = bind(p, "v128", op("v128.or", more, tie));
  const choose = (a: Code, b: Code): Code => bind(p, "v128", op("v128.bitselect", b, a, take));
  const both = [choose(at!, otherAt!), choose(best!, otherBest!)];
  return nan ? [...both, bind(p, "v128", op("i32x4.min_u", nan, otherNan!))] : both;
}
