/** One program of a compiled function, and the extents by which it is found. Compiles nothing. */
import type { Runner } from "../devices/engine.ts";
import type { Given } from "./arguments.ts";
import type { InputSpec } from "./inputs.ts";
import type { Pattern } from "./shapes.ts";
import type { Traced } from "./traced.ts";

export type Extents = readonly (readonly number[])[];

export interface Variant {
  readonly key: string;
  readonly pattern: Pattern;
  readonly traced: Traced;
  /** The types that it was traced with. */
  readonly specs: readonly InputSpec[];
  runner: Runner;
  /** Of a program with symbols, the extents for which it was found to be that of the numbers, or not to be. */
  readonly agrees: Map<string, boolean>;
}

export const shapesOf = ({ feeds }: Given): Extents => feeds.map((f) => f.shape);
export const extentsKey = ({ feeds }: Given): string => feeds.map((f) => f.shape.join()).join(";");
