/**
 * Splits cumulative sums and extremes over long axes in three, so that a GPU has work for more than
 * one workgroup: what each part of the axis comes to, what comes before each part, and the parts
 * themselves, which begin with that.
 *
 * before:
 *   graph f(%x: f32[1048576]) {
 *     %1: f32[1048576] = cumsum %x {axis=0, exclusive=false, reverse=false}
 *     return %1
 *   }
 * after:
 *   graph f(%x: f32[1048576]) {
 *     %1: f32[1024,1024] = reshape %x
 *     %2: f32[1024,1024] = cumsum %1 {axis=1, exclusive=false, reverse=false}
 *     %3: f32[1024] = reduceSum %1 {axes=[1]}
 *     %4: f32[1024] = cumsum %3 {axis=0, exclusive=true, reverse=false}
 *     %5: f32[1024,1024] = broadcastInDim %4 {dims=[0]}
 *     %6: f32[1024,1024] = add %2 %5
 *     %7: f32[1048576] = reshape %6
 *     return %7
 *   }
 *
 * Sums are added in another order. Not done for products, whose parts may overflow where the whole
 * does not, for symbolic extents, for many lines, nor where the axis has no divisor that helps.
 */
import {
  type Attrs,
  isStatic,
  makeNode,
  type Shape,
  scanAttrs,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import { longScans } from "../machine/splits.ts";
import type { Pass } from "../pass.ts";
import { rewriteProgram } from "../program.ts";
import { largestDivisor } from "./split-reduce.ts";

const joins: Readonly<Record<string, readonly [reduce: string, join: string]>> = {
  cumsum: ["reduceSum", "add"],
  cummax: ["reduceMax", "maximum"],
  cummin: ["reduceMin", "minimum"],
};

export const splitScan: Pass = {
  name: "split-scan",
  reassociates: true,
  run: (program) => rewriteProgram(program, split),
};

function split(node: Tensor): Tensor {
  const ops = joins[node.op];
  if (!ops) return node;
  const x = node.operands[0]!;
  const { axis, reverse } = scanAttrs(node);
  const [length, size] = [x.shape[axis]!, sizeOf(x.shape)];
  if (!isStatic(length) || !isStatic(size) || length < longScans.leastLength) return node;
  const lines = size / length;
  const { busyLines, mostParts } = longScans;
  const parts = largestDivisor(length, mostParts);
  if (lines >= busyLines || lines * parts < busyLines) return node;
  const make = (op: string, operands: readonly Tensor[], attrs: Attrs, shape: Shape): Tensor =>
    makeNode({ op, operands, attrs, dtype: x.dtype, shape });
  const before = x.shape.slice(0, axis);
  const after = x.shape.slice(axis + 1);
  const shape = [...before, parts, length / parts, ...after];
  const rows = make("reshape", [x], {}, shape);
  const inner = make(node.op, [rows], { ...node.attrs, axis: axis + 1 }, shape);
  const few = [...before, parts, ...after];
  const sums = make(ops[0], [rows], { axes: [axis + 1] }, few);
  const starts = make(node.op, [sums], { axis, exclusive: true, reverse }, few);
  const dims = few.map((_, i) => (i > axis ? i + 1 : i));
  const wide = make("broadcastInDim", [starts], { dims }, shape);
  return make("reshape", [make(ops[1], [inner, wide], {}, shape)], {}, node.shape);
}
