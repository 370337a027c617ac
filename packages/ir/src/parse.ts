/**
 * Reads the text of graphs back. Every node is checked by its record; a type may be left out where the record
 * can infer it. Data leaves without values in the text are declared only. Errors give line and column.
 */
import { withEmptyLists } from "./attribute-forms.ts";
import { type Dim, dim, isStatic } from "./dim.ts";
import { type Dtype, isDtype } from "./dtype.ts";
import { KilnError } from "./errors.ts";
import { toHost } from "./host.ts";
import { type AttrValue, type Graph, makeNode, type ResultType, type Tensor } from "./node.ts";
import { hasOp, opRecord } from "./op.ts";
import { mostNesting } from "./ops/regions.ts";
import { dataLeaf, declareData, declareParam, input } from "./ops/source.ts";
import { Scanner } from "./scan.ts";
import { sizeOf } from "./shape.ts";
import type { Updates } from "./trace.ts";
import { checkNode } from "./verify.ts";

export interface ParsedGraph {
  readonly name: string;
  readonly graph: Graph;
  readonly updates: Updates;
  readonly symbols: ReadonlyMap<string, Dim>;
  /** Nodes by their name in the text, without `%`. */
  readonly nodes: ReadonlyMap<string, Tensor>;
}

/** The graph that `text` describes. Throws GraphError with the place of the first thing out of order. */
export function parseGraph(text: string): ParsedGraph {
  return new Parser(text).file();
}

type Scope = Map<string, Tensor>;
type Fields = Record<string, AttrValue>;

class Parser {
  private readonly s: Scanner;
  private readonly symbols = new Map<string, Dim>();
  private readonly updates: Updates = new Map();

  constructor(text: string) {
    this.s = new Scanner(text, this.symbols);
  }

  file(): ParsedGraph {
    const { s } = this;
    while (s.take("dim ")) this.bounds();
    s.expect("graph");
    const name = s.word("a graph name");
    const scope: Scope = new Map();
    const graph = this.graph(scope);
    s.blank();
    if (s.at < s.text.length) s.fail(`expected the end, got ${s.found()}`);
    return { name, graph, updates: this.updates, symbols: this.symbols, nodes: scope };
  }

  private bounds(): void {
    const { s } = this;
    const name = s.word("a symbol");
    s.expect("in");
    const at = s.at;
    const range = s.list(
      "[",
      "]",
      () => s.number() ?? s.fail(`expected a bound, got ${s.found()}`),
    );
    if (range.length !== 2) s.fail(`expected two bounds, got ${range.length}`, at);
    this.symbols.set(
      name,
      this.guard(at, () => dim(name, { min: range[0]!, max: range[1]! })),
    );
  }

  private graph(scope: Scope, nesting = 0): Graph {
    const { s } = this;
    if (nesting > mostNesting) s.fail(`regions are nested deeper than ${mostNesting}`);
    const params = s.list("(", ")", () => this.param(scope));
    s.expect("{");
    for (;;) {
      if (s.match(/return\b/) !== undefined) break;
      if (s.match(/assign\b/) !== undefined) this.updates.set(this.use(scope), this.use(scope));
      else this.node(scope, nesting);
    }
    const results: Tensor[] = [];
    if (s.peek("%"))
      do results.push(this.use(scope));
      while (s.take(","));
    s.expect("}");
    return { params, results };
  }

  private param(scope: Scope): Tensor {
    const { s } = this;
    const [start, name] = this.placedName();
    s.expect(":");
    const at = s.at;
    const op = s.match(/(?:param|data|input)\b/) ?? "input";
    const type = this.type();
    const attrs = this.attrs();
    const leaf = this.guard(at, () => this.leaf(op, name, type, attrs));
    return this.define(scope, name, leaf, start);
  }

  private leaf(op: string, name: string, type: ResultType, attrs: Fields): Tensor {
    const given = String(attrs.name ?? name);
    if (op === "input") return input(given, type.dtype, type.shape);
    if (op === "param")
      return declareParam(given, type.dtype, type.shape, attrs.trainable !== false);
    const values = attrs.values;
    if (!Array.isArray(values)) return declareData(type.dtype, type.shape);
    if (!type.shape.every(isStatic) || values.length !== sizeOf(type.shape))
      this.s.fail(`data of ${type.dtype}[${type.shape}] has ${values.length} values`);
    return dataLeaf(
      type.dtype,
      type.shape as readonly number[],
      toHost(type.dtype, values as number[]),
    );
  }

  private node(scope: Scope, nesting: number): void {
    const { s } = this;
    const [start, name] = this.placedName();
    const typed = s.take(":");
    const several = typed && s.peek("(");
    const types = typed ? this.types() : undefined;
    s.expect("=");
    s.blank();
    const at = s.at;
    const op = s.word("an op");
    if (!hasOp(op)) s.fail(`there is no op ${JSON.stringify(op)}`, at);
    const operands: Tensor[] = [];
    while (s.peekInline("%")) operands.push(this.use(scope));
    const attrs = this.attrs();
    const regions: Graph[] = [];
    while (s.peek("(")) regions.push(this.graph(new Map(scope), nesting + 1));
    const node = this.guard(at, () =>
      this.build(op, name, operands, attrs, types, several, regions),
    );
    this.define(scope, name, node, start);
  }

  private build(
    op: string,
    name: string,
    operands: Tensor[],
    given: Fields,
    types: ResultType[] | undefined,
    several: boolean,
    regions: Graph[],
  ): Tensor {
    const type = types?.[0];
    if (op === "input" || op === "param" || op === "data")
      return this.leaf(op, name, type ?? this.s.fail(`${op} needs a type`), given);
    const attrs = withEmptyLists(op, given);
    const results = types && (several || opRecord(op).vjpOfAll) ? { results: types } : {};
    const node = makeNode({
      op,
      operands,
      attrs,
      ...(type ?? opRecord(op).infer(operands, attrs)),
      ...(regions.length ? { regions } : {}),
      ...results,
    });
    checkNode(node);
    return node;
  }

  /** Runs a check and puts the place before what it throws. */
  private guard<T>(at: number, run: () => T): T {
    try {
      return run();
    } catch (e) {
      if (!(e instanceof KilnError) || e.message.startsWith("parse:")) throw e;
      return this.s.fail(e.message, at);
    }
  }

  private placedName(): [at: number, name: string] {
    const { s } = this;
    s.blank();
    const at = s.at;
    const name = s.match(/%[\w.]+/) ?? s.fail(`expected a value, got ${s.found()}`);
    return [at, name.slice(1)];
  }

  private use(scope: Scope): Tensor {
    const [at, name] = this.placedName();
    return scope.get(name) ?? this.s.fail(`%${name} is not defined`, at);
  }

  private define(scope: Scope, name: string, node: Tensor, at: number): Tensor {
    if (scope.has(name)) this.s.fail(`%${name} is defined twice`, at);
    scope.set(name, node);
    return node;
  }

  private types(): ResultType[] {
    return this.s.peek("(") ? this.s.list("(", ")", () => this.type()) : [this.type()];
  }

  private type(): ResultType {
    const { s } = this;
    s.blank();
    const at = s.at;
    const dtype = s.word("a dtype");
    if (!isDtype(dtype)) s.fail(`there is no dtype ${JSON.stringify(dtype)}`, at);
    return { dtype: dtype as Dtype, shape: s.list("[", "]", () => this.guard(at, () => s.dim())) };
  }

  private attrs(): Fields {
    return this.s.peek("{") ? this.fields() : {};
  }

  private fields(depth = 0): Fields {
    const { s } = this;
    return Object.fromEntries(
      s.list("{", "}", () => {
        const key = s.word("an attribute");
        s.expect("=");
        return [key, this.value(depth)] as const;
      }),
    );
  }

  private value(depth = 0): AttrValue {
    const { s } = this;
    if (depth > mostNesting) s.fail(`values are nested deeper than ${mostNesting}`);
    if (s.peek("[")) return s.list("[", "]", () => this.value(depth + 1));
    if (s.peek("{")) return this.fields(depth + 1);
    const text = s.match(/"(?:[^"\\\n]|\\.)*"/);
    if (text !== undefined) return JSON.parse(text) as string;
    const truth = s.match(/(?:true|false)\b/);
    if (truth !== undefined) return truth === "true";
    const at = s.at;
    const number = s.number();
    if (number !== undefined && !/[+\-*/%]/.test(s.text[s.at] ?? "")) return number;
    s.at = at;
    return this.guard(at, () => s.dim());
  }
}
