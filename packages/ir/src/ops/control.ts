/**
 * Control: `call` runs a graph that the node holds, `result` reads one of its results. A call means
 * its body with the parameters replaced; `inlineCalls` does that, before differentiation and before
 * fusion.
 */
import { isOp } from "../attributes.ts";
import { DtypeError, GraphError, ShapeError } from "../errors.ts";
import {
  type Graph,
  makeNode,
  type NodeParts,
  type ResultType,
  Tensor,
  topologicalOrder,
  withOperands,
} from "../node.ts";
import { defineOp } from "../op.ts";
import { printShape, sameShape } from "../shape.ts";
import { currentValue } from "../trace.ts";
import { checkCount } from "./apply.ts";

// Neither has a value or a gradient of its own: both are gone once calls are inlined.
defineOp({
  name: "call",
  family: "control",
  infer(operands, _attrs, node) {
    if (!node) throw new GraphError("call: the result types are missing");
    if (node instanceof Tensor && node.regions[0]) checkArguments(node.regions[0], operands);
    return { dtype: node.dtype, shape: node.shape };
  },
});

defineOp({
  name: "result",
  family: "control",
  infer(operands, attrs) {
    checkCount("result", operands, 1);
    const results = operands[0]!.results ?? [operands[0]!];
    const type = results[attrs.index as number];
    if (!type)
      throw new GraphError(
        `result: index ${String(attrs.index)} is outside the ${results.length} results of ${operands[0]!.op}\n  count results from 0`,
      );
    return { dtype: type.dtype, shape: type.shape };
  },
});

function checkArguments(graph: Graph, operands: readonly Tensor[]): void {
  if (graph.params.length !== operands.length)
    throw new GraphError(
      `call: the graph takes ${graph.params.length} operands, got ${operands.length}\n  pass one operand for each of its parameters`,
    );
  for (const [i, p] of graph.params.entries()) {
    const t = operands[i]!;
    if (!sameShape(p.shape, t.shape))
      throw new ShapeError(
        `call: operand ${i} is ${printShape(t.shape)}, the graph takes ${printShape(p.shape)}\n  reshape it, or build the graph for that shape`,
      );
    if (p.dtype !== t.dtype)
      throw new DtypeError(
        `call: operand ${i} is ${t.dtype}, the graph takes ${p.dtype}\n  convert it, or build the graph for that dtype`,
      );
  }
}

/** Rebuilds a node with other regions; the same node if none changed. */
export function withRegions(node: Tensor, regions: readonly Graph[]): Tensor {
  if (regions.every((g, i) => g === node.regions[i])) return node;
  const { op, operands, attrs, dtype, shape, results } = node;
  return makeNode({ op, operands, attrs, dtype, shape, regions, ...(results ? { results } : {}) });
}

/** A node that holds regions, as the list of its results. */
export function resultsOf(
  parts: Pick<NodeParts, "op" | "operands" | "attrs" | "regions">,
  types: readonly ResultType[],
): Tensor[] {
  const results = types.map(({ dtype, shape }) => ({ dtype, shape }));
  const node = makeNode({ ...parts, ...results[0]!, results });
  return results.map((type, index) =>
    makeNode({ op: "result", operands: [node], attrs: { index }, ...type }),
  );
}

/** The results of `graph` for these operands, as one node that is inlined later. */
export function call(graph: Graph, operands: readonly Tensor[]): Tensor[] {
  const read = operands.map(currentValue);
  checkArguments(graph, read);
  if (!graph.results.length)
    throw new GraphError("call: the graph has no results\n  return a tensor from the function");
  return resultsOf({ op: "call", operands: read, attrs: {}, regions: [graph] }, graph.results);
}

/** The roots with every node in `by` replaced; what lies behind a replaced node is not entered. */
export function replaceNodes(roots: readonly Tensor[], by: ReadonlyMap<Tensor, Tensor>): Tensor[] {
  const done = new Map(by);
  for (const node of topologicalOrder(roots, (t) => by.has(t)))
    if (!done.has(node)) done.set(node, rebuilt(node, done));
  return roots.map((t) => done.get(t)!);
}

const rebuilt = (node: Tensor, done: ReadonlyMap<Tensor, Tensor>): Tensor =>
  withOperands(
    node,
    node.operands.map((t) => done.get(t) ?? t),
  );

const inlinedGraphs = new WeakMap<Graph, Graph>();

/** The graph without calls; the same one if it had none. */
function inlineGraph(graph: Graph): Graph {
  const known = inlinedGraphs.get(graph);
  if (known) return known;
  const results = inlineCalls(graph.results);
  const same = results.every((t, i) => t === graph.results[i]);
  const flat = same ? graph : { params: graph.params, results };
  inlinedGraphs.set(graph, flat);
  return flat;
}

/**
 * The roots with every call replaced by its body, to any depth. The same nodes if there are no
 * calls. What lies behind a node where `leaf` holds is not entered.
 */
export function inlineCalls(
  roots: readonly Tensor[],
  leaf: (t: Tensor) => boolean = () => false,
): Tensor[] {
  const done = new Map<Tensor, Tensor>();
  const bodies = new Map<Tensor, readonly Tensor[]>();
  for (const node of topologicalOrder(roots, leaf)) {
    if (leaf(node)) {
      done.set(node, node);
      continue;
    }
    if (node.op === "call") {
      const graph = node.regions[0]!;
      const operands = node.operands.map((t) => done.get(t)!);
      const by = new Map(graph.params.map((p, i) => [p, operands[i]!] as const));
      const body = inlineCalls(replaceNodes(graph.results, by));
      bodies.set(node, body);
      done.set(node, body[0]!);
      continue;
    }
    const body = isOp(node, "result") && bodies.get(node.operands[0]!)?.[node.attrs.index];
    const flat = body || rebuilt(node, done);
    done.set(node, flat.regions.length ? withRegions(flat, flat.regions.map(inlineGraph)) : flat);
  }
  return roots.map((t) => done.get(t)!);
}
