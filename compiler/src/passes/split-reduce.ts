/**
 * Splits long reductions in two, so that many workgroups share the work and a second kernel joins
 * what they found.
 *
 * before:
 *   graph f(%x: f32[512,1024]) {
 *     %1: f32[] = reduceSum %x {axes=[0, 1]}
 *     return %1
 *   }
 * after:
 *   graph f(%x: f32[512,1024]) {
 *     %1: f32[1024,512] = reshape %x
 *     %2: f32[1024] = reduceSum %1 {axes=[1]}
 *     %3: f32[] = reduceSum %2 {axes=[0]}
 *     return %3
 *   }
 *
 * Sums are added in another order, so a target asks for this pass if it wants it. Parts of halves
 * are f32: one may be too large for a half where the sum is not. Not done for few elements, for
 * symbolic extents, nor where the reduced axes are not the last ones: their memory does not run in
 * one piece.
 */
import { type Dtype, isStatic, makeNode, reducedAxes, sizeOf, type Tensor } from "@kiln-ml/ir";
import { longSums as sums } from "../machine/splits.ts";
import type { Pass } from "../pass.ts";
import { rewriteProgram } from "../program.ts";
import { build } from "../rules/match.ts";

/** Reductions whose parts may be joined by the same reduction. */
export const splits: ReadonlySet<string> = new Set(
  "reduceSum reduceProd reduceMax reduceMin reduceAny reduceAll".split(" "),
);

/** Those whose result is one of the elements. */
const chosen: ReadonlySet<string> = new Set(["reduceMax", "reduceMin"]);

export const splitReduce: Pass = {
  name: "split-reduce",
  reassociates: true,
  run: (program) => rewriteProgram(program, split),
};

const split = (node: Tensor): Tensor => inParts(node, trailingParts(node));

/** How the operand of a reduction is cut: reshaped, each part reduced, then what they gave. */
export interface Parts {
  /** The operand with an axis of parts. */
  readonly shape: readonly number[];
  /** Its axes that run over a part, all others being of the result or of parts. */
  readonly inner: readonly number[];
  /** The axis of parts once a part is reduced. */
  readonly at: number;
}

/** Parts of a long reduction over the last axes, where it is worth two kernels. */
export function trailingParts(node: Tensor): Parts | undefined {
  if (!splits.has(node.op)) return undefined;
  const x = node.operands[0]!;
  const axes = reducedAxes(node);
  const trailing = axes.every((axis, i) => axis === x.rank - axes.length + i);
  const length = sizeOf(axes.map((axis) => x.shape[axis]!));
  const results = sizeOf(node.shape);
  if (!trailing || !isStatic(length) || !isStatic(results)) return undefined;
  if (length < sums.leastElements || results > sums.mostResults) return undefined;
  const parts = largestDivisor(length, sums.mostParts);
  if (parts < sums.leastParts) return undefined;
  const shape = [...(node.shape as number[]), parts, length / parts];
  return { shape, inner: [node.rank + 1], at: node.rank };
}

/** The reduction of each part, and then over the parts; the node itself without any. */
export function inParts(node: Tensor, parts: Parts | undefined): Tensor {
  if (!parts) return node;
  const dtype = partDtype(node);
  const rows = cut(inDtype(node.operands[0]!, dtype), parts);
  const some = build(node.op, [rows], { axes: parts.inner });
  return inDtype(build(node.op, [some], { axes: [parts.at] }), node.dtype);
}

/** The operand with an axis of parts. */
export const cut = (x: Tensor, { shape }: Parts): Tensor =>
  makeNode({ op: "reshape", operands: [x], attrs: {}, dtype: x.dtype, shape });

/** Of the parts of a sum or product. */
export const partDtype = ({ dtype, op }: Tensor): Dtype =>
  (dtype === "f16" || dtype === "bf16") && !chosen.has(op) ? "f32" : dtype;

export const inDtype = (x: Tensor, dtype: Dtype): Tensor =>
  x.dtype === dtype
    ? x
    : makeNode({ op: "convert", operands: [x], attrs: {}, dtype, shape: x.shape });

/** The largest divisor of n that is at most `most`. */
export function largestDivisor(n: number, most: number): number {
  for (let d = most; d > 1; d--) if (n % d === 0) return d;
  return 1;
}
