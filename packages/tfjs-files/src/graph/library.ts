/**
 * The functions of a GraphDef. A node that calls some has their graphs as attributes; a graph sees
 * its own arguments and constants, and nothing of where it is called.
 */
import type { AttributeDef, GraphDef, NodeDef, TensorDef } from "@kiln-ml/onnx";
import type { Field } from "../file/field.ts";
import { constants, reached, readNodes, resolve, valueName } from "./read-nodes.ts";

export interface Library {
  /** The node with the graphs of the functions that it names. */
  linked(node: NodeDef): NodeDef;
}

/** Functions in functions that are no longer a program. */
const mostDepth = 64;

export function readLibrary(topology: Field, weights: ReadonlyMap<string, TensorDef>): Library {
  const fields = new Map<string, Field>();
  for (const f of topology.maybe("library")?.maybe("function")?.list() ?? [])
    fields.set(f.get("signature").get("name").text(), f);
  const done = new Map<string, GraphDef>();
  const open: string[] = [];

  const graphOf = (name: string, node: NodeDef): GraphDef => {
    const known = done.get(name);
    if (known) return known;
    const field = fields.get(name);
    const called = `calls ${JSON.stringify(name)} in ${node.op} ${JSON.stringify(node.name)}`;
    if (!field) return topology.fail(`${called}, which is no function of its library`);
    if (open.includes(name)) return topology.fail(`${called}, which calls itself`);
    if (open.length >= mostDepth) return topology.fail(`${called}, ${mostDepth} functions deep`);
    open.push(name);
    const graph = readFunction(field, weights, linked);
    open.pop();
    done.set(name, graph);
    return graph;
  };
  const linked = (node: NodeDef): NodeDef => {
    const attributes = new Map<string, AttributeDef>();
    for (const [key, a] of node.attributes)
      attributes.set(
        key,
        a.kind === "reference" ? { kind: "graph", value: graphOf(a.value, node) } : a,
      );
    return { ...node, attributes };
  };
  return { linked };
}

function readFunction(
  field: Field,
  weights: ReadonlyMap<string, TensorDef>,
  linked: (node: NodeDef) => NodeDef,
): GraphDef {
  const signature = field.get("signature");
  const argsOf = (key: string) =>
    signature
      .maybe(key)
      ?.list()
      .map((arg) => arg.get("name").text()) ?? [];
  const inputs = argsOf("inputArg");
  const nodes = readNodes(field.get("nodeDef"));
  const opOf = (name: string) => nodes.get(name)?.op;
  const ret = field.get("ret");
  const wanted = argsOf("outputArg").map((name) => resolve(ret.get(name).text(), opOf));
  const body = reached(nodes, wanted, (name) => inputs.includes(name), field);
  const { initializers, rest } = constants(body, nodes, weights);
  return {
    name: signature.get("name").text(),
    nodes: rest.map(linked),
    initializers,
    inputs: inputs.map((name) => ({ name, type: undefined })),
    outputs: wanted.map((ref) => ({ name: valueName(ref), type: undefined })),
    values: [],
  };
}
