/**
 * Inlining: a `call` is replaced by the body of its region, with the operands in place of the parameters.
 *
 * before:
 *   graph f(%x: f32[2]) {
 *     %1: f32[2] = call %x (%a: f32[2]) {
 *       %2: f32[2] = exp %a
 *       return %2
 *     }
 *     %3: f32[2] = neg %1
 *     return %3
 *   }
 * after:
 *   graph f(%x: f32[2]) {
 *     %1: f32[2] = exp %x
 *     %2: f32[2] = neg %1
 *     return %2
 *   }
 *
 * Run first, so that no later pass meets a region. Bodies may hold further calls and may use nodes from
 * outside; each call gets its own copy, and interning merges what is equal.
 */
import { type Graph, type Tensor, topologicalOrder, withOperands } from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { mapRoots, rootsOf } from "../program.ts";

export const inline: Pass = {
  name: "inline",
  run(program) {
    const done = new Map<Tensor, Tensor>();
    inlineInto(done, rootsOf(program));
    return mapRoots(program, (root) => done.get(root)!);
  },
};

/** Extends `done`, which maps nodes to nodes without calls, to everything that the roots reach. */
function inlineInto(done: Map<Tensor, Tensor>, roots: readonly Tensor[]): void {
  const bodies = new Map<Tensor, readonly Tensor[]>();
  const rebuilt = (node: Tensor) => node.operands.map((t) => done.get(t)!);
  for (const node of topologicalOrder(roots)) {
    if (done.has(node)) continue;
    if (node.op === "call") {
      const results = inlineBody(node.regions[0]!, rebuilt(node));
      bodies.set(node, results);
      done.set(node, results[0]!);
    } else if (node.op === "result" && bodies.has(node.operands[0]!)) {
      done.set(node, bodies.get(node.operands[0]!)![node.attrs.index as number]!);
    } else done.set(node, withOperands(node, rebuilt(node)));
  }
}

function inlineBody(body: Graph, operands: readonly Tensor[]): Tensor[] {
  const done = new Map(body.params.map((param, i) => [param, operands[i]!] as const));
  inlineInto(done, body.results);
  return body.results.map((t) => done.get(t)!);
}
