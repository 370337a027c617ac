/**
 * Splits reductions of many elements to few results in two where memory does not run in one piece:
 * a second kernel joins what parts of one axis gave, so that a GPU has work for all of its
 * invocations.
 *
 * before:
 *   graph f(%x: f32[65536,256]) {
 *     %1: f32[256] = reduceSum %x {axes=[0]}
 *     return %1
 *   }
 * after:
 *   graph f(%x: f32[65536,256]) {
 *     %1: f32[1024,64,256] = reshape %x
 *     %2: f32[1024,256] = reduceSum %1 {axes=[1]}
 *     %3: f32[256] = reduceSum %2 {axes=[0]}
 *     return %3
 *   }
 *
 * As split-reduce, which does the reductions over the last axes, it adds in another order. Not done
 * for fewer elements than pay for a kernel, for symbolic extents, for axes whose extents have no
 * divisor that helps, nor for sums that run along with a product of the same operand, as those for
 * the gradients of biases do.
 */
import { isOp, isStatic, makeNode, reducedAxes, sizeOf, type Tensor } from "@kiln-ml/ir";
import { skinnyLines } from "../fuse/contraction.ts";
import { columnSums } from "../machine/splits.ts";
import type { Pass } from "../pass.ts";
import { nodesOf, type Program, rewriteProgram } from "../program.ts";
import { inDtype, largestDivisor, partDtype, splits } from "./split-reduce.ts";

export const splitColumns: Pass = {
  name: "split-columns",
  reassociates: true,
  run: (program) => {
    const summed = summedByProducts(program);
    return rewriteProgram(program, (node, before) =>
      node.op === "reduceSum" && summed.has(sumKey(before.operands[0]!, reducedAxes(node)))
        ? node
        : split(node),
    );
  },
};

const sumKey = (x: Tensor, axes: readonly number[]): string =>
  `${x.id} ${[...axes].sort((a, b) => a - b)}`;

/**
 * What products that can carry a sum add up of their operands: those of few lines have no tiles
 * that could.
 */
function summedByProducts(program: Program): Set<string> {
  const found = new Set<string>();
  for (const node of nodesOf(program)) {
    if (!isOp(node, "dotGeneral")) continue;
    const { lhsBatch, lhsContract, rhsContract } = node.attrs;
    const lines = node.operands.map((x, i) => linesOf(x, i === 0 ? lhsContract : rhsContract));
    if (lhsBatch.length > 0 || lines.some((n) => n <= skinnyLines)) continue;
    found.add(sumKey(node.operands[0]!, lhsContract));
    found.add(sumKey(node.operands[1]!, rhsContract));
  }
  return found;
}

/** Lines of an operand whose sums a product takes; of unknown number, many. */
function linesOf(x: Tensor, contracted: readonly number[]): number {
  const lines = sizeOf(x.shape.filter((_, axis) => !contracted.includes(axis)));
  return isStatic(lines) ? lines : Infinity;
}

function split(node: Tensor): Tensor {
  if (!splits.has(node.op)) return node;
  const x = node.operands[0]!;
  const axes = reducedAxes(node);
  const [size, results] = [sizeOf(x.shape), sizeOf(node.shape)];
  const trailing = axes.every((axis, i) => axis === x.rank - axes.length + i);
  if (trailing || !isStatic(size) || !isStatic(results) || size < columnSums.leastElements)
    return node;
  const { busyColumns, busyRows, slack } = columnSums;
  const busy = axes.includes(x.rank - 1) ? busyRows : busyColumns;
  if (results === 0 || results >= busy / slack) return node;
  for (const axis of axes) {
    const extent = x.shape[axis] as number;
    const parts = largestDivisor(extent, Math.floor(busy / results));
    if (parts > 1 && results * parts >= busy / slack) return inTwo(node, axis, parts);
  }
  return node;
}

/** Reduces each part of an axis, and then over the parts. */
function inTwo(node: Tensor, axis: number, parts: number): Tensor {
  const { op } = node;
  const dtype = partDtype(node);
  const x = inDtype(node.operands[0]!, dtype);
  const axes = reducedAxes(node);
  const length = (x.shape[axis] as number) / parts;
  const shape = [...x.shape.slice(0, axis), parts, length, ...x.shape.slice(axis + 1)];
  const rows = makeNode({ op: "reshape", operands: [x], attrs: {}, dtype, shape });
  const inner = axes.map((a) => (a >= axis ? a + 1 : a));
  const left = shape.filter((_, a) => !inner.includes(a));
  const some = makeNode({ op, operands: [rows], attrs: { axes: inner }, dtype, shape: left });
  const at = axis - axes.filter((a) => a < axis).length;
  const all = makeNode({ op, operands: [some], attrs: { axes: [at] }, dtype, shape: node.shape });
  return inDtype(all, node.dtype);
}
