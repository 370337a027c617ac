/**
 * What a target brings to the emitter: how it spells names, index expressions, constants, loads and calls. Interfaces only.
 */
import type { KernelText } from "@kiln-ml/artifact";
import type { Condition, Dim } from "@kiln-ml/ir";
import type { Expr, Kernel } from "../kernel/kernel.ts";
import { plainName } from "../kernel/names.ts";
import { heldDtype } from "../kernel/types.ts";
import type { Text, Value } from "./scope.ts";

export type Call = Extract<Expr, { kind: "call" }>;
export type Load = Extract<Expr, { kind: "load" }>;

export type Comparison = "<" | "<=" | ">" | ">=" | "==";

/** How a target spells names and the arithmetic of index expressions. */
export interface IndexLanguage<V extends Value = Text> {
  /** Whether comparisons may be printed with `>`. */
  readonly greater: boolean;
  /** The value of the constant or variable `name`. */
  named(name: string, lanes: number): V;
  /** The condition that never holds. */
  readonly never: V;
  integer(value: number): V;
  negate(a: V): V;
  add(a: V, b: V): V;
  subtract(a: V, b: V): V;
  multiply(a: V, b: V): V;
  compare(op: Comparison, a: V, b: V): V;
}

/** How a target spells what the emitter composes. */
export interface Language<V extends Value = Text, L = string> extends IndexLanguage<V> {
  /** Words that cannot be names. */
  readonly reserved: Pick<ReadonlySet<string>, "has">;
  declare(name: string, value: V, dtype: Expr["dtype"] | "index"): L;
  /** ⌊a/b⌋ and a mod b of index expressions; `nonnegative` if a is known to be. */
  divide(a: V, b: V, nonnegative: boolean): V;
  remainder(a: V, b: V, nonnegative: boolean): V;
  pick(which: "min" | "max", a: V, b: V): V;
  /** A conjunction of conditions that are printed already. */
  all(conditions: readonly V[]): V;
  constant(value: number, dtype: Expr["dtype"]): V;
  /** An index expression and a conjunction as values. */
  index(value: Dim): V;
  test(conditions: readonly Condition[]): V;
  load(e: Load): V;
  call(e: Call): V;
  /** Whether values may hold more digits than their dtype until they are stored. */
  readonly holdsMore?: true;
  /** The value of an accumulator as an operand. */
  accumulated(name: string, text: V): V;
}

/** What the artifact says of a kernel's parameters. */
export const bindingsOf = (kernel: Kernel): KernelText["bindings"] =>
  kernel.params.map((p) => ({ name: plainName(p.name), dtype: heldDtype(p), access: p.access }));
