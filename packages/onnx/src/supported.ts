/**
 * Looks through a whole model, subgraphs and functions included, for ops that no row knows, before
 * anything is built.
 */
import { GraphError } from "@kiln-ml/ir";
import type { Dialect } from "./dialect.ts";
import type { Model, NodeDef } from "./proto/model.ts";

/** Throws GraphError with every unsupported op, how often it occurs and where first. */
export function checkSupported(model: Model, dialect: Dialect): void {
  const { name, noun, find, refused } = dialect;
  const local = new Set(model.functions.map((f) => `${f.domain}::${f.name}`));
  const missing = new Map<string, string[]>();
  const look = (nodes: readonly NodeDef[]): void => {
    for (const node of nodes) {
      for (const a of node.attributes.values()) {
        if (a.kind === "graph") look(a.value.nodes);
        if (a.kind === "graphs") for (const g of a.value) look(g.nodes);
      }
      if (local.has(`${node.domain}::${node.op}`) || find(node.domain, node.op)) continue;
      const own = node.domain === dialect.domain;
      const op = own ? node.op : `${node.domain}.${node.op}`;
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
  const one = `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun} is`;
  const count = missing.size === 1 ? one : `${missing.size} ${noun}s are`;
  throw new GraphError(`${name}: ${count} not supported: ${list.join("; ")}`);
}
