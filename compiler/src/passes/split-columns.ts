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
import { isOp, isStatic, reducedAxes, sizeOf, type Tensor } from "@kiln-ml/ir";
import { skinnyLines } from "../fuse/contraction.ts";
import { columnSums } from "../machine/splits.ts";
import type { Pass } from "../pass.ts";
import { nodesOf, type Program, rewriteProgram } from "../program.ts";
import { inParts, largestDivisor, type Parts, splits } from "./split-reduce.ts";

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

const split = (node: Tensor): Tensor => inParts(node, columnParts(node));

/** Parts of a reduction over other axes than the last ones, where it is worth two kernels. */
export function columnParts(node: Tensor): Parts | undefined {
  if (!splits.has(node.op)) return undefined;
  const x = node.operands[0]!;
  const axes = reducedAxes(node);
  const [size, results] = [sizeOf(x.shape), sizeOf(node.shape)];
  const trailing = axes.every((axis, i) => axis === x.rank - axes.length + i);
  if (trailing || !isStatic(size) || !isStatic(results) || size < columnSums.leastElements)
    return undefined;
  const { busyColumns, busyRows, slack } = columnSums;
  const busy = axes.includes(x.rank - 1) ? busyRows : busyColumns;
  if (results === 0 || results >= busy / slack) return undefined;
  for (const axis of axes) {
    const extent = x.shape[axis] as number;
    const parts = largestDivisor(extent, Math.floor(busy / results));
    if (parts > 1 && results * parts >= busy / slack) return cutAlong(x, axes, axis, parts);
  }
  return undefined;
}

/** One of the reduced axes in so many parts. */
function cutAlong(x: Tensor, axes: readonly number[], axis: number, parts: number): Parts {
  const extents = x.shape as readonly number[];
  const length = extents[axis]! / parts;
  return {
    shape: [...extents.slice(0, axis), parts, length, ...extents.slice(axis + 1)],
    inner: axes.map((a) => (a >= axis ? a + 1 : a)),
    at: axis - axes.filter((a) => a < axis).length,
  };
}
