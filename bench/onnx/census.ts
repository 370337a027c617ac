/**
 * What a model consists of: its ops, subgraphs and functions included, and its element types. From that follows whether a
 * case can be held against a browser at all; names of cases decide nothing.
 */
import type {
  AttributeDef,
  FunctionDef,
  GraphDef,
  Model,
  NodeDef,
  TensorDef,
  TypeDef,
} from "../../packages/onnx/src/proto/model.ts";
import { elementTypes } from "../../packages/onnx/src/proto/model.ts";
import type { Tensors, TensorValue } from "./values.ts";

export interface Census {
  /** Nodes by op, "domain.Op" where the domain is not the standard one. Calls of the model's own functions are left out. */
  readonly ops: ReadonlyMap<string, number>;
  readonly types: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
}

interface Tally {
  readonly ops: Map<string, number>;
  readonly types: Set<string>;
  readonly domains: Set<string>;
  readonly functions: ReadonlySet<string>;
}

/** Integer attributes that name an element type. */
const typeAttributes = new Set(["to", "dtype", "output_dtype"]);

export const opName = (node: Pick<NodeDef, "op" | "domain">): string =>
  node.domain ? `${node.domain}.${node.op}` : node.op;

function countType(type: TypeDef | undefined, tally: Tally): void {
  if (!type) return;
  if (type.kind === "tensor") tally.types.add(type.type);
  else if (type.kind === "other") tally.types.add(type.what);
  else countType(type.of, tally);
}

const countTensor = (t: TensorDef, tally: Tally): unknown => tally.types.add(t.type);

function countAttribute(name: string, attribute: AttributeDef, tally: Tally): void {
  if (attribute.kind === "graph") countGraph(attribute.value, tally);
  else if (attribute.kind === "graphs") for (const g of attribute.value) countGraph(g, tally);
  else if (attribute.kind === "tensor") countTensor(attribute.value, tally);
  else if (attribute.kind === "tensors") for (const t of attribute.value) countTensor(t, tally);
  else if (attribute.kind === "type") countType(attribute.value, tally);
  else if (attribute.kind === "int" && typeAttributes.has(name)) {
    const type = elementTypes[attribute.value - 1];
    if (type) tally.types.add(type);
  }
}

function countNodes(nodes: readonly NodeDef[], tally: Tally): void {
  for (const node of nodes) {
    const name = opName(node);
    if (!tally.functions.has(name)) tally.ops.set(name, (tally.ops.get(name) ?? 0) + 1);
    tally.domains.add(node.domain);
    for (const [key, attribute] of node.attributes) countAttribute(key, attribute, tally);
  }
}

function countGraph(graph: GraphDef, tally: Tally): void {
  for (const t of graph.initializers) countTensor(t, tally);
  for (const v of [...graph.inputs, ...graph.outputs, ...graph.values]) countType(v.type, tally);
  countNodes(graph.nodes, tally);
}

export function censusOf(model: Model): Census {
  const name = ({ domain, name }: FunctionDef) => (domain ? `${domain}.${name}` : name);
  const functions = new Set(model.functions.map(name));
  const tally: Tally = { ops: new Map(), types: new Set(), domains: new Set(), functions };
  countGraph(model.graph, tally);
  for (const f of model.functions) countNodes(f.nodes, tally);
  return tally;
}

/** Results of these depend on a generator that ONNX leaves open. */
const random = new Set([
  "Bernoulli",
  "Multinomial",
  "RandomNormal",
  "RandomNormalLike",
  "RandomUniform",
  "RandomUniformLike",
]);

const typeReasons: readonly (readonly [RegExp, string])[] = [
  [/^string$/, "strings"],
  [/^float8|^float4/, "8-bit and 4-bit floats"],
  [/^u?int2$/, "2-bit integers"],
  [/^complex/, "complex numbers"],
  [/^map/, "maps"],
  [/^sparse/, "sparse tensors"],
];

const numberOf = (t: TensorValue | undefined): number | undefined =>
  t && t.data.length === 1 ? Number(t.data[0]) : undefined;

/** Whether a Dropout draws: it is told to train, with a ratio that is not 0. */
function dropsOut(graph: GraphDef, inputs: Tensors): boolean {
  const known = (name: string | undefined): number | undefined => {
    const fed = name ? inputs[name] : undefined;
    if (fed && "data" in fed) return numberOf(fed);
    const constant = graph.nodes.find((n) => n.op === "Constant" && n.outputs[0] === name);
    const value = constant?.attributes.get("value");
    if (value?.kind === "tensor") return numberOf(value.value);
    return numberOf(graph.initializers.find((t) => t.name === name));
  };
  return graph.nodes.some(
    (n) =>
      n.op === "Dropout" && n.inputs[2] && known(n.inputs[2]) !== 0 && known(n.inputs[1]) !== 0,
  );
}

/** Why a case is not run, for any target; undefined if it is. */
export function exclusionOf(model: Model, census: Census, inputs: Tensors): string | undefined {
  if (census.domains.has("ai.onnx.preview.training")) return "training-only preview";
  for (const [pattern, reason] of typeReasons)
    if ([...census.types].some((type) => pattern.test(type))) return reason;
  if ([...census.ops.keys()].some((op) => random.has(op)) || dropsOut(model.graph, inputs))
    return "random results";
  return undefined;
}

/** What a target cannot hold although others can. */
export const targetExclusion = (census: Census, target: string): string | undefined =>
  target === "webgpu" && census.types.has("float64") ? "WebGPU has no 64-bit floats" : undefined;
