/**
 * The order in which a GPU's tiles walk K. The taps of a small convolution window are steps of
 * their own, so that the arithmetic of the window is done once a step and not once an element;
 * other loops of K run as one. Where K does not fill its steps, the first step lacks elements and
 * not the last: it is loaded before the loop, so that the loop has no guard.
 *
 * Why: address arithmetic and guards bound single loads. An element of a product of 2049 takes an
 * address and a load; it was an address, two comparisons, a load and a select. Where a window is
 * large (a weight gradient) its channel is the step instead.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  maxDim,
  maxOfDim,
  modDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import type { Loop } from "../../fuse/group.ts";
import { isAtLeast0, isBelow } from "../../kernel/conditions.ts";
import type { Rename } from "../../kernel/map.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { totalOf } from "../../lower/loops.ts";
import { windows } from "../../machine/products.ts";
import { decoded, decodedQuads, onesFirst } from "./lines.ts";

export interface KOrder {
  readonly steps: Dim;
  /** The loop of k that runs fastest. */
  readonly innermost: Loop | undefined;
  /** Whether the innermost loop has a multiple of four iterations. */
  readonly inFours: boolean;
  /** Whether elements of any step may lie outside; else only those of the first. */
  readonly guarded: boolean;
  /** A step like most. */
  readonly usual: number;
  /**
   * The loops of k at an element of a step, and at lane `lane` of four. The first step is the
   * number 0, others are more.
   */
  at(step: Dim, within: Dim): Rename;
  atQuad(step: Dim, quad: Dim, lane: Dim): Rename;
  /** That an element of a step lies inside. */
  inside(step: Dim, within: Dim): Condition;
}

const always = isAtLeast0(0);

export function kOrderOf(context: LoweringContext, depth: number): KOrder {
  const split = splitOf(context, depth);
  const [outer, inner] = [split.outer, onesFirst(split.inner)];
  const total = totalOf(inner);
  const perOuter = ceilDiv(total, depth);
  const steps = mulDim(totalOf(outer), perOuter);
  const base = (step: Dim): Rename => decoded(outer, floorDiv(step, perOuter));
  const first = (step: Dim): Dim => mulDim(outer.length ? modDim(step, perOuter) : step, depth);
  const innermost = inner.at(-1);
  const inFours = innermost !== undefined && modDim(innermost.extent, 4) === 0;
  if (outer.length === 0 && typeof total === "number") return lackingFirst(inner, depth, inFours);
  return {
    steps,
    innermost,
    inFours,
    guarded: modDim(total, depth) !== 0,
    usual: 0,
    at: (step, within) => new Map([...base(step), ...decoded(inner, addDim(first(step), within))]),
    atQuad: (step, quad, lane) =>
      new Map([
        ...base(step),
        ...decodedQuads(inner, addDim(floorDiv(first(step), 4), quad), lane),
      ]),
    inside: (step, within) => isBelow(addDim(first(step), within), total),
  };
}

/** k begins as many elements before its first as the last step would otherwise lack. */
function lackingFirst(inner: readonly Loop[], depth: number, inFours: boolean): KOrder {
  const total = totalOf(inner) as number;
  const steps = Math.ceil(total / depth);
  const lack = steps * depth - total;
  // Before the first element there is nothing to bring: its own address does as well as any.
  const from = (step: Dim, within: Dim, unit: number): Dim => {
    const at = subDim(addDim(mulDim(step, depth / unit), within), lack / unit);
    if (step !== 0 || lack === 0) return at;
    // Even numbers stay so, and are seen to.
    return modDim(at, 2) === 0 ? mulDim(maxDim(floorDiv(at, 2), 0), 2) : maxDim(at, 0);
  };
  return {
    steps,
    innermost: inner.at(-1),
    inFours,
    guarded: false,
    usual: 1,
    at: (step, within) => decoded(inner, from(step, within, 1)),
    atQuad: (step, quad, lane) => decodedQuads(inner, from(step, quad, 4), lane),
    inside: (step, within) => (step === 0 ? isAtLeast0(subDim(within, lack)) : always),
  };
}

function splitOf(
  context: LoweringContext,
  depth: number,
): { outer: readonly Loop[]; inner: readonly Loop[] } {
  const { k } = context.group.contraction!;
  const all = { outer: [], inner: k };
  if (context.group.anchor!.op !== "convolution" || k.length < 2) return all;
  const [channel, ...places] = k as [Loop, ...Loop[]];
  const most = maxOfDim(totalOf(places));
  if (most === 1) return all;
  const [outer, inner] = most <= windows.mostPlaces ? [places, [channel]] : [[channel], places];
  const size = totalOf(inner);
  if (typeof size !== "number") return all;
  return (Math.ceil(size / depth) * depth) / size <= windows.mostWaste ? { outer, inner } : all;
}
