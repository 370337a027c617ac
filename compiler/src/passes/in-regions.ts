/**
 * Runs graph passes inside regions as well, to any depth. A region is a program without updates:
 * its parameters are the inputs, its results the outputs.
 */
import { type Graph, type Tensor, withRegions } from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { nodesOf, type Program, rewriteProgram } from "../program.ts";

export const hasRegions = (program: Program): boolean =>
  nodesOf(program).some((t) => t.regions.length > 0);

/** The region that `run` makes of one; the same if nothing changed. */
export function throughRegion(region: Graph, run: Pass["run"]): Graph {
  const program = run({
    inputs: region.params,
    outputs: region.results.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  });
  const results = program.outputs.map((o) => o.value);
  const same = results.every((t, i) => t === region.results[i]);
  return same ? region : { params: region.params, results };
}

/** The pass, run on a program and on all regions in it. */
export function inRegions(pass: Pass): Pass {
  const run: Pass["run"] = (program, choices, bindings) => {
    const next = pass.run(program, choices, bindings);
    const graph = (region: Graph): Graph => throughRegion(region, (p) => run(p, choices, bindings));
    const enter = (node: Tensor): Tensor => withRegions(node, node.regions.map(graph));
    return hasRegions(next) ? rewriteProgram(next, enter) : next;
  };
  return { name: pass.name, run };
}
