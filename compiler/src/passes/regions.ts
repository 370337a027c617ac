/**
 * Regions: nodes with regions compute no more than is asked of them.
 *
 * before:
 *   graph f(%x: f32[3,2], %s: f32[2]) {
 *     %1: (f32[2], f32[2], f32[3,2]) = scan %s %s %x {carries=2, xs=1, length=3, reverse=false} (%i: i32[], %a: f32[2], %b: f32[2], %e: f32[2]) {
 *       %2: f32[2] = mul %a %b
 *       %3: f32[2] = add %2 %e
 *       %4: f32[2] = exp %3
 *       return %3, %b, %4
 *     }
 *     %5: f32[2] = result %1 {index=0}
 *     return %5
 *   }
 * after:
 *   graph f(%x: f32[3,2], %s: f32[2]) {
 *     %1: (f32[2]) = scan %s %x %s {carries=1, xs=1, length=3, reverse=false} (%carry: i32[] {name="i"}, %a: f32[2], %e: f32[2], %b: f32[2]) {
 *       %2: f32[2] = mul %a %b
 *       %3: f32[2] = add %2 %e
 *       return %3
 *     }
 *     %4: f32[2] = result %1 {index=0}
 *     return %4
 *   }
 *
 * Results that nobody reads and carries that only feed themselves go; a carry that never changes is
 * read from outside, as are index arithmetic and literals computed inside; scans over the same
 * operands are one, such as a scan and the one that stacks its carries for a gradient; a branch
 * whose condition is known takes the place of the whole.
 */
import { isOp, type Tensor, withOperands, withRegions } from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { mapRoots, nodesOf, type Program, rootsOf } from "../program.ts";
import { hasRegions, throughRegion } from "./in-regions.ts";
import { mergeScans } from "./merge-scans.ts";
import { shrink } from "./shrink.ts";

export const regions: Pass = {
  name: "regions",
  run(program) {
    if (!hasRegions(program)) return program;
    let before = program;
    // What one round takes away, inside or outside, may have been all that another node was for.
    for (let round = 0; round < 8; round++) {
      const after = once(mergeScans(before));
      const same = rootsOf(after).every((t, i) => t === rootsOf(before)[i]);
      if (same) break;
      before = after;
    }
    return before;
  },
};

function once(program: Program): Program {
  const nodes = nodesOf(program);
  const used = usedResults(nodes, rootsOf(program));
  const done = new Map<Tensor, Tensor>();
  const resultsOf = new Map<Tensor, readonly (Tensor | undefined)[]>();
  for (const node of nodes) {
    const from = resultsOf.get(node.operands[0]!);
    if (isOp(node, "result") && from) {
      done.set(node, from[node.attrs.index]!);
      continue;
    }
    const rebuilt = withRegions(
      withOperands(
        node,
        node.operands.map((t) => done.get(t)!),
      ),
      node.regions.map((g) => throughRegion(g, regions.run)),
    );
    const results = node.results && shrink(rebuilt, used.get(node)!);
    if (results) resultsOf.set(node, results);
    done.set(node, results?.[0] ?? rebuilt);
  }
  return mapRoots(program, (root) => done.get(root)!);
}

/** The results of each node that has several which something reads. */
function usedResults(
  nodes: readonly Tensor[],
  roots: readonly Tensor[],
): Map<Tensor, ReadonlySet<number>> {
  const used = new Map<Tensor, Set<number>>();
  for (const t of nodes) if (t.results) used.set(t, new Set());
  // A node that is read itself stands for its first result.
  for (const t of roots) used.get(t)?.add(0);
  for (const t of nodes)
    for (const o of t.operands) used.get(o)?.add(isOp(t, "result") ? t.attrs.index : 0);
  return used;
}
