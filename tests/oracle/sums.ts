/**
 * The oracle's ops that combine elements: reductions, running values, contractions, fold, scatter and sorting. Terms are listed and
 * combined in exact integers or in doubles; the caller rounds.
 */
import type { Dtype } from "@kiln-ml/ir";
import { reals } from "./elementwise.ts";
import { type Array_, fitted, isReal, limitsOf, type Num } from "./number.ts";
import { type Attributes, everywhere, get, isIn, laid, list, offsetIn } from "./places.ts";

export type Combine = (
  x: readonly Array_[],
  attrs: Attributes,
  to: Dtype,
  shape: readonly number[],
) => Num[];

const plus = (a: Num, b: Num): Num =>
  typeof a === "bigint" ? a + (b as bigint) : a + (b as number);
const times = (a: Num, b: Num): Num =>
  typeof a === "bigint" ? a * (b as bigint) : a * (b as number);
const pick =
  (name: "maximum" | "minimum") =>
  (a: Num, b: Num): Num => {
    if (typeof a === "number") return reals[name]!(a, b as number);
    return (name === "maximum") === a > b ? a : b;
  };

/** What each way to combine starts from. */
function nothing(kind: string, dtype: Dtype): Num {
  const real = isReal(dtype);
  if (kind === "sum") return real ? 0 : 0n;
  if (kind === "prod") return real ? 1 : 1n;
  if (real) return kind === "max" ? -Infinity : Infinity;
  return limitsOf(dtype)[kind === "max" ? 0 : 1];
}

const ways: Readonly<Record<string, (a: Num, b: Num) => Num>> = {
  sum: plus,
  prod: times,
  max: pick("maximum"),
  min: pick("minimum"),
};

const fold = (kind: string, dtype: Dtype, terms: readonly Num[]): Num =>
  terms.reduce(ways[kind]!, nothing(kind, dtype));

/** The elements that meet in one result, in row-major order. */
function lines(x: Array_, axes: readonly number[], shape: readonly number[]): Num[][] {
  return everywhere(shape).map((kept) =>
    everywhere(axes.map((a) => x.shape[a]!)).map((vars) =>
      get(x, laid(x.shape.length, axes, vars, kept)),
    ),
  );
}

const reduced =
  (kind: string): Combine =>
  ([x], { axes }, to, shape) =>
    lines(x!, [...list(axes)], shape).map((terms) => fold(kind, to, terms));

const decided =
  (all: boolean): Combine =>
  ([x], { axes }, _to, shape) =>
    lines(x!, list(axes), shape).map((v) =>
      (all ? v.every((b) => b === 1n) : v.some((b) => b === 1n)) ? 1n : 0n,
    );

/** The first place of the extreme; NaN is more extreme than any number. */
const placed =
  (greatest: boolean): Combine =>
  ([x], { axes }, _to, shape) =>
    lines(x!, list(axes), shape).map((v) => {
      const nan = v.findIndex((e) => Number.isNaN(e));
      if (nan >= 0) return BigInt(nan);
      let best = 0;
      for (const [i, e] of v.entries()) if (greatest ? e > v[best]! : e < v[best]!) best = i;
      return BigInt(best);
    });

const running =
  (kind: string): Combine =>
  ([x], { axis, exclusive, reverse }, to, shape) => {
    const [a, n] = [Number(axis), shape[Number(axis)]!];
    return everywhere(shape).map((at) => {
      const until = at[a]!;
      const before = (i: number): boolean =>
        (reverse ? i > until : i < until) || (!exclusive && i === until);
      const along = Array.from({ length: n }, (_, i) => i).filter(before);
      if (reverse) along.reverse();
      return fold(
        kind,
        to,
        along.map((i) => get(x!, at.with(a, i))),
      );
    });
  };

const dotGeneral: Combine = ([l, r], attrs, to, shape) => {
  const [lb, rb, lc, rc] = [
    attrs.lhsBatch,
    attrs.rhsBatch,
    attrs.lhsContract,
    attrs.rhsContract,
  ].map(list) as [readonly number[], readonly number[], readonly number[], readonly number[]];
  const free = (x: Array_, taken: readonly number[]) =>
    x.shape.map((_, i) => i).filter((i) => !taken.includes(i));
  const lf = free(l!, [...lb, ...lc]);
  return everywhere(shape).map((at) => {
    const batch = at.slice(0, lb.length);
    const own = at.slice(lb.length, lb.length + lf.length);
    const other = at.slice(lb.length + lf.length);
    const terms = everywhere(lc.map((a) => l!.shape[a]!)).map((k) => {
      const a = laid(l!.shape.length, [...lb, ...lc], [...batch, ...k], own);
      const b = laid(r!.shape.length, [...rb, ...rc], [...batch, ...k], other);
      return times(get(l!, a), get(r!, b));
    });
    return fold("sum", to, terms);
  });
};

/** The input is laid out with its zeros first, so that a zero times NaN is NaN. */
const convolution: Combine = ([x, w], attrs, to, shape) => {
  const [stride, low, between, apart] = [
    attrs.stride,
    attrs.low,
    attrs.lhsDilation,
    attrs.rhsDilation,
  ].map(list);
  const outputs = w!.shape[0]! / Number(attrs.groups);
  return everywhere(shape).map(([n, o, ...t]) => {
    const terms = everywhere(w!.shape.slice(1)).map(([c, ...k]) => {
      const from = t.map(
        (p, i) => (p * stride![i]! + k[i]! * apart![i]! - low![i]!) / between![i]!,
      );
      const at = [n!, Math.floor(o! / outputs) * w!.shape[1]! + c!, ...from];
      return times(isIn(x!.shape, at) ? get(x!, at) : nothing("sum", to), get(w!, [o!, c!, ...k]));
    });
    return fold("sum", to, terms);
  });
};

const unfolded: Combine = ([x], attrs, to, shape) => {
  const [stride, dilation] = [list(attrs.stride), list(attrs.dilation)];
  const lead = shape.length - stride.length;
  const sums = new Array<Num>(shape.reduce((a, b) => a * b, 1)).fill(nothing("sum", to));
  for (const at of everywhere(x!.shape)) {
    const home = shape.map((_, k) =>
      k < lead ? at[k]! : at[k]! * stride[k - lead]! + at[k + stride.length]! * dilation[k - lead]!,
    );
    const i = offsetIn(shape, home);
    sums[i] = plus(sums[i]!, get(x!, at));
  }
  return sums;
};

/** Update after update in row-major order, each rounded: it is an element that the next one finds. */
const scatter: Combine = ([x, updates, ...indices], attrs, to) => {
  const axes = list(attrs.axes);
  const rank = indices[0]!.shape.length;
  const kinds: Readonly<Record<string, string>> = {
    add: "sum",
    mul: "prod",
    max: "max",
    min: "min",
  };
  const way = ways[kinds[String(attrs.mode)] ?? ""] ?? ((_: Num, b: Num) => b);
  const out = [...x!.data];
  for (const at of everywhere(updates!.shape)) {
    const there = indices.map((v) => Number(get(v, at.slice(0, rank))));
    const home = laid(x!.shape.length, axes, there, at.slice(rank));
    if (!isIn(x!.shape, home)) continue;
    const i = offsetIn(x!.shape, home);
    out[i] = fitted(to, way(out[i]!, get(updates!, at)));
  }
  return out;
};

const argSort: Combine = ([x], { axis, descending }, _to, shape) => {
  const a = Number(axis);
  const rankOf = (v: Num): Num => (Number.isNaN(v) ? Infinity : v);
  return everywhere(shape).map((at) => {
    const line = Array.from({ length: x!.shape[a]! }, (_, i) => ({ i, v: get(x!, at.with(a, i)) }));
    line.sort((p, q) => {
      const nan = Number(Number.isNaN(p.v)) - Number(Number.isNaN(q.v));
      const [u, v] = [rankOf(p.v), rankOf(q.v)];
      const order = nan !== 0 ? nan : u < v ? -1 : u > v ? 1 : 0;
      return (descending ? -order : order) || p.i - q.i;
    });
    return BigInt(line[at[a]!]!.i);
  });
};

export const combines: Readonly<Record<string, Combine>> = {
  reduceSum: reduced("sum"),
  reduceProd: reduced("prod"),
  reduceMax: reduced("max"),
  reduceMin: reduced("min"),
  reduceAny: decided(false),
  reduceAll: decided(true),
  argMax: placed(true),
  argMin: placed(false),
  cumsum: running("sum"),
  cumprod: running("prod"),
  cummax: running("max"),
  cummin: running("min"),
  dotGeneral,
  convolution,
  fold: unfolded,
  scatter,
  argSort,
};
