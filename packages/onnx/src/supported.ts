/**
 * Looks through a whole model, subgraphs and functions included, for ops that no row knows, before anything is built.
 */
import { GraphError } from "@kiln-ml/ir";
import { findRow } from "./ops/index.ts";
import { refused } from "./ops/refused.ts";
import type { Model, NodeDef } from "./proto/model.ts";

/** Throws GraphError with every unsupported op, how often it occurs and where first. */
export function checkSupported(model: Model): void {
  const local = new Set(model.functions.map((f) => `${f.domain}::${f.name}`));
  const missing = new Map<string, string[]>();
  const look = (nodes: readonly NodeDef[]): void => {
    for (const node of nodes) {
      for (const a of node.attributes.values()) {
        if (a.kind === "graph") look(a.value.nodes);
        if (a.kind === "graphs") for (const g of a.value) look(g.nodes);
      }
      if (local.has(`${node.domain}::${node.op}`) || findRow(node.domain, node.op)) continue;
      const op = node.domain ? `${node.domain}.${node.op}` : node.op;
      missing.set(op, [...(missing.get(op) ?? []), node.name || (node.outputs[0] ?? "")]);
    }
  };
  look(model.graph.nodes);
  for (const f of model.functions) look(f.nodes);
  if (!missing.size) return;
  const list = [...missing].map(([op, names]) => {
    const why = refused.get(op);
    const where = `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`;
    return `${op} ×${names.length} (${where})${why ? `: ${why}` : ""}`;
  });
  const count = missing.size === 1 ? "an op is" : `${missing.size} ops are`;
  throw new GraphError(`onnx: ${count} not supported: ${list.join("; ")}`);
}
