/**
 * Orients contractions: the transpose of a product is the product of the operands exchanged, so
 * that the result is stored as it is read and what follows can join its kernel. The gradient of a
 * weight is such a case.
 *
 * before:
 *   graph f(%x: f32[N,4], %g: f32[N,5]) {
 *     %1: f32[5,4] = dotGeneral %g %x {lhsBatch=[], rhsBatch=[], lhsContract=[0], rhsContract=[0]}
 *     %2: f32[4,5] = transpose %1 {perm=[1, 0]}
 *     return %2
 *   }
 * after:
 *   graph f(%x: f32[N,4], %g: f32[N,5]) {
 *     %1: f32[4,5] = dotGeneral %x %g {lhsBatch=[], rhsBatch=[], lhsContract=[0], rhsContract=[0]}
 *     return %1
 *   }
 *
 * A product that is converted first, as a gradient in f16 is, is oriented too. Exact, as factors
 * commute and the order of the sum stays. Not done where the product has another user, which would
 * compute it twice; that is why this is no rule. Run after simplify, before fuse.
 */
import type { Tensor } from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { nodesOf, type Program, rewriteProgram, rootsOf } from "../program.ts";
import { replaceBy } from "../rules/match.ts";

export const orient: Pass = {
  name: "orient",
  run(program) {
    const single = usedOnce(program);
    // A node keeps its place in the order when it is rebuilt, so old and new meet here.
    const sole = new Set<Tensor>();
    const originals = nodesOf(program);
    let i = 0;
    return rewriteProgram(program, (node) => {
      if (single.has(originals[i++]!)) sole.add(node);
      return node.op === "transpose" ? turned(node, sole) : node;
    });
  },
};

/** Nodes with one operand place that reads them, roots counted. */
function usedOnce(program: Program): Set<Tensor> {
  const uses = new Map<Tensor, number>();
  const count = (t: Tensor) => uses.set(t, (uses.get(t) ?? 0) + 1);
  for (const node of nodesOf(program)) node.operands.forEach(count);
  rootsOf(program).forEach(count);
  return new Set([...uses].filter(([, n]) => n === 1).map(([t]) => t));
}

/** A transpose of a product, or of one that is converted, which nothing else reads. */
function turned(node: Tensor, sole: ReadonlySet<Tensor>): Tensor {
  const [x] = node.operands as [Tensor];
  if (!sole.has(x)) return node;
  if (x.op !== "convert") return exchange(node, x);
  const [dot] = x.operands as [Tensor];
  const plain = sole.has(dot) ? exchange(node, dot) : node;
  return plain === node ? node : replaceBy(node, "convert", [plain]);
}

/**
 * The exchanged product, if the transpose moves the free axes of rhs before those of lhs and
 * nothing else.
 */
function exchange(node: Tensor, dot: Tensor): Tensor {
  if (dot.op !== "dotGeneral") return node;
  const { lhsBatch, rhsBatch, lhsContract, rhsContract } = dot.attrs;
  const [lhs, rhs] = dot.operands as [Tensor, Tensor];
  const batch = (lhsBatch as readonly number[]).length;
  const split = lhs.rank - (lhsContract as readonly number[]).length;
  const axes = dot.shape.map((_, i) => i);
  const wanted = [...axes.slice(0, batch), ...axes.slice(split), ...axes.slice(batch, split)];
  if (String(node.attrs.perm) !== String(wanted)) return node;
  return replaceBy(
    node,
    "dotGeneral",
    [rhs, lhs],
    {
      lhsBatch: rhsBatch!,
      rhsBatch: lhsBatch!,
      lhsContract: rhsContract!,
      rhsContract: lhsContract!,
    },
    dot.dtype,
  );
}
