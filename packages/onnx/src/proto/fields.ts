/**
 * The messages of onnx.proto as tables: the name we give a field, its number, its kind. What is not here is skipped
 * by the reader and never written: documentation, training, quantisation annotations, device configurations.
 */

/** `…s` kinds are repeated fields; numbers among them may be packed or not. `int` is int64 and every enum. */
export type Kind =
  | "text"
  | "texts"
  | "bytes"
  | "byteLists"
  | "int"
  | "ints"
  | "float"
  | "floats"
  | "doubles"
  | "int32s"
  | "int64s"
  | "uint64s"
  | "message"
  | "messages";

export type Fields = Readonly<Record<string, readonly [number: number, kind: Kind]>>;

export const modelFields = {
  irVersion: [1, "int"],
  producer: [2, "text"],
  graph: [7, "message"],
  opsets: [8, "messages"],
  metadata: [14, "messages"],
  functions: [25, "messages"],
} as const satisfies Fields;

/** OperatorSetIdProto. */
export const opsetFields = { domain: [1, "text"], version: [2, "int"] } as const satisfies Fields;

/** StringStringEntryProto. */
export const entryFields = { key: [1, "text"], value: [2, "text"] } as const satisfies Fields;

export const graphFields = {
  nodes: [1, "messages"],
  name: [2, "text"],
  initializers: [5, "messages"],
  inputs: [11, "messages"],
  outputs: [12, "messages"],
  values: [13, "messages"],
  sparseInitializers: [15, "messages"],
} as const satisfies Fields;

export const nodeFields = {
  inputs: [1, "texts"],
  outputs: [2, "texts"],
  name: [3, "text"],
  op: [4, "text"],
  attributes: [5, "messages"],
  domain: [7, "text"],
  overload: [8, "text"],
} as const satisfies Fields;

export const functionFields = {
  name: [1, "text"],
  inputs: [4, "texts"],
  outputs: [5, "texts"],
  attributes: [6, "texts"],
  nodes: [7, "messages"],
  opsets: [9, "messages"],
  domain: [10, "text"],
  defaults: [11, "messages"],
  overload: [13, "text"],
} as const satisfies Fields;

export const attributeFields = {
  name: [1, "text"],
  float: [2, "float"],
  int: [3, "int"],
  string: [4, "bytes"],
  tensor: [5, "message"],
  graph: [6, "message"],
  floats: [7, "floats"],
  ints: [8, "ints"],
  strings: [9, "byteLists"],
  tensors: [10, "messages"],
  graphs: [11, "messages"],
  valueType: [14, "message"],
  type: [20, "int"],
  reference: [21, "text"],
  sparse: [22, "message"],
  sparses: [23, "messages"],
} as const satisfies Fields;

/** AttributeProto.AttributeType: what is in the field of that name in `attributeFields`. */
export const attributeTypes = [
  "undefined",
  "float",
  "int",
  "string",
  "tensor",
  "graph",
  "floats",
  "ints",
  "strings",
  "tensors",
  "graphs",
  "sparse",
  "sparses",
  "valueType",
] as const;

export const valueFields = { name: [1, "text"], type: [2, "message"] } as const satisfies Fields;

/** TypeProto; a field of it holds what kind of type it is. */
export const typeFields = {
  tensor: [1, "message"],
  sequence: [4, "message"],
  map: [5, "message"],
  opaque: [7, "message"],
  sparse: [8, "message"],
  optional: [9, "message"],
} as const satisfies Fields;

export const tensorTypeFields = {
  type: [1, "int"],
  shape: [2, "message"],
} as const satisfies Fields;

export const shapeFields = { dims: [1, "messages"] } as const satisfies Fields;
export const dimFields = { value: [1, "int"], symbol: [2, "text"] } as const satisfies Fields;

/** TypeProto.Sequence and TypeProto.Optional. */
export const elementFields = { of: [1, "message"] } as const satisfies Fields;

export const tensorFields = {
  dims: [1, "ints"],
  type: [2, "int"],
  segment: [3, "message"],
  floats: [4, "floats"],
  int32s: [5, "int32s"],
  strings: [6, "byteLists"],
  int64s: [7, "int64s"],
  name: [8, "text"],
  raw: [9, "bytes"],
  doubles: [10, "doubles"],
  uint64s: [11, "uint64s"],
  external: [13, "messages"],
  location: [14, "int"],
} as const satisfies Fields;

export const sparseFields = {
  values: [1, "message"],
  indices: [2, "message"],
  dims: [3, "ints"],
} as const satisfies Fields;

export const sequenceFields = {
  name: [1, "text"],
  type: [2, "int"],
  tensors: [3, "messages"],
  sparse: [4, "messages"],
  sequences: [5, "messages"],
  maps: [6, "messages"],
  optionals: [7, "messages"],
} as const satisfies Fields;

export const optionalFields = {
  name: [1, "text"],
  type: [2, "int"],
  tensor: [3, "message"],
  sparse: [4, "message"],
  sequence: [5, "message"],
  map: [6, "message"],
  optional: [7, "message"],
} as const satisfies Fields;
