/** Operands as the ops of the IR want them: other dtypes, and shapes that are numbers alone. */
import type { Tensor } from "kiln-ml/ir";

export const asFloat = (x: Tensor): Tensor => (x.dtype === "f32" ? x : x.convert("f32"));
export const asBool = (x: Tensor): Tensor => (x.dtype === "bool" ? x : x.convert("bool"));
export const asIndex = (x: Tensor): Tensor => (x.dtype === "i32" ? x : x.convert("i32"));

/** Programs of tfjs have no symbols. */
export const shapeOf = (x: Tensor): number[] => x.shape as number[];

/** 0, 1, … n − 1. */
export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
