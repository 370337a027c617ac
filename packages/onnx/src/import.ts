/**
 * A model as a function on tensors: walks the nodes of a graph in order, gives each to the row of its op, and keeps what names stand
 * for. Builds IR only; where a value must be known and is not, it throws Demand.
 */
import { convert, type Dim, DtypeError, GraphError, KilnError, Tensor } from "@kiln-ml/ir";
import { NodeContext, type Result, type Surroundings } from "./context.ts";
import { type Dialect, onnxDialect } from "./dialect.ts";
import { elementTypeOf, narrowRange, numbersOfDef } from "./element.ts";
import { Demand, type Known } from "./errors.ts";
import { KnownValues } from "./known.ts";
import { beyond, type Check, clipped, isWide, overflowOf, termsOf } from "./overflow.ts";
import type {
  AttributeDef,
  FunctionDef,
  GraphDef,
  Model,
  NodeDef,
  TensorDef,
} from "./proto/model.ts";
import type { Row } from "./row.ts";
import { Scope } from "./scope.ts";
import { checkSupported } from "./supported.ts";
import { asTensorValue, type TensorValue, typed, type Value } from "./value.ts";
import { Weights } from "./weights.ts";
import { wrapped } from "./wrap.ts";

export class ImportedModel {
  readonly model: Model;
  readonly dialect: Dialect;
  readonly #weights: Weights;
  readonly #functions: ReadonlyMap<string, FunctionDef>;

  /** Throws GraphError that lists every op that is not supported, with counts and names of nodes. */
  constructor(model: Model, dialect: Dialect = onnxDialect) {
    this.model = model;
    this.dialect = dialect;
    this.#weights = new Weights(numbersOfDef, dialect.name);
    this.#functions = new Map(model.functions.map((f) => [functionKey(f), f]));
    checkSupported(model, dialect);
  }

  /** The floating-point weights by their names in the file; those that `apply` has met. */
  get parameters(): ReadonlyMap<string, Tensor> {
    return this.#weights.parameters;
  }

  /** Inputs without a default of their own. */
  get inputs() {
    const given = new Set(this.model.graph.initializers.map((t) => t.name));
    return this.model.graph.inputs.filter((v) => !given.has(v.name));
  }

  get outputs() {
    return this.model.graph.outputs;
  }

  /**
   * The outputs for these inputs, by name, as nodes of the graph. `known` holds values that were demanded before; to `checks` is added
   * what a run should look at: nodes whose 64-bit integers may not fit.
   *
   * Throws GraphError for missing inputs and what rows refuse, ShapeError and DtypeError of the IR with the node's name, and Demand.
   */
  apply(
    inputs: ReadonlyMap<string, Value>,
    known: Known = new Map(),
    checks: Check[] = [],
  ): Map<string, Value> {
    const { dialect } = this;
    const { graph } = this.model;
    const scope = new Scope(this.model.opsets, new Map());
    for (const def of graph.initializers) scope.set(def.name, this.#weights.value(def));
    for (const { name } of graph.inputs) {
      const value = inputs.get(name);
      if (value) scope.set(name, value);
      else if (!scope.get(name)) throw new GraphError(`${dialect.name}: input ${name} is missing`);
    }
    const run = new Run(
      { dialect, functions: this.#functions, weights: this.#weights, most: mostNodes(this.model) },
      known,
      checks,
    );
    const results = run.graph(graph, scope, "");
    for (const [i, { name }] of graph.outputs.entries())
      checkOutput(`${dialect.name}: output ${name}`, results[i]!);
    return new Map(graph.outputs.map(({ name }, i) => [name, results[i]!]));
  }
}

const functionKey = (f: { name: string; domain: string; overload: string }) =>
  `${f.domain}::${f.name}::${f.overload}`;

/**
 * Nodes that an import may come to: loops that are written out trip by trip, and functions that call others, make many of few.
 * This many, and so many times those of the file.
 */
const freeNodes = 2 ** 16;
const timesOfFile = 64;

const mostNodes = ({ graph, functions }: Model): number =>
  freeNodes + timesOfFile * functions.reduce((n, f) => n + f.nodes.length, graph.nodes.length);

/** What all imports of a model have in common. */
interface RunOf {
  readonly dialect: Dialect;
  readonly functions: ReadonlyMap<string, FunctionDef>;
  readonly weights: Weights;
  readonly most: number;
}

/** One import. */
class Run {
  readonly #dialect: Dialect;
  readonly #functions: ReadonlyMap<string, FunctionDef>;
  readonly #weights: Weights;
  readonly #given: Known;
  readonly #values = new KnownValues((leaf) => this.#weights.valuesOf(leaf));
  readonly #demands = new Map<string, number>();
  readonly #most: number;
  #nodesSoFar = 0;
  #checks: Check[];

  constructor(of: RunOf, given: Known, checks: Check[]) {
    this.#checks = checks;
    this.#dialect = of.dialect;
    this.#most = of.most;
    this.#functions = of.functions;
    this.#weights = of.weights;
    this.#given = given;
  }

  /** The outputs of a graph whose inputs and surroundings `scope` knows. */
  graph(graph: GraphDef, scope: Scope, path: string): Value[] {
    // One without nodes may be run for ever too.
    this.#count(path);
    this.#nodes(
      graph.nodes,
      graph.outputs.map((v) => v.name),
      scope,
      path,
    );
    return graph.outputs.map(
      ({ name }) => scope.get(name) ?? this.#fail(`${graph.name || "graph"} has no value ${name}`),
    );
  }

  #nodes(nodes: readonly NodeDef[], outputs: readonly string[], scope: Scope, path: string): void {
    const live = liveNodes(nodes, outputs);
    for (const [i, node] of nodes.entries()) {
      if (!live.has(node)) continue;
      const inputs = node.inputs.map((name) =>
        name === "" || scope.isAbsent(name)
          ? undefined
          : (scope.get(name) ?? this.#fail(`${labelOf(node, path, i)}: no value ${name}`)),
      );
      const results = this.#node(node, inputs, scope, labelOf(node, path, i));
      for (const [k, name] of node.outputs.entries()) {
        const value = results[k];
        if (name && value) scope.set(name, value);
      }
    }
  }

  #fail(message: string): never {
    throw new GraphError(`${this.#dialect.name}: ${message}`);
  }

  #count(label: string): void {
    this.#nodesSoFar += 1;
    if (this.#nodesSoFar > this.#most)
      throw new GraphError(
        `${this.#dialect.name}: ${label}: the model comes to more than ${this.#most} nodes, trip by trip and call by call\n  give its loops a body whose types and shapes stay as they are, so that they need not be written out`,
      );
  }

  #node(
    node: NodeDef,
    inputs: readonly (Value | undefined)[],
    scope: Scope,
    label: string,
  ): Value[] {
    this.#count(label);
    const attributes = resolved(node.attributes, scope.attributes);
    const local = this.#functions.get(functionKey({ ...node, name: node.op }));
    if (local) return this.#call(local, inputs, attributes, label);
    const row = this.#dialect.find(node.domain, node.op);
    if (!row) return this.#fail(`${label}: the ${this.#dialect.noun} is not supported`);
    const opset = scope.opsets.get(node.domain) ?? scope.opsets.get("") ?? 1;
    const around = this.#around(scope, label);
    const contextOn = (values: typeof inputs) =>
      new NodeContext(node, opset, attributes, values, around, label);
    const context = contextOn(inputs);
    try {
      const results = outputsOf(row, context, row.build(context));
      this.#guard(row, context, results[0], inputs, contextOn);
      return results;
    } catch (error) {
      const ours = error instanceof KilnError && !(error instanceof Demand);
      throw ours ? context.explain(error) : error;
    }
  }

  /** Looks for 64-bit integers that do not fit: at once where the values are known, else in a run. */
  #guard(
    row: Row,
    n: NodeContext,
    result: Value | undefined,
    inputs: readonly (Value | undefined)[],
    contextOn: (values: readonly (Value | undefined)[]) => NodeContext,
  ): void {
    if (result?.kind !== "tensor" || !isWide(result.type)) {
      if (n.node.op === "Cast" && n.count) refuseClipped(n, [0]);
      return;
    }
    const own = termsOf(n);
    refuseClipped(n, own);
    const flag = overflowOf(n, result, () =>
      this.#attempt(() => {
        const floats = inputs.map((v, i) =>
          v?.kind === "tensor" && own.includes(i) ? typed(convert(v.tensor, "f32"), "float32") : v,
        );
        const [estimate] = outputsOf(row, n, row.build(contextOn(floats)));
        return asTensorValue(estimate!, "estimate").tensor;
      }),
    );
    if (!flag) return;
    const known = n.peek(typed(flag, "bool"));
    if (known?.some((v) => v === 1)) throw new DtypeError(beyond(n.where, result.type));
    // What is known without a run was computed on extents, which fit.
    if (!known && !n.peek(result)) this.#checks.push({ where: n.where, type: result.type, flag });
  }

  #around(scope: Scope, label: string): Surroundings {
    return {
      known: (value, key) => this.#known(value, key),
      peek: (value) => this.#peek(value),
      weight: (def) => this.#weights.value(def),
      lookup: (name) => scope.get(name),
      attempt: (build) => this.#attempt(build),
      apart: (build) => this.#apart(build),
      check: (checks) => {
        this.#checks.push(...checks);
      },
      run: (graph, inputs) => {
        const inner = scope.inner();
        for (const def of graph.initializers) inner.set(def.name, this.#weights.value(def));
        for (const [i, { name }] of graph.inputs.entries()) {
          const value = inputs[i];
          if (value) inner.set(name, value);
        }
        return this.graph(graph, inner, `${label}/`);
      },
      apply: (node, inputs) => this.#node(node, inputs, scope, `${label}/${node.op}`),
    };
  }

  #call(
    f: FunctionDef,
    inputs: readonly (Value | undefined)[],
    attributes: ReadonlyMap<string, AttributeDef>,
    label: string,
  ): Value[] {
    const scope = new Scope(f.opsets, new Map([...f.defaults, ...attributes]));
    for (const [i, name] of f.inputs.entries()) {
      const value = inputs[i];
      if (value) scope.set(name, value);
      else scope.leaveOut(name);
    }
    this.#nodes(f.nodes, f.outputs, scope, `${label}/`);
    return f.outputs.map((name) => scope.get(name) as Value);
  }

  #apart<T>(build: () => T): { value: T; checks: readonly Check[] } {
    const around = this.#checks;
    const checks: Check[] = [];
    this.#checks = checks;
    try {
      return { value: build(), checks };
    } finally {
      this.#checks = around;
    }
  }

  #attempt<T>(build: () => T): T | undefined {
    const before = new Map(this.#demands);
    const checks = this.#checks.length;
    try {
      return build();
    } catch (error) {
      if (!(error instanceof KilnError)) throw error;
      this.#checks.length = checks;
      this.#demands.clear();
      for (const [key, n] of before) this.#demands.set(key, n);
      return undefined;
    }
  }

  #peek(value: TensorValue): readonly Dim[] | undefined {
    const own = value.def && numbersOfDef(value.def);
    return own ?? this.#values.of(value.tensor);
  }

  #known(value: TensorValue, where: string): readonly Dim[] {
    const known = this.#peek(value);
    if (known) return known;
    const nth = this.#demands.get(where) ?? 0;
    this.#demands.set(where, nth + 1);
    const key = nth ? `${where} (${nth + 1})` : where;
    const given = this.#given.get(key);
    if (given) return given;
    throw new Demand(key, value.tensor, this.#dialect);
  }
}

/** Exporters write the ends of 64 bits for "no end", which are held as the ends of 32; nothing can be computed of them. */
function refuseClipped(n: NodeContext, terms: readonly number[]): void {
  for (const i of terms) {
    if (!n.has(i) || n.value(i).kind !== "tensor") continue;
    const { def, type } = n.typed(i);
    const x = def && clipped(def, "i32");
    if (x !== undefined)
      throw new DtypeError(`${n.where}: input ${i} is ${x}, beyond the 32 bits that hold ${type}`);
  }
}

function checkOutput(what: string, value: Value): void {
  const x = value.kind === "tensor" ? clipped(value.def, "i32") : undefined;
  if (x !== undefined) throw new DtypeError(`${what} is ${x}, beyond the 32 bits that hold int64`);
}

/** The node as messages name it: its name, or its place and its first output. */
const labelOf = (node: NodeDef, path: string, i: number): string =>
  `${path}${node.op} ${node.name || `#${i} (${node.outputs[0] ?? ""})`}`;

/** The nodes that the outputs need. Nodes are in order, operands before users. */
function liveNodes(nodes: readonly NodeDef[], outputs: readonly string[]): Set<NodeDef> {
  const needed = new Set(outputs);
  const live = new Set<NodeDef>();
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]!;
    if (!node.outputs.some((name) => needed.has(name))) continue;
    live.add(node);
    for (const name of [...node.inputs, ...capturedBy(node)]) needed.add(name);
  }
  return live;
}

/** Every name that the node's subgraphs read; more than they capture does no harm. */
function* capturedBy(node: NodeDef): Generator<string> {
  for (const attribute of node.attributes.values()) {
    const graphs =
      attribute.kind === "graph"
        ? [attribute.value]
        : attribute.kind === "graphs"
          ? attribute.value
          : [];
    for (const graph of graphs) {
      for (const { name } of graph.outputs) yield name;
      for (const inner of graph.nodes) {
        yield* inner.inputs;
        yield* capturedBy(inner);
      }
    }
  }
}

/** Attributes with those that refer to the function's caller replaced. */
function resolved(
  own: ReadonlyMap<string, AttributeDef>,
  callers: ReadonlyMap<string, AttributeDef>,
): ReadonlyMap<string, AttributeDef> {
  const found = new Map<string, AttributeDef>();
  for (const [name, attribute] of own) {
    const value = attribute.kind === "reference" ? callers.get(attribute.value) : attribute;
    if (value) found.set(name, value);
  }
  return found;
}

/** A handler's result as the values of the node's outputs. */
function outputsOf(row: Row, n: NodeContext, result: Result): Value[] {
  const list = Array.isArray(result) ? result : [result as Tensor | Value];
  return list.map((r) => (r instanceof Tensor ? plain(row, n, r) : (r as Value)));
}

/** The type of a plain tensor: the row's, else that of the first input if one dtype holds both. */
function plain(row: Row, n: NodeContext, t: Tensor): TensorValue {
  if (row.type) return typed(t, row.type);
  for (let i = 0; i < n.count; i++) {
    if (!n.has(i) || n.value(i).kind !== "tensor") continue;
    const input = asTensorValue(n.value(i), "input");
    if (input.tensor.dtype !== t.dtype) continue;
    return typed(row.wraps && narrowRange[input.type] ? wrapped(t, input.type) : t, input.type);
  }
  return typed(t, elementTypeOf(t.dtype));
}

export type { TensorDef };
