/**
 * Names of the outputs of ops that have several, which references inside of functions use. A list
 * of outputs is one name, and its elements are counted.
 */

// biome-ignore format: one op a row
const named: Readonly<Record<string, readonly string[]>> = {
  FusedBatchNorm:   ["y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"],
  FusedBatchNormV2: ["y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"],
  FusedBatchNormV3: ["y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"],
  ListDiff: ["out", "idx"],
  MaxPoolWithArgmax: ["output", "argmax"],
  Merge: ["output", "value_index"],
  NonMaxSuppressionV4: ["selected_indices", "valid_outputs"],
  NonMaxSuppressionV5: ["selected_indices", "selected_scores", "valid_outputs"],
  BroadcastGradientArgs: ["r0", "r1"],
  SparseFillEmptyRows: ["output_indices", "output_values", "empty_row_indicator", "reverse_index_map"],
  SparseReshape: ["output_indices", "output_shape"],
  Switch: ["output_false", "output_true"],
  TensorArrayV3: ["handle", "flow"],
  TensorListConcat: ["tensor", "lengths"],
  TensorListConcatV2: ["tensor", "lengths"],
  TensorListPopBack: ["output_handle", "tensor"],
  TopK: ["values", "indices"],
  TopKV2: ["values", "indices"],
  Unique: ["y", "idx"],
  UniqueV2: ["y", "idx"],
  UniqueWithCounts: ["y", "idx", "count"],
  UniqueWithCountsV2: ["y", "idx", "count"],
};

export const outputNamesOf = (op: string): readonly string[] =>
  Object.hasOwn(named, op) ? named[op]! : [];
