/** Leaves out what no output needs: rows write operands in full before a reader finds that it needs less of them. */

import type { GraphDef, NodeDef } from "../proto/model.ts";
import { graphsIn } from "../proto/node.ts";

/** Every name that the nodes of a graph read, in graphs inside them too. */
function readsOf(graph: GraphDef): string[] {
  const inner = graph.nodes.flatMap((n) => [...n.inputs, ...graphsIn(n).flatMap(readsOf)]);
  return [...inner, ...graph.outputs.map((o) => o.name)];
}

/** The nodes, of a list in order, that lead to `wanted`; and all names that they read. */
export function prune(
  nodes: readonly NodeDef[],
  wanted: Iterable<string>,
): { readonly nodes: NodeDef[]; readonly read: ReadonlySet<string> } {
  const read = new Set(wanted);
  const kept: NodeDef[] = [];
  for (const node of nodes.toReversed()) {
    if (!node.outputs.some((o) => read.has(o))) continue;
    const pruned = withPrunedGraphs(node);
    kept.push(pruned);
    for (const name of pruned.inputs) read.add(name);
    for (const graph of graphsIn(pruned)) for (const name of readsOf(graph)) read.add(name);
  }
  return { nodes: kept.reverse(), read };
}

function withPrunedGraphs(node: NodeDef): NodeDef {
  if (graphsIn(node).length === 0) return node;
  const attributes = new Map(node.attributes);
  for (const [name, a] of attributes) {
    if (a.kind !== "graph") continue;
    const outputs = a.value.outputs.map((o) => o.name);
    const { nodes } = prune(a.value.nodes, outputs);
    attributes.set(name, { kind: "graph", value: { ...a.value, nodes } });
  }
  return { ...node, attributes };
}
