/**
 * GraphProto, NodeProto and AttributeProto → plain objects. Checks what one message alone can break; how nodes hang
 * together is checked in `check.ts`.
 */
import { attributeFields, attributeTypes, graphFields, nodeFields } from "./fields.ts";
import type { AttributeDef, GraphDef, NodeDef, TensorDef } from "./model.ts";
import { decodeText, readFields, type Values } from "./read-fields.ts";
import { readSparseMessage } from "./read-sparse.ts";
import { readTensorMessage } from "./read-tensor.ts";
import { readTypeMessage, readValueMessage } from "./read-type.ts";
import { failAt, quote, type Source } from "./source.ts";

/** "ai.onnx" is another name of the standard domain "". */
export const domainOf = (name = ""): string => (name === "ai.onnx" ? "" : name);

export function readGraphMessage(source: Source, end: number): GraphDef {
  const fields = readFields(source, end, graphFields, {
    nodes: readNodeMessage,
    initializers: readTensorMessage,
    inputs: readValueMessage,
    outputs: readValueMessage,
    values: readValueMessage,
    sparseInitializers: readSparseMessage,
  });
  const { at, name = "", nodes, inputs, outputs, values, sparseInitializers } = fields;
  const initializers = sparseInitializers.length
    ? [...fields.initializers, ...sparseInitializers]
    : fields.initializers;
  checkNames(source, at, initializers);
  return { name, nodes, initializers, inputs, outputs, values };
}

function checkNames(source: Source, at: number, initializers: readonly TensorDef[]): void {
  const names = new Set<string>();
  for (const { name } of initializers) {
    if (name === "") failAt(source, at, "an initializer without a name");
    if (names.has(name)) failAt(source, at, `two initializers are named ${quote(name)}`);
    names.add(name);
  }
}

export function readNodeMessage(source: Source, end: number): NodeDef {
  const fields = readFields(source, end, nodeFields, { attributes: readAttributeMessage });
  const { at, op, domain, overload = "", name = "", inputs, outputs } = fields;
  if (!op) return failAt(source, at, `node ${quote(name)} has no op`);
  const attributes = attributesOf(source, at, fields.attributes, `node ${quote(name || op)}`);
  return { op, domain: domainOf(domain), overload, name, inputs, outputs, attributes };
}

const noAttributes: ReadonlyMap<string, AttributeDef> = new Map();

/** By name. Throws ArtifactError for two of one name. */
export function attributesOf(
  source: Source,
  at: number,
  list: readonly (readonly [string, AttributeDef])[],
  what: string,
): ReadonlyMap<string, AttributeDef> {
  if (list.length === 0) return noAttributes;
  const attributes = new Map<string, AttributeDef>();
  for (const [name, value] of list) {
    if (attributes.has(name)) failAt(source, at, `${what} has attribute ${quote(name)} twice`);
    attributes.set(name, value);
  }
  return attributes;
}

const readers = {
  tensor: readTensorMessage,
  graph: readGraphMessage,
  tensors: readTensorMessage,
  graphs: readGraphMessage,
  valueType: (source: Source, end: number) => ({ is: readTypeMessage(source, end) }),
  sparse: readSparseMessage,
  sparses: readSparseMessage,
};
type Fields = Values<typeof attributeFields, typeof readers>;

export function readAttributeMessage(
  source: Source,
  end: number,
): readonly [name: string, AttributeDef] {
  const fields: Fields = readFields(source, end, attributeFields, readers);
  const { at, name, reference } = fields;
  if (!name) return failAt(source, at, "an attribute without a name");
  if (reference) return [name, { kind: "reference", value: reference }];
  return [name, valueOfKind(source, at, fields, kindOf(fields), name)];
}

/** Files of IR version 1 have no type: then the field that is there tells. */
function kindOf(fields: Fields): string {
  const { type } = fields;
  if (type) return attributeTypes[type] ?? `attribute type ${type}`;
  const present = attributeTypes.find((kind) => {
    const value = kind === "undefined" ? undefined : fields[kind];
    const list = Array.isArray(value) || value instanceof Float32Array;
    return list ? value.length > 0 : value !== undefined;
  });
  return present ?? "undefined";
}

function valueOfKind(
  source: Source,
  at: number,
  fields: Fields,
  kind: string,
  name: string,
): AttributeDef {
  const missing = (what: string): never =>
    failAt(source, at, `attribute ${quote(name)} is declared a ${what} and has none`);
  switch (kind) {
    case "float":
    case "int":
      return { kind, value: fields[kind] ?? 0 };
    case "string":
      return stringOf(fields.string ?? new Uint8Array());
    case "floats":
      return { kind, value: Array.from(fields.floats) };
    case "ints":
      return { kind, value: fields.ints };
    case "strings":
      return { kind, value: fields.strings.map((s) => decodeText(source, at, s)) };
    case "tensor":
      return { kind, value: fields.tensor ?? missing("tensor") };
    case "sparse":
      return { kind: "tensor", value: fields.sparse ?? missing("sparse tensor") };
    case "tensors":
      return { kind, value: fields.tensors };
    case "sparses":
      return { kind: "tensors", value: fields.sparses };
    case "graph":
      return { kind, value: fields.graph ?? missing("graph") };
    case "graphs":
      return { kind, value: fields.graphs };
    case "valueType":
      return { kind: "type", value: fields.valueType?.is };
    default:
      return { kind: "other", what: kind };
  }
}

/** Custom ops keep bytes in strings: those are read as something that no standard op asks for. */
function stringOf(bytes: Uint8Array): AttributeDef {
  try {
    return { kind: "string", value: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { kind: "other", what: `${bytes.length} bytes that are not UTF-8` };
  }
}
