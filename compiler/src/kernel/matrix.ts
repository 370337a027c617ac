/**
 * Statements on matrices that a subgroup holds together (GPU): all of its invocations run them,
 * none sees an element. What is multiplied comes from workgroup memory, and results go back there.
 */
import type { Dim } from "@kiln-ml/ir";

/** Rows and columns of a result, and the length of a sum; operands are f16, results f32. */
export interface MatrixShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

export type MatrixStep =
  /** A result of zeros. */
  | { readonly step: "zero"; readonly name: string; readonly shape: MatrixShape }
  /**
   * The left operand of a product, m×k, or the right one, k×n: entry [r, c] is element index +
   * r·stride + c of an array, or index + c·stride + r where it lies `turned`. Index and stride are
   * multiples of the array's width.
   */
  | {
      readonly step: "load";
      readonly name: string;
      readonly side: "left" | "right";
      readonly shape: MatrixShape;
      readonly from: string;
      readonly index: Dim;
      readonly stride: number;
      readonly turned: boolean;
    }
  /** name = name + left·right. */
  | {
      readonly step: "multiply";
      readonly name: string;
      readonly left: string;
      readonly right: string;
    }
  /** Entry [r, c] to element index + r·stride + c. */
  | {
      readonly step: "store";
      readonly name: string;
      readonly to: string;
      readonly index: Dim;
      readonly stride: number;
    };
