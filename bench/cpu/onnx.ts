/**
 * Writes the ONNX models of the CPU table: float and int64 tensors, plain nodes, one graph. Protocol-buffer fields are
 * numbered as in onnx.proto3. Reads nothing and knows no operator.
 */

export type Attribute = string | number | readonly number[] | { readonly float: number };
export type Values = Float32Array | BigInt64Array;

export interface Node {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
}

export interface Weights {
  readonly shape: readonly number[];
  readonly values: Values;
}

export interface Graph {
  readonly nodes: readonly Node[];
  readonly weights: Readonly<Record<string, Weights>>;
  readonly inputs: Readonly<Record<string, readonly number[]>>;
  readonly output: {
    readonly name: string;
    readonly shape: readonly number[];
    readonly int64?: boolean;
  };
}

/** TensorProto.DataType. */
const elementType = { float: 1, int64: 7 } as const;
/** AttributeProto.AttributeType. */
const attributeType = { float: 1, int: 2, string: 3, ints: 7 } as const;
const wire = { varint: 0, bytes: 2, fixed32: 5 } as const;

type Message = readonly Uint8Array[];

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const more = rest > 127n ? 128 : 0;
    bytes.push(Number(rest & 127n) | more);
    rest >>= 7n;
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}

const int = (field: number, value: number): Message => [
  varint((field << 3) | wire.varint),
  varint(value),
];

const bytes = (field: number, content: Uint8Array): Message => [
  varint((field << 3) | wire.bytes),
  varint(content.length),
  content,
];

const text = (field: number, value: string): Message =>
  bytes(field, new TextEncoder().encode(value));

const message = (field: number, parts: readonly Message[]): Message => bytes(field, joined(parts));

function float(field: number, value: number): Message {
  const content = new Uint8Array(4);
  new DataView(content.buffer).setFloat32(0, value, true);
  return [varint((field << 3) | wire.fixed32), content];
}

function joined(parts: readonly Message[]): Uint8Array {
  const chunks = parts.flat();
  const out = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

function attribute(name: string, value: Attribute): Message {
  const named = text(1, name);
  if (typeof value === "string")
    return message(5, [named, text(4, value), int(20, attributeType.string)]);
  if (typeof value === "number")
    return message(5, [named, int(3, value), int(20, attributeType.int)]);
  if ("float" in value)
    return message(5, [named, float(2, value.float), int(20, attributeType.float)]);
  return message(5, [named, ...value.map((v) => int(8, v)), int(20, attributeType.ints)]);
}

const node = ({ op, inputs, outputs, attributes = {} }: Node): Message =>
  message(1, [
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
  ]);

const weight = (name: string, { shape, values }: Weights): Message =>
  message(5, [
    ...shape.map((extent) => int(1, extent)),
    int(2, values instanceof Float32Array ? elementType.float : elementType.int64),
    text(8, name),
    bytes(9, new Uint8Array(values.buffer, values.byteOffset, values.byteLength)),
  ]);

/** ValueInfoProto: a name with the type and extents of its tensor. */
function value(field: number, name: string, shape: readonly number[], type: number): Message {
  const extents = message(
    2,
    shape.map((extent) => message(1, [int(1, extent)])),
  );
  return message(field, [text(1, name), message(2, [message(1, [int(1, type), extents])])]);
}

/** The bytes of a model of one graph, for operator set 20. */
export function encodeOnnx({ nodes, weights, inputs, output }: Graph): Uint8Array {
  const type = output.int64 ? elementType.int64 : elementType.float;
  const graph = [
    ...nodes.map(node),
    text(2, "bench"),
    ...Object.entries(weights).map(([name, w]) => weight(name, w)),
    ...Object.entries(inputs).map(([name, shape]) => value(11, name, shape, elementType.float)),
    value(12, output.name, output.shape, type),
  ];
  return joined([int(1, 9), message(7, graph), message(8, [text(1, ""), int(2, 20)])]);
}
