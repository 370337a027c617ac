/** Kiln's programs as StableHLO text, the input of XLA and its relatives, and a reader of that text. */
export type { Dims } from "./bind.ts";
export {
  type Argument,
  type ExportedProgram,
  exportStableHlo,
  type Result,
  type StableHlo,
  type StableHloOptions,
} from "./export.ts";
export { type Mesh, mesh, meshText } from "./mesh.ts";
export * from "./parse.ts";
export {
  byPath,
  dataParallel,
  type FsdpOptions,
  fsdp,
  type OverAxis,
  type Recipe,
  type ShardedLeaf,
  type TensorParallelOptions,
  tensorParallel,
} from "./sharding.ts";
export { rows, withoutRow } from "./table.ts";
export { elementTypes, type Type } from "./text.ts";
