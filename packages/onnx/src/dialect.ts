/**
 * Whose ops a model is made of: how messages begin, and where the row of an op is found. ONNX's own
 * is one; other files whose graphs have the same form bring theirs.
 */
import { findRow } from "./ops/index.ts";
import { refused } from "./ops/refused.ts";
import type { Row } from "./row.ts";

export interface Dialect {
  /** What messages begin with. */
  readonly name: string;
  /** The domain of its own ops, which messages leave out. */
  readonly domain: string;
  /** What the file calls one of its ops, in the singular. */
  readonly noun: string;
  /** What loads such a file, as messages name it. */
  readonly loader: string;
  readonly find: (domain: string, op: string) => Row | undefined;
  /** Why an op has no row, where there is more to say. */
  readonly refused: ReadonlyMap<string, string>;
}

export const onnxDialect: Dialect = {
  name: "onnx",
  domain: "",
  noun: "op",
  loader: "loadOnnx",
  find: findRow,
  refused,
};
