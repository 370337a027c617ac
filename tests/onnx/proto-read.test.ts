/** Every encoding that TensorProto has, external data, sparse tensors, attributes and types as the reader gives them. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  attributeFields,
  entryFields,
  type Fields,
  graphFields,
  modelFields,
  nodeFields,
  optionalFields,
  sequenceFields,
  sparseFields,
  tensorFields,
  tensorTypeFields,
  typeFields,
  valueFields,
} from "../../packages/onnx/src/proto/fields.ts";
import type { AttributeDef, ElementType } from "../../packages/onnx/src/proto/model.ts";
import { elementTypes } from "../../packages/onnx/src/proto/model.ts";
import {
  readModel,
  readOptional,
  readSequence,
  readTensor,
} from "../../packages/onnx/src/proto/read.ts";
import { type Inputs, writeFields } from "../../packages/onnx/src/proto/write-fields.ts";

const part =
  <F extends Fields>(fields: F, inputs: Inputs<F>) =>
  (writer: BinaryWriter): void =>
    writeFields(writer, fields, inputs);

function bytes<F extends Fields>(fields: F, inputs: Inputs<F>): Uint8Array {
  const writer = new BinaryWriter();
  writeFields(writer, fields, inputs);
  return writer.finish();
}

const code = (type: ElementType): number => elementTypes.indexOf(type) + 1;
type TensorInputs = Inputs<typeof tensorFields>;

const tensorBytes = (type: ElementType, dims: readonly number[], data: TensorInputs): Uint8Array =>
  bytes(tensorFields, { dims, type: code(type), name: "t", ...data });

const dataOf = (type: ElementType, dims: readonly number[], data: TensorInputs) =>
  readTensor(tensorBytes(type, dims, data)).data;

test("numbers are read from the field of their type", () => {
  assert.equal(dataOf("float32", [2], { floats: [1.5, -2] }), Float32Array.of(1.5, -2));
  assert.equal(dataOf("float64", [1], { doubles: [0.1] }), Float64Array.of(0.1));
  assert.equal(dataOf("int8", [2], { int32s: [-128, 127] }), Int8Array.of(-128, 127));
  assert.equal(dataOf("uint16", [1], { int32s: [65535] }), Uint16Array.of(65535));
  assert.equal(dataOf("int32", [1], { int32s: [-5] }), Int32Array.of(-5));
  assert.equal(dataOf("bool", [3], { int32s: [1, 0, 1] }), Uint8Array.of(1, 0, 1));
  assert.equal(dataOf("float16", [1], { int32s: [0x3c00] }), Uint16Array.of(0x3c00));
  assert.equal(dataOf("bfloat16", [1], { int32s: [0x3f80] }), Uint16Array.of(0x3f80));
  assert.equal(dataOf("int64", [1], { int64s: [-(2n ** 63n)] }), BigInt64Array.of(-(2n ** 63n)));
  assert.equal(dataOf("uint32", [1], { uint64s: [2 ** 32 - 1] }), Uint32Array.of(2 ** 32 - 1));
  assert.equal(
    dataOf("uint64", [1], { uint64s: [2n ** 64n - 1n] }),
    BigUint64Array.of(2n ** 64n - 1n),
  );
  assert.equal(dataOf("complex64", [1], { floats: [1, 2] }), Float32Array.of(1, 2));
  assert.equal(dataOf("float8e4m3fn", [1], { int32s: [255] }), Uint8Array.of(255));
});

test("raw data are read at any alignment", () => {
  for (const pad of ["", "x", "xx", "xxx", "xxxx", "xxxxx", "xxxxxx", "xxxxxxx"]) {
    const raw = new Uint8Array(Float64Array.of(1, -2.5).buffer);
    // The name comes before the data in the file.
    const writer = new BinaryWriter();
    writeFields(writer, { name: tensorFields.name }, { name: pad });
    writeFields(writer, tensorFields, { dims: [2], type: code("float64"), raw });
    assert.equal(readTensor(writer.finish()).data, Float64Array.of(1, -2.5), pad);
  }
});

test("elements of four and two bits are unpacked, the first from the low bits", () => {
  assert.equal(dataOf("uint4", [3], { raw: Uint8Array.of(0x21, 0xf3) }), Uint8Array.of(1, 2, 3));
  assert.equal(dataOf("int4", [3], { raw: Uint8Array.of(0x8f, 0x07) }), Int8Array.of(-1, -8, 7));
  assert.equal(dataOf("int4", [3], { int32s: [0x8f, 0x07] }), Int8Array.of(-1, -8, 7));
  assert.equal(dataOf("float4e2m1", [2], { raw: Uint8Array.of(0x7f) }), Uint8Array.of(15, 7));
  assert.equal(
    dataOf("uint2", [5], { raw: Uint8Array.of(0b11100100, 2) }),
    Uint8Array.of(0, 1, 2, 3, 2),
  );
  assert.equal(dataOf("int2", [4], { raw: Uint8Array.of(0b11100100) }), Int8Array.of(0, 1, -2, -1));
});

test("repeated numbers may be packed, one by one, or both", () => {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int64(2).tag(1, WireType.Varint).int64(2);
  writer.tag(4, WireType.Bit32).float(1);
  writeFields(writer, tensorFields, { type: 1, floats: [2, 3] });
  writer.tag(4, WireType.Bit32).float(4);
  const { dims, data } = readTensor(writer.finish());
  assert.equal(dims, [2, 2]);
  assert.equal(data, Float32Array.of(1, 2, 3, 4));
});

test("strings are UTF-8", () => {
  const strings = ["", "é", "模型"].map((s) => new TextEncoder().encode(s));
  assert.equal(dataOf("string", [3], { strings }), ["", "é", "模型"]);
});

test("external data are cut from the file that the location names", () => {
  const entry = (key: string, value: string) => part(entryFields, { key, value });
  const external = [entry("location", "weights/a.bin"), entry("offset", "4"), entry("length", "8")];
  const tensor = part(tensorFields, { name: "w", dims: [2], type: 1, external, location: 1 });
  const graph = part(graphFields, { initializers: [tensor] });
  const file = new Uint8Array(Float32Array.of(9, 1, 2, 9).buffer);
  const asked: string[] = [];
  const model = readModel(bytes(modelFields, { irVersion: 8, graph }), {
    external: (location) => {
      asked.push(location);
      return file;
    },
  });
  assert.equal(asked, ["weights/a.bin"]);
  assert.equal(model.graph.initializers[0]!.data, Float32Array.of(1, 2));
});

test("sparse tensors become dense, by row-major places or by coordinates", () => {
  const values = part(tensorFields, { name: "s", dims: [2], type: 1, floats: [5, 7] });
  const indices = (dims: readonly number[], int64s: readonly number[]) =>
    part(tensorFields, { dims, type: code("int64"), int64s });
  for (const at of [indices([2], [1, 5]), indices([2, 2], [0, 1, 1, 2])]) {
    const sparse = part(sparseFields, { values, indices: at, dims: [2, 3] });
    const graph = part(graphFields, { sparseInitializers: [sparse] });
    const [dense] = readModel(bytes(modelFields, { irVersion: 8, graph })).graph.initializers;
    assert.equal(dense, {
      name: "s",
      type: "float32",
      dims: [2, 3],
      data: Float32Array.of(0, 5, 0, 0, 0, 7),
    });
  }
});

function attribute(inputs: Inputs<typeof attributeFields>): AttributeDef {
  const attributes = [part(attributeFields, { name: "a", ...inputs })];
  const node = part(nodeFields, { op: "Op", domain: "ai.onnx", attributes });
  const graph = part(graphFields, { nodes: [node] });
  const read = readModel(bytes(modelFields, { irVersion: 8, graph })).graph.nodes[0]!;
  assert.is(read.domain, "");
  return read.attributes.get("a")!;
}

test("attributes are read by their type, and by the field that is there in old files", () => {
  for (const type of [1, undefined])
    assert.equal(attribute({ type, float: 0.5 }), { kind: "float", value: 0.5 });
  for (const type of [7, undefined])
    assert.equal(attribute({ type, ints: [1, -1] }), { kind: "ints", value: [1, -1] });
  for (const type of [3, undefined])
    assert.equal(attribute({ type, string: Uint8Array.of(65) }), { kind: "string", value: "A" });
  assert.equal(attribute({ type: 7 }), { kind: "ints", value: [] });
  assert.equal(attribute({ type: 2 }), { kind: "int", value: 0 });
  assert.equal(attribute({ type: 13, valueType: part(typeFields, {}) }), {
    kind: "type",
    value: undefined,
  });
  assert.equal(attribute({ type: 3, string: Uint8Array.of(255) }), {
    kind: "other",
    what: "1 bytes that are not UTF-8",
  });
  assert.equal(attribute({ type: 2, reference: "b" }), { kind: "reference", value: "b" });
});

test("an int beyond what a number holds is the greatest that it does", () => {
  const writer = new BinaryWriter();
  writer.tag(8, WireType.Varint).int64(2n ** 63n - 1n);
  writeFields(writer, attributeFields, { name: "a", type: 7 });
  const raw = writer.finish();
  const node = (w: BinaryWriter) => {
    writeFields(w, nodeFields, { op: "Slice" });
    w.tag(5, WireType.LengthDelimited).bytes(raw);
  };
  const graph = part(graphFields, { nodes: [node] });
  const read = readModel(bytes(modelFields, { irVersion: 8, graph })).graph.nodes[0]!;
  assert.equal(read.attributes.get("a"), { kind: "ints", value: [Number.MAX_SAFE_INTEGER] });
});

test("a type may leave out its rank, its extents, its elements, or everything", () => {
  const tensor = (inputs: Inputs<typeof tensorTypeFields>) =>
    part(typeFields, { tensor: part(tensorTypeFields, inputs) });
  const shape = (w: BinaryWriter) => {
    // [3, "N", −1, nothing]
    for (const dim of [[0x08, 3], [0x12, 1, 78], [0x08, ...Array(9).fill(255), 1], []])
      w.tag(1, WireType.LengthDelimited).bytes(Uint8Array.from(dim));
  };
  const types = [tensor({ type: 1 }), tensor({ type: 1, shape }), tensor({}), undefined];
  const inputs = types.map((type, i) => part(valueFields, { name: `v${i}`, type }));
  const graph = part(graphFields, { inputs });
  const model = readModel(bytes(modelFields, { irVersion: 1, graph }));
  assert.equal(model.opsets, new Map([["", 1]]));
  assert.equal(
    model.graph.inputs.map(({ type }) => type),
    [
      { kind: "tensor", type: "float32" },
      { kind: "tensor", type: "float32", shape: [3, "N", undefined, undefined] },
      undefined,
      undefined,
    ],
  );
});

test("sequences and optionals stand by themselves", () => {
  const tensor = part(tensorFields, { dims: [1], type: 1, floats: [1] });
  const read = { name: "", type: "float32", dims: [1], data: Float32Array.of(1) } as const;
  const sequence = { type: 1, tensors: [tensor, tensor] };
  assert.equal(readSequence(bytes(sequenceFields, sequence)), [read, read]);
  assert.equal(readSequence(bytes(sequenceFields, { type: 1 })), []);
  assert.equal(readOptional(bytes(optionalFields, { type: 1, tensor })), read);
  assert.equal(readOptional(bytes(optionalFields, { sequence: part(sequenceFields, sequence) })), [
    read,
    read,
  ]);
  assert.is(readOptional(bytes(optionalFields, { type: 1 })), undefined);
});

test.run();
