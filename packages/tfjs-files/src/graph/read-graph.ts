/**
 * A GraphDef with its weights as a model that the importer walks: weights are what Const nodes
 * give, functions of the library become graphs in the attributes of the nodes that call them.
 */
import type { Model, TensorDef, ValueDef } from "@kiln-ml/onnx";
import type { Field } from "../file/field.ts";
import { shapeOf, typeText } from "./attributes.ts";
import { readLibrary } from "./library.ts";
import {
  constants,
  domain,
  type RawNode,
  type Reference,
  reached,
  readNodes,
  resolve,
  valueName,
} from "./read-nodes.ts";
import { elementOf } from "./types.ts";

/** Inputs and outputs that the file names: the signature, where there is one. */
export interface Signature {
  readonly inputs?: Field | undefined;
  readonly outputs?: Field | undefined;
}

const isPlaceholder = ({ op }: RawNode): boolean => op === "Placeholder";

/** The nodes' names in a signature, without the number of the output. */
const namesIn = (part: Field | undefined): readonly string[] | undefined => {
  const names = part?.entries().map(([key, field]) => field.maybe("name")?.text() ?? key);
  return names?.length ? names : undefined;
};

/** A placeholder as a declared input. */
function inputOf(node: RawNode): ValueDef {
  const dtype = node.attributes.get("dtype");
  const type = dtype?.kind === "type" ? dtype.value : undefined;
  const shape = node.field.maybe("attr")?.maybe("shape")?.maybe("shape");
  const dims = shape && shapeOf(shape);
  if (type?.kind !== "tensor")
    return node.field.fail(
      `(Placeholder ${JSON.stringify(node.name)}) is ${type?.kind === "other" ? type.what : "of no type"}, which a caller cannot give`,
    );
  return {
    name: node.name,
    type: { ...type, ...(dims ? { shape: dims.map((d) => (d < 0 ? undefined : d)) } : {}) },
  };
}

/** Nodes that no other reads, in the order of the file. */
function leavesOf(nodes: ReadonlyMap<string, RawNode>): Reference[] {
  const opOf = (name: string) => nodes.get(name)?.op;
  const read = new Set(
    [...nodes.values()].flatMap((n) => n.inputs.map((i) => resolve(i, opOf).node)),
  );
  const idle = new Set(["Const", "NoOp", "Placeholder", "Assert"]);
  return [...nodes.values()]
    .filter((n) => !read.has(n.name) && !idle.has(n.op))
    .map((n) => ({ node: n.name, output: 0 }));
}

/** Throws ArtifactError for a graph that does not hang together. */
export function readGraph(
  topology: Field,
  signature: Signature,
  weights: ReadonlyMap<string, TensorDef>,
): Model {
  const nodes = readNodes(topology.get("node"));
  const opOf = (name: string) => nodes.get(name)?.op;
  const named = namesIn(signature.outputs)?.map((name) => resolve(name, opOf));
  const wanted = named ?? leavesOf(nodes);
  if (!wanted.length) topology.fail("has no outputs");
  const inputs = inputsOf(nodes, signature);
  const known = new Set(inputs.map((i) => i.name));
  const body = reached(nodes, wanted, (name) => known.has(name), topology);
  const { initializers, rest } = constants(body, nodes, weights);
  const library = readLibrary(topology, weights);
  return {
    irVersion: 0,
    producer: "tensorflow",
    opsets: new Map([
      ["", 21],
      [domain, 1],
    ]),
    graph: {
      name: "",
      nodes: rest.map((node) => library.linked(node)),
      initializers,
      inputs,
      outputs: outputsOf(wanted, signature),
      values: [],
    },
    functions: [],
    metadata: new Map(),
  };
}

function inputsOf(nodes: ReadonlyMap<string, RawNode>, signature: Signature): ValueDef[] {
  const placeholders = [...nodes.values()].filter(isPlaceholder);
  const named = namesIn(signature.inputs)?.map((name) => name.split(":")[0]!);
  const order = named ?? [];
  const rank = (n: RawNode) => (order.includes(n.name) ? order.indexOf(n.name) : order.length);
  // Those that are outside of the signature are asked for only where the outputs need them.
  return placeholders
    .filter((n) => !named || named.includes(n.name))
    .sort((a, b) => rank(a) - rank(b))
    .map(inputOf);
}

/** Outputs by the names of their nodes, with the types and shapes that the signature declares. */
function outputsOf(wanted: readonly Reference[], { outputs }: Signature): ValueDef[] {
  const fields = outputs?.entries() ?? [];
  const seen = new Set<string>();
  return wanted.flatMap((ref, i) => {
    const name = valueName(ref);
    if (seen.has(name)) return [];
    seen.add(name);
    const declared = fields[i]?.[1].maybe("tensorShape");
    const dims = declared && shapeOf(declared);
    const shape = dims?.map((d) => (d < 0 ? undefined : d));
    const dtype = fields[i]?.[1].maybe("dtype");
    const type = dtype && elementOf(typeText(dtype));
    return [{ name, type: shape && type ? { kind: "tensor", type, shape } : undefined }];
  });
}
