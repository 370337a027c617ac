/**
 * Splits a long sum of squares about a mean along with the sum of that mean: each part has its own
 * mean, and what it adds up about it; joined, those are moved to the mean of all.
 *
 *   Σ (x − m)² = Σₚ (Σ (x − mₚ)² + (mₚ − m)·(2·Σ (x − mₚ) + L·(mₚ − m))),
 *   with mₚ the mean of a part of L elements
 *
 * before:
 *   graph f(%x: f32[1048576,2]) {
 *     %1: f32[2] = reduceSum %x {axes=[0]}
 *     %2: f32[] = constant {value=1048576}
 *     %3: f32[2] = broadcastInDim %2 {dims=[]}
 *     %4: f32[2] = div %1 %3
 *     %5: f32[1048576,2] = broadcastInDim %4 {dims=[1]}
 *     %6: f32[1048576,2] = sub %x %5
 *     %7: f32[1048576,2] = mul %6 %6
 *     %8: f32[2] = reduceSum %7 {axes=[0]}
 *     return %8
 *   }
 * after:
 *   graph f(%x: f32[1048576,2]) {
 *     %1: f32[131072,8,2] = reshape %x
 *     %2: f32[131072,2] = reduceSum %1 {axes=[1]}
 *     %3: f32[] = constant {value=8}
 *     %4: f32[131072,2] = broadcastInDim %3 {dims=[]}
 *     %5: f32[131072,2] = div %2 %4
 *     %6: f32[131072,8,2] = broadcastInDim %5 {dims=[0, 2]}
 *     %7: f32[131072,8,2] = sub %1 %6
 *     %8: f32[131072,8,2] = mul %7 %7
 *     %9: f32[131072,2] = reduceSum %8 {axes=[1]}
 *     %10: f32[2] = reduceSum %x {axes=[0]}
 *     %11: f32[] = constant {value=1048576}
 *     %12: f32[2] = broadcastInDim %11 {dims=[]}
 *     %13: f32[2] = div %10 %12
 *     %14: f32[131072,2] = broadcastInDim %13 {dims=[1]}
 *     %15: f32[131072,2] = sub %5 %14
 *     %16: f32[131072,2] = mul %15 %15
 *     %17: f32[131072,2] = mul %4 %16
 *     %18: f32[131072,2] = add %9 %17
 *     %19: f32[2] = reduceSum %18 {axes=[0]}
 *     return %19
 *   }
 *
 * A kernel a part finds both sums, of elements that it has just read; without it the mean of all
 * comes first, and then all are read again. Nothing cancels: each square is about the mean of its
 * own part (Chan, Golub & LeVeque 1979, eq. 2.1). Both means may be any numbers, such as rounded
 * ones: Σ (x − mₚ) is what a rounded mₚ leaves, 0 of an exact one. Sums are added in another order, so a target asks for this pass if it wants it.
 * For f32 alone. Run before reductions are split, as it takes their parts.
 */
import { reducedAxes, type Tensor } from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { rewriteProgram } from "../program.ts";
import { build } from "../rules/match.ts";
import { uniform } from "../rules/uniform.ts";
import { along, sameAlong, sumIn } from "./about-mean.ts";
import { columnParts } from "./split-columns.ts";
import { cut, type Parts, trailingParts } from "./split-reduce.ts";

export const splitVariance: Pass = {
  name: "split-variance",
  reassociates: true,
  run: (program) => rewriteProgram(program, split),
};

function split(node: Tensor): Tensor {
  const squares = squaresIn(node);
  const parts = squares && (trailingParts(node) ?? columnParts(node));
  return parts ? joined(node, squares, parts) : node;
}

/** Squares of x about a number that each result has. */
interface Squares {
  readonly x: Tensor;
  /** Of the result's shape. */
  readonly about: Tensor;
}

/** What a sum of squares about a mean of the same elements adds up. */
function squaresIn(node: Tensor): Squares | undefined {
  if (node.op !== "reduceSum" || node.dtype !== "f32") return undefined;
  const [square] = node.operands as [Tensor];
  const [d, other] = square.operands;
  if (square.op !== "mul" || d !== other || d?.op !== "sub") return undefined;
  const [x, wide] = d.operands as [Tensor, Tensor];
  const axes = reducedAxes(node);
  const about = sameAlong(wide, axes, node.shape);
  return about && sumIn(about, x, axes) ? { x, about } : undefined;
}

/** The squares of each part about its own mean, moved to that of all. */
function joined(node: Tensor, { x, about }: Squares, parts: Parts): Tensor {
  const { shape, inner, at } = parts;
  const axesBut = (rank: number, gone: readonly number[]): number[] =>
    Array.from({ length: rank }, (_, i) => i).filter((i) => !gone.includes(i));
  const rows = cut(x, parts);
  const sums = build("reduceSum", [rows], { axes: inner });
  const length = inner.reduce((n, axis) => n * shape[axis]!, 1);
  const lengths = uniform(length, node.dtype, sums.shape);
  const means = build("div", [sums, lengths]);
  const d = build("sub", [rows, along(means, shape, axesBut(shape.length, inner))]);
  const squares = build("reduceSum", [build("mul", [d, d])], { axes: inner });
  const rests = build("reduceSum", [d], { axes: inner });
  const apart = build("sub", [means, along(about, sums.shape, axesBut(sums.rank, [at]))]);
  const twice = build("mul", [uniform(2, node.dtype, sums.shape), rests]);
  const moved = build("mul", [apart, build("add", [twice, build("mul", [lengths, apart])])]);
  return build("reduceSum", [build("add", [squares, moved])], { axes: [at] });
}
