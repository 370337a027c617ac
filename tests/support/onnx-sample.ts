/** A small ONNX model with a weight, attributes and a symbol, which readers and writers are tried on, and damaged. */
import type { Model, TensorDef } from "@kiln-ml/onnx";

export const sampleWeights: TensorDef = {
  name: "w",
  type: "float32",
  dims: [2, 3],
  data: Float32Array.of(1, 2, 3, 4, 5, 6),
};
export const sampleTexts: TensorDef = { name: "s", type: "string", dims: [2], data: ["ab", "c"] };
export const sampleModel: Model = {
  irVersion: 10,
  producer: "kiln",
  opsets: new Map([["", 21]]),
  graph: {
    name: "g",
    nodes: [
      {
        op: "Gemm",
        domain: "",
        overload: "",
        name: "first",
        inputs: ["x", "w"],
        outputs: ["y"],
        attributes: new Map([
          ["transB", { kind: "int", value: 1 }],
          ["alpha", { kind: "float", value: 0.5 }],
          ["t", { kind: "tensor", value: sampleTexts }],
        ]),
      },
    ],
    initializers: [sampleWeights],
    inputs: [{ name: "x", type: { kind: "tensor", type: "float32", shape: ["N", 3] } }],
    outputs: [{ name: "y", type: { kind: "tensor", type: "float32", shape: ["N", 2] } }],
    values: [],
  },
  functions: [],
  metadata: new Map([["author", "kiln"]]),
};
