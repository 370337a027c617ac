/**
 * A row of the table of ops: what an op of ONNX is in the IR.
 */
import type { NodeContext, Result } from "./context.ts";
import type { ElementType } from "./proto/model.ts";

export interface Row {
  readonly op: string;
  /** "" for the standard ops. */
  readonly domain: string;
  /** Builds the IR. Throws GraphError through `n.fail` for what it does not take. */
  readonly build: (n: NodeContext) => Result;
  /** The type of outputs that are returned as plain tensors, where it is not that of the first input. */
  readonly type?: ElementType;
  /** What is not supported, for the generated table. */
  readonly note?: string;
  /** Integer results may leave the range of a type narrower than the dtype that holds it: they are wrapped. */
  readonly wraps?: boolean;
}

export type RowOptions = Omit<Row, "op" | "build" | "domain"> & { readonly domain?: string };

export const row = (op: string, build: Row["build"], options: RowOptions = {}): Row => ({
  op,
  build,
  domain: "",
  ...options,
});

/** A row of the domain of ONNX Runtime's own ops. */
export const microsoft = (op: string, build: Row["build"], options: RowOptions = {}): Row =>
  row(op, build, { domain: "com.microsoft", ...options });
