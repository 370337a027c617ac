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

function split(node: Tensor): Tensor {
  if (!splits.has(node.op)) return node;
  const x = node.operands[0]!;
  const axes = reducedAxes(node);
  const trailing = axes.every((axis, i) => axis === x.rank - axes.length + i);
  const length = sizeOf(axes.map((axis) => x.shape[axis]!));
  const results = sizeOf(node.shape);
  if (!trailing || !isStatic(length) || !isStatic(results)) return node;
  if (length < sums.leastElements || results > sums.mostResults) return node;
  const parts = largestDivisor(length, sums.mostParts);
  if (parts < sums.leastParts) return node;
  const dtype = partDtype(node);
  const shape = [...node.shape, parts, length / parts];
  const operands = [inDtype(x, dtype)];
  const rows = makeNode({ op: "reshape", operands, attrs: {}, dtype, shape });
  const reduce = (of: Tensor): Tensor =>
    makeNode({
      op: node.op,
      operands: [of],
      attrs: { axes: [of.rank - 1] },
      dtype,
      shape: of.shape.slice(0, -1),
    });
  return inDtype(reduce(reduce(rows)), node.dtype);
}

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
