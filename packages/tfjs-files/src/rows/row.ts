/**
 * A row of the table: what an op of TensorFlow is in the IR, with the attributes that it reads. One
 * that a node has beside them is refused by name. Types are of no account: values carry their own.
 */

import type { Tensor } from "@kiln-ml/ir";
import {
  asTensorValue,
  elementTypeOf,
  type NodeContext,
  type Result,
  type Row,
  type TensorValue,
  typed,
  type Value,
} from "@kiln-ml/onnx";
import { domain } from "../graph/read-nodes.ts";

/** Placement, hints for kernels, and what describes values that carry it themselves. */
const idle: ReadonlySet<string> = new Set([
  "N",
  "num_args",
  "shape",
  "output_shapes",
  "validate_indices",
  "use_cudnn_on_gpu",
  "useCudnnOnGpu",
  "validate_shape",
]);

function checkAttributes(n: NodeContext, known: readonly string[]): void {
  for (const [name, { kind }] of n.node.attributes) {
    if (name.startsWith("_") || kind === "type" || idle.has(name) || known.includes(name)) continue;
    n.fail(
      `attribute ${name} is unknown${known.length ? `, not one of ${known.join(", ")}` : ""}\n  it would be left unread: convert the model with ops of TensorFlow.js`,
    );
  }
}

/** A row of TensorFlow's own domain; `attributes` are separated by spaces. */
export function tf(
  op: string,
  attributes: string,
  build: (n: NodeContext) => Result,
  note?: string,
): Row {
  const known = attributes.split(" ").filter(Boolean);
  return {
    op,
    domain,
    build(n) {
      checkAttributes(n, known);
      return build(n);
    },
    ...(note === undefined ? {} : { note }),
  };
}

/** Several ops that are one. */
export const alike = (
  ops: string,
  attributes: string,
  build: (n: NodeContext) => Result,
  note?: string,
): Row[] => ops.split(" ").map((op) => tf(op, attributes, build, note));

type Attributes = Parameters<NodeContext["apply"]>[2];

/** The outputs of a standard op of ONNX on these values. */
export const standard = (
  n: NodeContext,
  op: string,
  inputs: readonly (Value | undefined)[],
  attributes: Attributes = {},
  outputs = 1,
): Tensor[] => n.apply(op, inputs, attributes, outputs).map((v) => asTensorValue(v, op).tensor);

export const int = (value: number) => ({ kind: "int", value }) as const;
export const ints = (value: readonly number[]) => ({ kind: "ints", value }) as const;
export const text = (value: string) => ({ kind: "string", value }) as const;

/** A tensor as the value that it is in TensorFlow.js. */
export const asValue = (t: Tensor): TensorValue => typed(t, elementTypeOf(t.dtype));
