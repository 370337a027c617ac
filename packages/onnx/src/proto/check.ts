/**
 * How the nodes of a model hang together: each name is given once and before it is used, graphs give what they say,
 * functions do not call themselves. Knows no ops; the model that comes back has its nodes in order.
 */
import { ArtifactError } from "@kiln-ml/ir/errors";
import { type Fail, orderFunctions } from "./check-functions.ts";
import type { AttributeDef, FunctionDef, GraphDef, Model, NodeDef } from "./model.ts";
import { graphsIn, nameOf } from "./node.ts";
import { sortByDependencies } from "./sort.ts";
import { quote } from "./source.ts";

/**
 * The model with the nodes of every graph, and the functions, after what they need. Names may hide those of an outer
 * graph.
 *
 * Throws ArtifactError, beginning with `file`: a name given twice, an input or output that nothing gives, nodes or
 * functions that need each other, functions that expand to too many nodes.
 */
export function checkGraph(model: Model, file = "model"): Model {
  const fail: Fail = (what) => {
    throw new ArtifactError(`${file}: ${what}`);
  };
  const checker = new Checker(fail);
  const graph = checker.graph(model.graph, []);
  const functions = model.functions.map((f) => checker.function(f));
  return { ...model, graph, functions: orderFunctions(graph, functions, fail) };
}

const listed = (names: readonly string[]): string =>
  names.length > 8
    ? `${names.slice(0, 8).join(", ")}, and ${names.length - 8} more`
    : names.join(", ");

/** Names that a graph's outer graphs give, from the innermost out. */
type Scopes = readonly ReadonlySet<string>[];

class Checker {
  readonly #fail: Fail;
  readonly #free = new Map<GraphDef, ReadonlySet<string>>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  graph(graph: GraphDef, outer: Scopes): GraphDef {
    const where = `graph ${quote(graph.name)}`;
    const inputs = graph.inputs.map(({ name }) => name);
    const given = this.#names(inputs, `${where}: input`);
    // An initializer of an input's name is that input's default.
    for (const { name } of graph.initializers) given.add(name);
    const outputs = graph.outputs.map(({ name }) => name);
    return { ...graph, nodes: this.#body(graph.nodes, given, outputs, outer, where) };
  }

  function(f: FunctionDef): FunctionDef {
    const where = `function ${quote(f.name)}`;
    const given = this.#names(f.inputs, `${where}: input`);
    return { ...f, nodes: this.#body(f.nodes, given, f.outputs, [], where) };
  }

  #names(list: readonly string[], what: string): Set<string> {
    const names = new Set<string>();
    for (const name of list) {
      if (names.has(name)) this.#fail(`${what} ${quote(name)} is declared twice`);
      names.add(name);
    }
    return names;
  }

  /** The node that gives each name. */
  #producers(
    nodes: readonly NodeDef[],
    given: ReadonlySet<string>,
    where: string,
  ): ReadonlyMap<string, number> {
    const producers = new Map<string, number>();
    nodes.forEach((node, i) => {
      for (const name of node.outputs) {
        if (name === "") continue;
        if (producers.has(name) || given.has(name))
          this.#fail(`${where}: ${quote(name)}, which ${nameOf(node)} gives, is given twice`);
        producers.set(name, i);
      }
    });
    return producers;
  }

  /** The nodes in order, their graphs checked. */
  #body(
    nodes: readonly NodeDef[],
    given: Set<string>,
    outputs: readonly string[],
    outer: Scopes,
    where: string,
  ): readonly NodeDef[] {
    const producers = this.#producers(nodes, given, where);
    const known = (name: string): boolean =>
      producers.has(name) || given.has(name) || outer.some((names) => names.has(name));
    for (const name of outputs)
      if (!known(name)) this.#fail(`${where}: output ${quote(name)} is given by no node`);
    const needs = (i: number): readonly number[] => {
      const found: number[] = [];
      for (const name of this.#needed(nodes[i]!)) {
        const producer = producers.get(name);
        if (producer !== undefined) found.push(producer);
        else if (!known(name))
          this.#fail(`${where}: ${nameOf(nodes[i]!)} needs ${quote(name)}, which nothing gives`);
      }
      return found;
    };
    const order = sortByDependencies(nodes.length, needs, (cycle) =>
      this.#fail(`${where}: nodes need each other: ${listed(cycle.map((i) => nameOf(nodes[i]!)))}`),
    );
    const inner: Scopes = [new Set([...given, ...producers.keys()]), ...outer];
    return order.map((i) => this.#withGraphs(nodes[i]!, inner));
  }

  /** Every name a node reads, in its graphs too. */
  #needed(node: NodeDef): ReadonlySet<string> {
    const names = new Set(node.inputs);
    names.delete("");
    for (const graph of graphsIn(node)) for (const name of this.#freeIn(graph)) names.add(name);
    return names;
  }

  /** The names that a graph reads from outside. */
  #freeIn(graph: GraphDef): ReadonlySet<string> {
    const found = this.#free.get(graph);
    if (found) return found;
    const free = new Set<string>();
    for (const node of graph.nodes) for (const name of this.#needed(node)) free.add(name);
    for (const { name } of graph.outputs) free.add(name);
    for (const node of graph.nodes) for (const name of node.outputs) free.delete(name);
    for (const { name } of [...graph.inputs, ...graph.initializers]) free.delete(name);
    this.#free.set(graph, free);
    return free;
  }

  #withGraphs(node: NodeDef, scopes: Scopes): NodeDef {
    if (graphsIn(node).length === 0) return node;
    const attributes = new Map<string, AttributeDef>();
    for (const [name, a] of node.attributes)
      if (a.kind === "graph") attributes.set(name, { ...a, value: this.graph(a.value, scopes) });
      else if (a.kind === "graphs")
        attributes.set(name, { ...a, value: a.value.map((g) => this.graph(g, scopes)) });
      else attributes.set(name, a);
    return { ...node, attributes };
  }
}
