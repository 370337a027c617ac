/**
 * Checks that a graph is one: every node has the type its record infers, every input that is read belongs to
 * the graph or to one around it, and regions fit the node that holds them. Run between passes and after
 * parsing; it repairs nothing.
 */
import { checkAttributes } from "./attribute-forms.ts";
import { GraphError } from "./errors.ts";
import { type Graph, type ResultType, Tensor, topologicalOrder } from "./node.ts";
import { hasOp, opRecord } from "./op.ts";
import { printType } from "./print.ts";
import { sameShape } from "./shape.ts";
import type { Updates } from "./trace.ts";

const sameType = (a: ResultType, b: ResultType): boolean =>
  a.dtype === b.dtype && sameShape(a.shape, b.shape);

/** Throws unless the node's type is what its record says. */
export function checkNode(node: Tensor): void {
  if (!hasOp(node.op)) throw new GraphError(`verify: there is no op ${JSON.stringify(node.op)}`);
  const type = opRecord(node.op).infer(node.operands, node.attrs, node);
  checkAttributes(node.op, node.attrs);
  if (!sameType(type, node))
    throw new GraphError(
      `verify: ${node.op} has type ${printType(node)}, its operands give ${printType(type)}`,
    );
  if (node.results && !(node.results[0] && sameType(node.results[0], node)))
    throw new GraphError(`verify: ${node.op} is not typed as the first of its results`);
  for (const region of node.regions) checkRegion(node, region);
}

function checkRegion(node: Tensor, region: Graph): void {
  for (const p of region.params)
    if (p.op !== "input")
      throw new GraphError(`verify: ${node.op} has a region with a ${p.op} as parameter`);
  if (node.op !== "call") return;
  const types = node.results ?? [node];
  compare("parameters", region.params, "operands", node.operands);
  compare("results", region.results, "types", types);
}

function compare(
  what: string,
  inner: readonly ResultType[],
  whose: string,
  outer: readonly ResultType[],
): void {
  const fits = inner.length === outer.length && inner.every((t, i) => sameType(t, outer[i]!));
  if (!fits)
    throw new GraphError(
      `verify: call has region ${what} (${inner.map(printType)}) and ${whose} (${outer.map(printType)})`,
    );
}

/** Throws GraphError, ShapeError or DtypeError at the first node that is out of order. */
export function verifyGraph(graph: Graph, updates: Updates = new Map()): void {
  for (const [target, value] of updates)
    if (target.op !== "param" || !sameType(target, value))
      throw new GraphError(
        `verify: assignment of ${printType(value)} to ${target.op} ${printType(target)}`,
      );
  verifyScope([...graph.results, ...updates.values()], new Set(graph.params));
}

function verifyScope(roots: readonly Tensor[], visible: ReadonlySet<Tensor>): void {
  for (const node of topologicalOrder(roots)) {
    if (!(node instanceof Tensor)) throw new GraphError("verify: an operand is not a node");
    checkNode(node);
    if (node.op === "input" && !visible.has(node))
      throw new GraphError(
        `verify: input ${String(node.attrs.name)} is read but is no parameter of the graph`,
      );
    for (const g of node.regions) verifyScope(g.results, new Set([...visible, ...g.params]));
  }
}
