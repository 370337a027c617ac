/**
 * Nodes of a GraphDef, or of a function in its library, as nodes that the importer walks: those
 * that the outputs need, each output under a name of its own. What a node only waits for (`^name`)
 * is left out, as nothing here has side effects.
 */
import type { AttributeDef, NodeDef, TensorDef } from "@kiln-ml/onnx";
import type { Field } from "../file/field.ts";
import { readAttributes } from "./attributes.ts";
import { outputNamesOf } from "./outputs.ts";

/** The domain of TensorFlow's ops among those of the importer. */
export const domain = "tensorflow";

export interface RawNode {
  readonly name: string;
  readonly op: string;
  /** As the file has them, those that are only waited for left out. */
  readonly inputs: readonly string[];
  readonly attributes: ReadonlyMap<string, AttributeDef>;
  readonly field: Field;
}

/** Throws ArtifactError for what is no list of nodes, and for a name that is given twice. */
export function readNodes(list: Field): Map<string, RawNode> {
  const nodes = new Map<string, RawNode>();
  for (const field of list.list()) {
    const name = field.get("name").text();
    if (nodes.has(name)) field.fail(`is a second node named ${JSON.stringify(name)}`);
    const inputs =
      field
        .maybe("input")
        ?.list()
        .map((i) => i.text()) ?? [];
    nodes.set(name, {
      name,
      op: field.get("op").text(),
      inputs: inputs.filter((i) => !i.startsWith("^")),
      attributes: readAttributes(field),
      field,
    });
  }
  return nodes;
}

/** The node that a reference means, and which of its outputs. */
export interface Reference {
  readonly node: string;
  readonly output: number;
}

/**
 * `name`, `name:2`, and in functions `name:arg:2`, where `arg` is one of the op's outputs, which
 * may be a list.
 */
export function resolve(reference: string, opOf: (node: string) => string | undefined): Reference {
  const parts = reference.split(":");
  if (parts.length === 1) return { node: reference, output: 0 };
  const at = Number(parts.at(-1));
  const node = parts[0]!;
  if (parts.length === 2) return { node, output: at };
  const place = outputNamesOf(opOf(node) ?? "").indexOf(parts[1]!);
  return { node, output: Math.max(place, 0) + at };
}

/** The name that the importer has for an output. */
export const valueName = ({ node, output }: Reference): string =>
  output === 0 ? node : `${node}:${output}`;

/** Names that inputs and weights give, beside the nodes. */
export type Given = (name: string) => boolean;

/**
 * The nodes that `wanted` needs, with their outputs. Throws ArtifactError for a name that nothing
 * gives.
 */
export function reached(
  nodes: ReadonlyMap<string, RawNode>,
  wanted: readonly Reference[],
  given: Given,
  where: Field,
): NodeDef[] {
  const outputs = new Map<string, number>();
  const open = wanted.map((ref) => ({ ref, by: undefined as RawNode | undefined }));
  const opOf = (name: string) => nodes.get(name)?.op;
  for (let next = open.pop(); next; next = open.pop()) {
    const { ref, by } = next;
    if (given(ref.node)) continue;
    const node = nodes.get(ref.node);
    if (!node) {
      const what = `needs ${JSON.stringify(ref.node)}, which is no node, input or weight`;
      if (by) by.field.fail(`(${by.op} ${JSON.stringify(by.name)}) ${what}`);
      return where.fail(`${what}\n  convert the model again`);
    }
    if (!(Number.isInteger(ref.output) && ref.output >= 0 && ref.output < mostOutputs))
      node.field.fail(`has no output ${ref.output}`);
    const known = outputs.get(ref.node);
    outputs.set(ref.node, Math.max(known ?? 0, ref.output + 1));
    if (known === undefined)
      for (const input of node.inputs) open.push({ ref: resolve(input, opOf), by: node });
  }
  return [...outputs].map(([name, count]) => {
    const { op, inputs, attributes } = nodes.get(name)!;
    return {
      op,
      domain,
      overload: "",
      name,
      inputs: inputs.map((input) => valueName(resolve(input, opOf))),
      outputs: Array.from({ length: count }, (_, output) => valueName({ node: name, output })),
      attributes,
    };
  });
}

/** No op has as many. */
const mostOutputs = 1 << 16;

/** Const nodes apart from the others, as the weights that they stand for. */
export function constants(
  body: readonly NodeDef[],
  nodes: ReadonlyMap<string, RawNode>,
  weights: ReadonlyMap<string, TensorDef>,
): { initializers: TensorDef[]; rest: NodeDef[] } {
  const initializers: TensorDef[] = [];
  const rest: NodeDef[] = [];
  for (const node of body) {
    if (node.op !== "Const") {
      rest.push(node);
      continue;
    }
    const weight = weights.get(node.name);
    if (!weight)
      return nodes
        .get(node.name)!
        .field.fail(
          `(Const ${JSON.stringify(node.name)}) has no weight of that name in the manifest\n  convert the model again`,
        );
    initializers.push(weight);
  }
  return { initializers, rest };
}
