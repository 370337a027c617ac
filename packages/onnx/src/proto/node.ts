/**
 * What is read off a node of a file without knowing its op: how messages call it, the graphs it holds, the function it
 * would call.
 */
import type { GraphDef, NodeDef } from "./model.ts";
import { quote } from "./source.ts";

/** How messages call a node. */
export const nameOf = (node: NodeDef): string =>
  node.name ? `${node.op} ${quote(node.name)}` : `${node.op} of ${quote(node.outputs[0] ?? "")}`;

/** The graphs in the attributes of a node. */
export function graphsIn(node: NodeDef): readonly GraphDef[] {
  const graphs: GraphDef[] = [];
  for (const a of node.attributes.values())
    if (a.kind === "graph") graphs.push(a.value);
    else if (a.kind === "graphs") graphs.push(...a.value);
  return graphs;
}

/** What a function and the nodes that call it have in common. */
export const functionKey = (domain: string, name: string, overload: string): string =>
  JSON.stringify([domain, name, overload]);
