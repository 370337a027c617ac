/** Ops that are known and left out, with the reason, for messages and for the generated table. */
const reasons: readonly (readonly [reason: string, ops: string])[] = [
  [
    "strings have no dtype",
    "StaticRegexReplace StaticRegexFullMatch StringNGrams StringSplit StringSplitV2 StringToHashBucketFast StringJoin StringLower StringUpper AsString DecodeRaw StringFormat",
  ],
  [
    "tables have no dtype: look words up before, and give numbers",
    "HashTable HashTableV2 LookupTableImport LookupTableImportV2 LookupTableFind LookupTableFindV2 LookupTableSize LookupTableSizeV2 InitializeTable InitializeTableV2",
  ],
  [
    "complex numbers have no dtype",
    "FFT FFT2D IFFT RFFT IRFFT Complex ComplexAbs Real Imag Conj Angle",
  ],
  [
    "ragged and sparse tensors have no shape that is known",
    "RaggedGather RaggedRange RaggedTensorToTensor SparseFillEmptyRows SparseReshape SparseSegmentMean SparseSegmentSum",
  ],
  [
    "variables are frozen by the converter: convert a frozen model",
    "VarHandleOp ReadVariableOp AssignVariableOp VariableV2 Variable Assign",
  ],
  [
    "decision forests run in a module of their own",
    "SimpleMLCreateModelResource SimpleMLLoadModelFromPathWithHandle SimpleMLInferenceOpWithHandle",
  ],
  [
    "its numbers are drawn by a generator of its own",
    "Multinomial RandomUniformInt TruncatedNormal",
  ],
  [
    "loops of frames: convert with control_flow_v2=true",
    "Enter Exit Switch Merge NextIteration LoopCond RefEnter RefExit RefSwitch RefMerge",
  ],
];

export const refused: ReadonlyMap<string, string> = new Map(
  reasons.flatMap(([why, ops]) => ops.split(" ").map((op) => [op, why] as const)),
);
