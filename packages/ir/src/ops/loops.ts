/**
 * What a compiler asks about reductions, scans and contractions besides `pieces`: the extents they run
 * over, the direction of a scan, and the axes of a dotGeneral by role.
 */
import { type CumulativeOp, isOp, type NodeOf, reducedAxes } from "../attributes.ts";
import type { Dim } from "../dim.ts";
import type { Attrs, Tensor } from "../node.ts";
import { numbersOf, otherAxes } from "./apply.ts";

/**
 * The extents a reduction or contraction runs over, in the order in which `pieces` expects its
 * variables.
 */
export function reductionExtents(node: Tensor): readonly Dim[] {
  const [lhs, rhs] = node.operands as [Tensor, Tensor];
  if (isOp(node, "fold")) return node.attrs.size;
  if (isOp(node, "dotGeneral")) return node.attrs.lhsContract.map((a) => lhs.shape[a]!);
  if (node.op === "convolution") return rhs.shape.slice(1);
  return reducedAxes(node).map((a) => lhs.shape[a]!);
}

export interface ScanAttrs {
  readonly axis: number;
  readonly exclusive: boolean;
  readonly reverse: boolean;
}

/** The attributes of a cumulative op; flags that text leaves out are false. */
export function scanAttrs(node: Tensor): ScanAttrs {
  const { axis, exclusive = false, reverse = false } = (node as NodeOf<CumulativeOp>).attrs;
  return { axis, exclusive, reverse };
}

export interface DotAxes {
  readonly lhsBatch: readonly number[];
  readonly rhsBatch: readonly number[];
  readonly lhsContract: readonly number[];
  readonly rhsContract: readonly number[];
}

/** The axes as text gave them; a node's are its attributes. */
export const dotAxes = (attrs: Attrs): DotAxes => ({
  lhsBatch: numbersOf(attrs.lhsBatch),
  rhsBatch: numbersOf(attrs.rhsBatch),
  lhsContract: numbersOf(attrs.lhsContract),
  rhsContract: numbersOf(attrs.rhsContract),
});

export const lhsFree = (lhs: Tensor, d: DotAxes): number[] =>
  otherAxes(lhs.rank, [...d.lhsBatch, ...d.lhsContract]);
export const rhsFree = (rhs: Tensor, d: DotAxes): number[] =>
  otherAxes(rhs.rank, [...d.rhsBatch, ...d.rhsContract]);

/** Operand coordinates from those of the result and of the contracted axes. */
export function factorCoords<T>(
  lhs: number,
  rhs: number,
  d: DotAxes,
  out: readonly T[],
  k: readonly T[],
) {
  const [a, b] = [new Array<T>(lhs), new Array<T>(rhs)];
  for (const [i, axis] of d.lhsBatch.entries()) a[axis] = out[i]!;
  for (const [i, axis] of d.rhsBatch.entries()) b[axis] = out[i]!;
  for (const [i, axis] of d.lhsContract.entries()) a[axis] = k[i]!;
  for (const [i, axis] of d.rhsContract.entries()) b[axis] = k[i]!;
  let next = d.lhsBatch.length;
  for (const axis of otherAxes(lhs, [...d.lhsBatch, ...d.lhsContract])) a[axis] = out[next++]!;
  for (const axis of otherAxes(rhs, [...d.rhsBatch, ...d.rhsContract])) b[axis] = out[next++]!;
  return [a, b] as const;
}
