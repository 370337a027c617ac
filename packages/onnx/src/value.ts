/**
 * What the name of an ONNX value stands for during import: a tensor of the graph with its ONNX type, a sequence, or an optional. A
 * tensor that the file holds becomes a node only when something asks for the node.
 */
import { GraphError, type Tensor } from "@kiln-ml/ir";
import type { ElementType, TensorDef } from "./proto/model.ts";

export class TensorValue {
  readonly kind = "tensor";
  readonly type: ElementType;
  /** The values, where the file holds them. */
  readonly def: TensorDef | undefined;
  readonly #make: Tensor | (() => Tensor);

  constructor(type: ElementType, make: Tensor | (() => Tensor), def?: TensorDef) {
    this.type = type;
    this.def = def;
    this.#make = make;
  }

  get tensor(): Tensor {
    return typeof this.#make === "function" ? this.#make() : this.#make;
  }
}

/** A list whose length is known during import. */
export interface SequenceValue {
  readonly kind: "sequence";
  readonly items: readonly Value[];
}

/** A value that may be absent; whether it is, is known during import. */
export interface OptionalValue {
  readonly kind: "optional";
  readonly value: Value | undefined;
}

export type Value = TensorValue | SequenceValue | OptionalValue;

export const sequence = (items: readonly Value[]): SequenceValue => ({ kind: "sequence", items });
export const optional = (value: Value | undefined): OptionalValue => ({ kind: "optional", value });

/** A tensor with the ONNX type it has. */
export const typed = (tensor: Tensor, type: ElementType): TensorValue =>
  new TensorValue(type, tensor);

/** The tensor of a value; an optional that has one gives it. Throws GraphError for others. */
export function asTensorValue(value: Value, what: string): TensorValue {
  if (value.kind === "tensor") return value;
  if (value.kind === "optional" && value.value) return asTensorValue(value.value, what);
  throw new GraphError(
    `${what} is ${value.kind === "optional" ? "an empty optional" : "a sequence"}, not a tensor`,
  );
}
