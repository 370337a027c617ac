/**
 * The functions of a model: which calls which, in an order in which none calls a later one, and how many nodes they
 * come to when all calls are replaced by bodies.
 */
import type { FunctionDef, GraphDef, NodeDef } from "./model.ts";
import { functionKey, graphsIn } from "./node.ts";
import { sortByDependencies } from "./sort.ts";
import { quote } from "./source.ts";

export type Fail = (what: string) => never;

/** A dozen lines of functions that call each other twice could ask for more nodes than fit in memory. */
const maxNodes = 1_000_000;

const keyOf = (f: FunctionDef): string => functionKey(f.domain, f.name, f.overload);

/** Functions with those they call before them. Fails for two of one name, and for recursion. */
export function orderFunctions(
  graph: GraphDef,
  functions: readonly FunctionDef[],
  fail: Fail,
): readonly FunctionDef[] {
  if (functions.length === 0) return functions;
  const places = new Map<string, number>();
  functions.forEach((f, i) => {
    if (places.has(keyOf(f))) fail(`two functions are named ${quote(f.name)}`);
    places.set(keyOf(f), i);
  });
  const calls = functions.map((f) => callsIn(f.nodes, places));
  const order = sortByDependencies(
    functions.length,
    (i) => [...calls[i]!.by.keys()],
    (cycle) =>
      fail(`functions call each other: ${cycle.map((i) => quote(functions[i]!.name)).join(", ")}`),
  );
  const sizes = new Map<number, number>();
  const expanded = ({ nodes, by }: Calls): number =>
    [...by].reduce((sum, [callee, times]) => sum + times * sizes.get(callee)!, nodes);
  for (const i of order) sizes.set(i, expanded(calls[i]!));
  const total = expanded(callsIn(graph.nodes, places));
  if (total > maxNodes) fail(`its functions expand to ${total} nodes, more than ${maxNodes}`);
  return order.map((i) => functions[i]!);
}

interface Calls {
  /** Nodes that call no function. */
  readonly nodes: number;
  /** How often each function is called. */
  readonly by: ReadonlyMap<number, number>;
}

function callsIn(nodes: readonly NodeDef[], places: ReadonlyMap<string, number>): Calls {
  const by = new Map<number, number>();
  let plain = 0;
  const visit = (list: readonly NodeDef[]): void => {
    for (const node of list) {
      const callee = places.get(functionKey(node.domain, node.op, node.overload));
      if (callee === undefined) plain++;
      else by.set(callee, (by.get(callee) ?? 0) + 1);
      for (const graph of graphsIn(node)) visit(graph.nodes);
    }
  };
  visit(nodes);
  return { nodes: plain, by };
}
