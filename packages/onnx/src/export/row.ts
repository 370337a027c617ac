/** What a row of the export table gets and gives: one IR node → the names of its results in the ONNX graph. */
import type { Dim, Shape, Tensor } from "@kiln-ml/ir";
import { sameDim } from "@kiln-ml/ir";
import type { Builder } from "./builder.ts";

/** A value that broadcasts to the tensor it stands for: the same rank or less, 1 where it repeats. */
export interface Thin {
  readonly name: string;
  readonly shape: Shape;
}

export interface Values {
  readonly names: Map<Tensor, readonly string[]>;
  /** Tensors that repeat a smaller one. */
  readonly thin: Map<Tensor, Thin>;
}

/** A row may throw it: the op, dtype or form that ONNX has nothing for. */
export class Unsupported extends Error {}

export class RowContext {
  readonly b: Builder;
  readonly node: Tensor;
  readonly values: Values;
  /** Writes nodes made of the operands, and returns the name of their result. */
  readonly write: (t: Tensor) => string;

  constructor(b: Builder, node: Tensor, values: Values, write: (t: Tensor) => string) {
    this.b = b;
    this.node = node;
    this.values = values;
    this.write = write;
  }

  /** The name of operand i. */
  x(i: number): string {
    return this.nameOf(this.node.operands[i]!);
  }

  nameOf(t: Tensor): string {
    return this.values.names.get(t)![0]!;
  }

  get operandNames(): readonly string[] {
    return this.node.operands.map((t) => this.nameOf(t));
  }

  ints(attribute: string): readonly number[] {
    return (this.node.attrs[attribute] ?? []) as readonly number[];
  }

  dims(attribute: string): readonly Dim[] {
    return (this.node.attrs[attribute] ?? []) as readonly Dim[];
  }

  /** Operands of an ONNX op that broadcasts; small where together they still have the shape of the result. */
  get broadcasting(): string[] {
    const { operands, shape } = this.node;
    const thin = operands.map((t) => this.values.thin.get(t));
    const covers = (i: number, axis: number): boolean => {
      const small = thin[i];
      if (!small) return true;
      const at = axis - (shape.length - small.shape.length);
      return at >= 0 && sameDim(small.shape[at]!, shape[axis]!);
    };
    const whole = shape.every((_, axis) => operands.some((_, i) => covers(i, axis)));
    return operands.map((t, i) => (whole || i > 0 ? (thin[i]?.name ?? this.nameOf(t)) : this.x(i)));
  }
}

export type Row = (c: RowContext) => string | readonly string[];
