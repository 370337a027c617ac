/**
 * What names stand for in a graph of a model, in the graphs around it and in the function that holds it.
 */
import type { AttributeDef } from "./proto/model.ts";
import type { Value } from "./value.ts";

/** Names of values, and where a name is not found, those around it. */
export class Scope {
  readonly #values = new Map<string, Value>();
  /** Inputs of a function that its caller leaves out. */
  readonly #absent = new Set<string>();
  readonly #outer: Scope | undefined;
  /** Attributes of the function's caller. */
  readonly attributes: ReadonlyMap<string, AttributeDef>;
  readonly opsets: ReadonlyMap<string, number>;

  constructor(
    opsets: ReadonlyMap<string, number>,
    attributes: ReadonlyMap<string, AttributeDef>,
    outer?: Scope,
  ) {
    this.opsets = opsets;
    this.attributes = attributes;
    this.#outer = outer;
  }

  inner(): Scope {
    return new Scope(this.opsets, this.attributes, this);
  }

  get(name: string): Value | undefined {
    return this.#values.get(name) ?? this.#outer?.get(name);
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }

  leaveOut(name: string): void {
    this.#absent.add(name);
  }

  isAbsent(name: string): boolean {
    return this.#absent.has(name) || (!this.#values.has(name) && !!this.#outer?.isAbsent(name));
  }
}
