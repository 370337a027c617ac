/** y = x + w, where w, two elements, lies in the file w.bin. Written field by field, as the writer keeps weights inside the model. */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  dimFields,
  entryFields,
  type Fields,
  graphFields,
  modelFields,
  nodeFields,
  opsetFields,
  shapeFields,
  tensorFields,
  tensorTypeFields,
  typeFields,
  valueFields,
} from "../../packages/onnx/src/proto/fields.ts";
import { type Inputs, writeFields } from "../../packages/onnx/src/proto/write-fields.ts";

const part =
  <F extends Fields>(fields: F, inputs: Inputs<F>) =>
  (writer: BinaryWriter): void =>
    writeFields(writer, fields, inputs);

const entry = (key: string, value: string) => part(entryFields, { key, value });

const float32 = 1;

const vector = (name: string) =>
  part(valueFields, {
    name,
    type: part(typeFields, {
      tensor: part(tensorTypeFields, {
        type: float32,
        shape: part(shapeFields, { dims: [part(dimFields, { value: 2 })] }),
      }),
    }),
  });

export const weights = new Uint8Array(Float32Array.of(2, 4).buffer);

/** `location` is where the model says that its weights are. */
export function externalModel(location = "w.bin"): Uint8Array {
  const w = part(tensorFields, {
    name: "w",
    dims: [2],
    type: float32,
    location: 1,
    external: [entry("location", location), entry("offset", "0"), entry("length", "8")],
  });
  const graph = part(graphFields, {
    nodes: [part(nodeFields, { op: "Add", inputs: ["x", "w"], outputs: ["y"] })],
    name: "sum",
    initializers: [w],
    inputs: [vector("x")],
    outputs: [vector("y")],
  });
  const writer = new BinaryWriter();
  const opsets = [part(opsetFields, { domain: "", version: 17 })];
  writeFields(writer, modelFields, { irVersion: 8, opsets, graph });
  return writer.finish();
}
