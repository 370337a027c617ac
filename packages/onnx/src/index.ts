/**
 * ONNX models as IR: reading and writing files, and import. Knows no device; `kiln-ml/onnx` runs
 * what it makes.
 */

export { NodeContext, type Result } from "./context.ts";
export { type Dialect, onnxDialect } from "./dialect.ts";
export { dataOf, dtypeOf, elementTypeOf, hostOf, isHeld } from "./element.ts";
export { Demand, type Known } from "./errors.ts";
export {
  type ExportOptions,
  type ExportProgram,
  exportModel,
  exportOnnx,
} from "./export/export.ts";
export { ImportedModel } from "./import.ts";
export { findRow, rows } from "./ops/index.ts";
export { refused } from "./ops/refused.ts";
export { beyond, type Check, flagsOf } from "./overflow.ts";
export { checkGraph } from "./proto/check.ts";
export * from "./proto/model.ts";
export {
  type ReadOptions,
  readModel,
  readOptional,
  readSequence,
  readTensor,
} from "./proto/read.ts";
export type { External, ExternalFile } from "./proto/source.ts";
export { writeModel, writeTensor } from "./proto/write.ts";
export { type Row, row } from "./row.ts";
export { asTensorValue, optional, sequence, TensorValue, typed, type Value } from "./value.ts";
