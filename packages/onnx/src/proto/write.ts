/**
 * Plain objects → ONNX files. Writes what it is given and checks only that data fit their dims: `checkGraph` tells
 * whether nodes hang together. Elements go as raw data, except strings; no data are written to other files.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { ArtifactError } from "@kiln-ml/ir/errors";
import {
  attributeFields,
  attributeTypes,
  dimFields,
  elementFields,
  entryFields,
  functionFields,
  graphFields,
  modelFields,
  nodeFields,
  opsetFields,
  shapeFields,
  tensorTypeFields,
  typeFields,
  valueFields,
} from "./fields.ts";
import {
  type AttributeDef,
  elementTypes,
  type FunctionDef,
  type GraphDef,
  type Model,
  type NodeDef,
  type TensorDef,
  type TypeDef,
  type ValueDef,
} from "./model.ts";
import { each, type Inputs, type WriteMessage, writeFields } from "./write-fields.ts";
import { writeTensorMessage } from "./write-tensor.ts";

/**
 * The bytes of a model file. Reading them again gives an equal model.
 *
 * Throws ArtifactError if a tensor's data do not fit its dims, or an attribute is `other`.
 */
export function writeModel(model: Model): Uint8Array {
  const writer = new BinaryWriter();
  const { irVersion, producer, graph, opsets, metadata, functions } = model;
  writeFields(writer, modelFields, {
    irVersion,
    producer,
    graph: (w) => writeGraph(w, graph),
    opsets: each(opsets, writeOpset),
    metadata: each(metadata, (w, [key, value]) => writeFields(w, entryFields, { key, value })),
    functions: each(functions, writeFunction),
  });
  return writer.finish();
}

/** The bytes of a TensorProto by itself. Throws ArtifactError if the data do not fit the dims. */
export function writeTensor(tensor: TensorDef): Uint8Array {
  const writer = new BinaryWriter();
  writeTensorMessage(writer, tensor);
  return writer.finish();
}

const writeOpset: WriteMessage<readonly [string, number]> = (w, [domain, version]) =>
  writeFields(w, opsetFields, { domain, version });

const writeGraph: WriteMessage<GraphDef> = (writer, graph) =>
  writeFields(writer, graphFields, {
    name: graph.name,
    nodes: each(graph.nodes, writeNode),
    initializers: each(graph.initializers, writeTensorMessage),
    inputs: each(graph.inputs, writeValue),
    outputs: each(graph.outputs, writeValue),
    values: each(graph.values, writeValue),
  });

const writeNode: WriteMessage<NodeDef> = (writer, node) =>
  writeFields(writer, nodeFields, {
    inputs: node.inputs,
    outputs: node.outputs,
    name: node.name || undefined,
    op: node.op,
    domain: node.domain || undefined,
    overload: node.overload || undefined,
    attributes: each(node.attributes, writeAttribute),
  });

const writeFunction: WriteMessage<FunctionDef> = (writer, f) =>
  writeFields(writer, functionFields, {
    name: f.name,
    domain: f.domain,
    overload: f.overload || undefined,
    inputs: f.inputs,
    outputs: f.outputs,
    attributes: f.attributes,
    defaults: each(f.defaults, writeAttribute),
    nodes: each(f.nodes, writeNode),
    opsets: each(f.opsets, writeOpset),
  });

const writeAttribute: WriteMessage<readonly [string, AttributeDef]> = (writer, [name, a]) => {
  if (a.kind === "reference") writeFields(writer, attributeFields, { name, reference: a.value });
  else {
    const field = a.kind === "type" ? "valueType" : a.kind;
    const type = (attributeTypes as readonly string[]).indexOf(field);
    writeFields(writer, attributeFields, { name, type, ...contentOf(name, a) });
  }
};

const utf8 = new TextEncoder();

function contentOf(name: string, a: AttributeDef): Inputs<typeof attributeFields> {
  switch (a.kind) {
    case "float":
    case "int":
    case "floats":
    case "ints":
      return { [a.kind]: a.value };
    case "string":
      return { string: utf8.encode(a.value) };
    case "strings":
      return { strings: a.value.map((s) => utf8.encode(s)) };
    case "tensor":
      return { tensor: (w) => writeTensorMessage(w, a.value) };
    case "tensors":
      return { tensors: each(a.value, writeTensorMessage) };
    case "graph":
      return { graph: (w) => writeGraph(w, a.value) };
    case "graphs":
      return { graphs: each(a.value, writeGraph) };
    case "type":
      return { valueType: (w) => writeType(w, a.value) };
    default:
      throw new ArtifactError(`writeModel: attribute ${JSON.stringify(name)} is not one of ONNX's`);
  }
}

const writeValue: WriteMessage<ValueDef> = (writer, { name, type }) =>
  writeFields(writer, valueFields, { name, type: type && ((w) => writeType(w, type)) });

const writeType: WriteMessage<TypeDef | undefined> = (writer, type) => {
  if (type?.kind === "other")
    throw new ArtifactError(`writeModel: a type that is ${type.what} cannot be written`);
  if (type?.kind === "tensor")
    writeFields(writer, typeFields, { tensor: (w) => writeTensorType(w, type) });
  else if (type)
    writeFields(writer, typeFields, {
      [type.kind]: (w: BinaryWriter) =>
        writeFields(w, elementFields, { of: (element) => writeType(element, type.of) }),
    });
};

const writeTensorType: WriteMessage<TypeDef & { kind: "tensor" }> = (writer, { type, shape }) =>
  writeFields(writer, tensorTypeFields, {
    type: elementTypes.indexOf(type) + 1,
    shape: shape && ((w) => writeFields(w, shapeFields, { dims: each(shape, writeDim) })),
  });

const writeDim: WriteMessage<number | string | undefined> = (writer, d) =>
  writeFields(writer, dimFields, typeof d === "string" ? { symbol: d } : { value: d });
