/**
 * Reading images between their elements: each place is a weighted sum of the elements around it.
 */
import { type Dim, isStatic, subDim } from "../../dim.ts";
import type { Tensor } from "../../node.ts";
import type { Operand } from "../broadcast.ts";
import { dimValue } from "../create.ts";
import { add } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { gather } from "../gather.ts";
import { reshape } from "../movement.ts";
import { cubicWeights } from "./resample.ts";

export const extentOf = (d: Dim, dtype: "f32" | "i32" = "f32"): Operand =>
  isStatic(d) ? d : dimValue(d, dtype);

/** One place of an axis and its weight, for each element of the result. */
export interface Tap {
  /** A whole number in a float. */
  readonly at: Tensor;
  readonly weight?: Tensor;
}

/** The two places around x. */
export function linearTaps(x: Tensor): Tap[] {
  const base = x.floor();
  const r = x.sub(base);
  return [
    { at: base, weight: r.neg().add(1) },
    { at: base.add(1), weight: r },
  ];
}

export function cubicTaps(x: Tensor): Tap[] {
  const base = x.floor();
  return cubicWeights(x.sub(base), -0.75).map((weight, k) => ({ at: base.add(k - 1), weight }));
}

export interface Sampled {
  /** S ++ the axes of x that are not read by place. */
  readonly value: Tensor;
  /** S. */
  readonly weight: Tensor;
}

/**
 * All combinations of taps: the elements of x at the places `own` of its leading axes and at the taps of the others. With `drop` the
 * weight of places outside is 0; else they are clamped.
 */
export function corners(
  x: Tensor,
  own: readonly (readonly [axis: number, index: Tensor])[],
  taps: readonly (readonly [axis: number, taps: readonly Tap[]])[],
  drop: boolean,
): Sampled[] {
  let all: { at: Tensor[]; weight: Tensor | undefined }[] = [{ at: [], weight: undefined }];
  for (const [axis, list] of taps) {
    const end = extentOf(subDim(x.shape[axis]!, 1));
    all = all.flatMap((before) =>
      list.map(({ at, weight }) => {
        const inside = at.greaterEqual(0).and(at.lessEqual(end));
        const own = weight ?? at.mul(0).add(1);
        const kept = drop ? select(inside, own, 0) : own;
        return {
          at: [...before.at, at.maximum(0).minimum(end).convert("i32")],
          weight: before.weight ? before.weight.mul(kept) : kept,
        };
      }),
    );
  }
  const axes = [...own.map(([axis]) => axis), ...taps.map(([axis]) => axis)];
  return all.map(({ at, weight }) => ({
    value: gather(x, [...own.map(([, index]) => index), ...at], axes),
    weight: weight!,
  }));
}

/** A weight of shape S beside a value of shape S ++ rest. */
export const beside = (weight: Tensor, value: Tensor): Tensor =>
  reshape(weight, [...weight.shape, ...value.shape.slice(weight.rank).map(() => 1)]).convert(
    value.dtype,
  );

export const weighted = (all: readonly Sampled[]): Tensor =>
  all.map(({ value, weight }) => value.mul(beside(weight, value))).reduce((a, b) => add(a, b));
