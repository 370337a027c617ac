/**
 * What import throws besides the errors of the IR: a demand for a value that only a run can give.
 */
import { GraphError, type Tensor } from "@kiln-ml/ir";
import type { Dialect } from "./dialect.ts";

/**
 * A handler needs the values of `tensor`, which depend on inputs. Whoever imports with inputs at
 * hand computes them and imports again with
 * `Known` holding them under `key`; nobody else catches it.
 */
export class Demand extends GraphError {
  override name = "Demand";
  readonly key: string;
  readonly tensor: Tensor;

  constructor(key: string, tensor: Tensor, { name, loader }: Pick<Dialect, "name" | "loader">) {
    super(
      `${name}: ${key} must be known when the graph is built, but depends on inputs\n  run the model through ${loader}, or make that input an initializer`,
    );
    this.key = key;
    this.tensor = tensor;
  }
}

/** Values that were demanded before, by key. */
export type Known = ReadonlyMap<string, readonly number[]>;
