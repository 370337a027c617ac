/**
 * What the reference computes with. Shares nothing with lowering.
 */
import type { NodeOf } from "../attributes.ts";
import type { Dtype } from "../dtype.ts";

/** Numbers in row-major order, already rounded to the dtype. */
export interface Value {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** Values of symbols by name. */
export type Dims = Readonly<Record<string, number>>;

/** The result of one op for concrete operands; `dims` binds the symbols. */
export type Evaluate<K extends string = string> = {
  // A method's parameters may be narrower: rows of one op stand in the table of all.
  of(node: NodeOf<K>, operands: readonly Value[], dims: Dims): Value;
}["of"];
