/**
 * What the reference computes with. Shares nothing with lowering.
 */
import type { Dtype } from "../dtype.ts";
import type { Tensor } from "../node.ts";

/** Numbers in row-major order, already rounded to the dtype. */
export interface Value {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** Values of symbols by name. */
export type Dims = Readonly<Record<string, number>>;

/** The result of one op for concrete operands; `dims` binds the symbols. */
export type Evaluate = (node: Tensor, operands: readonly Value[], dims: Dims) => Value;
