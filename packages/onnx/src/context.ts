/**
 * What the handler of one node sees: its inputs as tensors or as known numbers, its attributes with defaults, and a way to run a
 * subgraph. Handlers build IR with it and nothing else.
 */
import {
  type Dim,
  GraphError,
  isStatic,
  type KilnError,
  printDim,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import type { Check } from "./overflow.ts";
import type { AttributeDef, ElementType, GraphDef, NodeDef, TensorDef } from "./proto/model.ts";
import { asTensorValue, type TensorValue, type Value } from "./value.ts";

/** What a handler returns: one output, or all of them; undefined for one that is left out. */
export type Result = Tensor | Value | readonly (Tensor | Value | undefined)[];

/** What a context asks of the import around it. */
export interface Surroundings {
  /** The values of a tensor; throws Demand where only a run can tell. */
  known(t: TensorValue, key: string): readonly Dim[];
  /** The values of a tensor if they are known without a run. */
  peek(t: TensorValue): readonly Dim[] | undefined;
  /** Values of the file, as an initializer would be. */
  weight(def: TensorDef): TensorValue;
  /** The results of a subgraph of this node, which sees the names around the node. */
  run(graph: GraphDef, inputs: readonly Value[]): Value[];
  /** A value of the scope around the node, by name. */
  lookup(name: string): Value | undefined;
  /** The result of building something that may turn out not to be possible. */
  attempt<T>(build: () => T): T | undefined;
  /** What `build` gives, with the checks that it came to, which the program around does not make. */
  apart<T>(build: () => T): { readonly value: T; readonly checks: readonly Check[] };
  /** Has the program make these checks. */
  check(checks: readonly Check[]): void;
  /** A node of the file, or of a handler's making, on values: the outputs it lists. */
  apply(node: NodeDef, inputs: readonly (Value | undefined)[]): Value[];
}

export class NodeContext {
  readonly node: NodeDef;
  /** The version of the node's domain. */
  readonly opset: number;
  readonly #attributes: ReadonlyMap<string, AttributeDef>;
  readonly #inputs: readonly (Value | undefined)[];
  readonly #around: Surroundings;
  readonly #where: string;

  constructor(
    node: NodeDef,
    opset: number,
    attributes: ReadonlyMap<string, AttributeDef>,
    inputs: readonly (Value | undefined)[],
    around: Surroundings,
    where: string,
  ) {
    this.node = node;
    this.opset = opset;
    this.#attributes = attributes;
    this.#inputs = inputs;
    this.#around = around;
    this.#where = where;
  }

  /** The node, as messages name it. */
  get where(): string {
    return this.#where;
  }

  /** Number of inputs, left-out ones included. */
  get count(): number {
    return this.#inputs.length;
  }

  has(i: number): boolean {
    return this.#inputs[i] !== undefined;
  }

  /** Throws GraphError if input `i` is left out. */
  value(i: number): Value {
    return this.#inputs[i] ?? this.fail(`input ${i} is missing`);
  }

  /** Input `i` as a tensor with its ONNX type. */
  typed(i: number): TensorValue {
    return asTensorValue(this.value(i), `${this.#where}: input ${i}`);
  }

  tensor(i: number): Tensor {
    return this.typed(i).tensor;
  }

  /** All inputs from `from` on, none left out. */
  tensors(from = 0): Tensor[] {
    return this.#inputs.slice(from).map((_, i) => this.tensor(from + i));
  }

  maybe(i: number): Tensor | undefined {
    return this.has(i) ? this.tensor(i) : undefined;
  }

  /** The ONNX element type of input `i`. */
  type(i: number): ElementType {
    return this.typed(i).type;
  }

  /** The file's own values of input `i`, if it is an initializer or a constant. */
  def(i: number): TensorDef | undefined {
    return this.typed(i).def;
  }

  /** Elements of input `i`, row-major, as numbers or dims. Throws Demand where only a run can tell. */
  dims(i: number): readonly Dim[] {
    return this.knownOf(this.typed(i), `input ${i}`);
  }

  /** The elements of any value, named for the demand. */
  knownOf(value: TensorValue, what: string): readonly Dim[] {
    return this.#around.known(value, `${this.#where}, ${what}`);
  }

  /** The elements of a value if they are known without a run. */
  peek(value: TensorValue): readonly Dim[] | undefined {
    return this.#around.peek(value);
  }

  /** Elements of input `i` as numbers. Throws GraphError for symbolic ones. */
  numbers(i: number): readonly number[] {
    return this.dims(i).map((d) =>
      isStatic(d) ? d : this.fail(`input ${i} must be a number, it is ${printDim(d)}`),
    );
  }

  /** The one element of input `i`, which has rank 0 or a single element. */
  number(i: number): number {
    const all = this.numbers(i);
    return all.length === 1 ? all[0]! : this.fail(`input ${i} has ${all.length} elements, not 1`);
  }

  // Attributes. Without a default, a missing one throws GraphError.

  #attribute<T>(name: string, kinds: readonly string[], fallback: T | undefined): T {
    const found = this.#attributes.get(name);
    if (!found) {
      if (fallback === undefined) return this.fail(`attribute ${name} is missing`);
      return fallback;
    }
    // Some writers leave empty lists without a kind.
    if (!kinds.includes(found.kind) && !(found.kind === "other" && Array.isArray(fallback)))
      return this.fail(`attribute ${name} is ${found.kind}, not ${kinds.join(" or ")}`);
    return ("value" in found ? found.value : []) as T;
  }

  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }

  int(name: string, fallback?: number): number {
    return this.#attribute(name, ["int"], fallback);
  }

  flag(name: string, fallback = false): boolean {
    return this.int(name, Number(fallback)) !== 0;
  }

  float(name: string, fallback?: number): number {
    return this.#attribute(name, ["float", "int"], fallback);
  }

  string(name: string, fallback?: string): string {
    return this.#attribute(name, ["string"], fallback);
  }

  ints(name: string, fallback?: readonly number[]): readonly number[] {
    return this.#attribute(name, ["ints"], fallback);
  }

  floats(name: string, fallback?: readonly number[]): readonly number[] {
    return this.#attribute(name, ["floats", "ints"], fallback);
  }

  strings(name: string, fallback?: readonly string[]): readonly string[] {
    return this.#attribute(name, ["strings"], fallback);
  }

  tensorAttribute(name: string): TensorDef {
    return this.#attribute<TensorDef>(name, ["tensor"], undefined);
  }

  graph(name: string): GraphDef {
    return this.#attribute<GraphDef>(name, ["graph"], undefined);
  }

  attribute(name: string): AttributeDef | undefined {
    return this.#attributes.get(name);
  }

  // Outputs.

  /** True if something may read output `k`. */
  wants(k: number): boolean {
    return Boolean(this.node.outputs[k]);
  }

  get outputs(): number {
    return this.node.outputs.length;
  }

  /** Values that the node holds, as if they were an initializer. */
  weight(def: TensorDef): TensorValue {
    return this.#around.weight(def);
  }

  run(graph: GraphDef, inputs: readonly Value[]): Value[] {
    return this.#around.run(graph, inputs);
  }

  lookup(name: string): Value | undefined {
    return this.#around.lookup(name);
  }

  /** What `build` gives, or undefined where it refuses or would have to know what only a run can tell. */
  attempt<T>(build: () => T): T | undefined {
    return this.#around.attempt(build);
  }

  /** A body as a region: what `build` gives, and its checks, which only the region can compute. */
  apart<T>(build: () => T): { readonly value: T; readonly checks: readonly Check[] } {
    return this.#around.apart(build);
  }

  check(checks: readonly Check[]): void {
    this.#around.check(checks);
  }

  /** The outputs of another op on these values, so that a handler can be made of others. */
  apply(
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Readonly<Record<string, AttributeDef>> = {},
    outputs = 1,
    domain = "",
  ): Value[] {
    const names = (n: number, prefix: string) => Array.from({ length: n }, (_, i) => prefix + i);
    const node: NodeDef = {
      op,
      domain,
      overload: "",
      name: `${this.node.name || this.node.op}/${op}`,
      inputs: inputs.map((v, i) => (v ? `i${i}` : "")),
      outputs: names(outputs, "o"),
      attributes: new Map(Object.entries(attributes)),
    };
    return this.#around.apply(node, inputs);
  }

  /** Throws GraphError that names the node. */
  fail(message: string): never {
    throw new GraphError(`${this.#where}: ${message}`);
  }

  /** An error of the IR with the node's name in front. */
  explain(error: KilnError): KilnError {
    if (error.message.includes(this.#where)) return error;
    const Class = error.constructor as new (message: string) => KilnError;
    const explained = new Class(`${this.#where}: ${error.message}`);
    return error instanceof ShapeError && error.apart
      ? Object.assign(explained, { apart: error.apart })
      : explained;
  }
}
