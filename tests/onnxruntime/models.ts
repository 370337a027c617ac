/** Small models for the tests of the face, as bytes: made by the exporter, or written node by node where it has nothing for them. */
import { writeModel } from "@kiln-ml/onnx";
import type { Tensor } from "kiln-ml";
import { exportOnnx } from "kiln-ml/onnx";
import { modelOf, type SmallModel } from "../onnx/small-model.ts";

export const bytesOf = (model: SmallModel): Uint8Array => writeModel(modelOf(model));

/** y = relu(x), x [N, 3]. */
export const relu = (): Uint8Array =>
  bytesOf({ inputs: { x: ["N", 3] }, nodes: [{ op: "Relu", inputs: ["x"] }] });

/** Two inputs, two outputs: sum = a + b, product = a · b, both [N]. */
export const pair = (): Uint8Array =>
  bytesOf({
    inputs: { a: ["N"], b: ["N"] },
    nodes: [
      { op: "Add", inputs: ["a", "b"], outputs: ["sum"] },
      { op: "Mul", inputs: ["a", "b"], outputs: ["product"] },
    ],
    outputs: ["sum", "product"],
  });

/** y = x of one element type. */
export const identity = (type: NonNullable<SmallModel["types"]>[string]): Uint8Array =>
  bytesOf({
    inputs: { x: ["N"] },
    types: { x: type, y: type },
    nodes: [{ op: "Identity", inputs: ["x"] }],
  });

/** A matrix product with weights, [N, 64] → [N, 32]. */
export const product = (): Promise<Uint8Array> =>
  exportOnnx((x: Tensor) => x.matmul(x.transpose()).mean(), { inputs: [["N", 64]] });
