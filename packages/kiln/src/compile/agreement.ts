/**
 * Whether a function that was traced with symbols means the same with numbers. It does not where the script looked at an extent
 * itself: `x.shape[0] === 3` is false of a symbol whatever it will be. Compares graphs and runs nothing.
 */
import { graphPasses, type Program, rootsOf } from "@kiln-ml/compiler";
import {
  type Attrs,
  type AttrValue,
  attrKey,
  type Dim,
  DimExpr,
  full,
  type Graph,
  hasHostData,
  hostDataOf,
  input,
  keyOfDim,
  makeNode,
  type Shape,
  substitute,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";

type Values = ReadonlyMap<string, Dim>;

/** What brings two ways to build one graph to one form; the others choose an order. */
const normal = new Set(["inline", "regions", "simplify", "fold", "cse"]);

/** True if `symbolic`, with these values for its symbols, is the program `plain` of the numbers. */
export function agree(symbolic: Program, plain: Program, values: Values): boolean {
  const [a, b] = [bound(symbolic, plain.inputs, values), plain].map((program) =>
    graphPasses.filter((p) => normal.has(p.name)).reduce((p, pass) => pass.run(p), program),
  ) as [Program, Program];
  const numbers = new Numbers();
  const theirs = numbers.of(rootsOf(b));
  return (
    a.outputs.length === b.outputs.length &&
    a.updates.length === b.updates.length &&
    a.outputs.every(({ name }, i) => name === b.outputs[i]!.name) &&
    a.updates.every(([param], i) => param === b.updates[i]![0]) &&
    numbers.of(rootsOf(a)).every((n, i) => n === theirs[i])
  );
}

/** The program with numbers for its symbols, on other inputs. */
function bound(program: Program, inputs: readonly Tensor[], values: Values): Program {
  const by = new Map(program.inputs.map((t, i) => [t, inputs[i]!]));
  bind(rootsOf(program), by, values);
  return {
    inputs,
    outputs: program.outputs.map((o) => ({ ...o, value: by.get(o.value)! })),
    updates: program.updates.map(([param, value]) => [param, by.get(value)!] as const),
  };
}

/** Adds to `by` what every node below the roots becomes. */
function bind(roots: readonly Tensor[], by: Map<Tensor, Tensor>, values: Values): void {
  for (const t of topologicalOrder(roots)) {
    if (by.has(t)) continue;
    const { op, dtype, results } = t;
    if (op === "param" || op === "data" || op === "input") {
      by.set(t, t);
      continue;
    }
    const several = results?.map((r) => ({ dtype: r.dtype, shape: bindShape(r.shape, values) }));
    const extent = extentOf(t, values);
    if (extent !== undefined) {
      by.set(t, full([1], extent, dtype));
      continue;
    }
    const node = makeNode({
      op,
      operands: t.operands.map((o) => by.get(o)!),
      attrs: bindAttr(t.attrs, values) as Attrs,
      dtype,
      shape: bindShape(t.shape, values),
      regions: t.regions.map((g) => bindRegion(g, values)),
      ...(several ? { results: several } : {}),
      traced: false,
    });
    by.set(t, node);
  }
}

/** The number that a symbol's value in the graph becomes: element d of 0, 1, …, d, see `dimValue`. */
function extentOf({ op, operands: [x], attrs, shape }: Tensor, values: Values): number | undefined {
  if (op !== "slice" || x?.op !== "iota" || shape.length !== 1 || shape[0] !== 1) return undefined;
  const [start] = bindAttr(attrs.start!, values) as readonly AttrValue[];
  return typeof start === "number" ? start : undefined;
}

const bindShape = (shape: Shape, values: Values): Shape => shape.map((d) => substitute(d, values));

function bindRegion(graph: Graph, values: Values): Graph {
  const params = graph.params.map((t) =>
    input(String(t.attrs.name), t.dtype, bindShape(t.shape, values)),
  );
  const by = new Map(graph.params.map((t, i) => [t, params[i]!]));
  bind(graph.results, by, values);
  return { params, results: graph.results.map((t) => by.get(t)!) };
}

function bindAttr(value: AttrValue, values: Values): AttrValue {
  if (value instanceof DimExpr) return substitute(value, values);
  if (Array.isArray(value)) return value.map((v: AttrValue) => bindAttr(v, values));
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, bindAttr(v, values)]));
}

const commutative = new Set(["add", "mul", "maximum", "minimum", "and", "or", "xor", "equal"]);

/** Numbers nodes by what they compute: two that have one number are the same. */
class Numbers {
  readonly #known = new Map<Tensor, number>();
  readonly #byText = new Map<string, number>();
  readonly #data: Tensor[] = [];

  of(roots: readonly Tensor[]): readonly number[] {
    for (const t of topologicalOrder(roots))
      if (!this.#known.has(t)) this.#known.set(t, this.#numberOf(this.#textOf(t)));
    return roots.map((t) => this.#known.get(t)!);
  }

  #numberOf(text: string): number {
    const found = this.#byText.get(text) ?? this.#byText.size;
    this.#byText.set(text, found);
    return found;
  }

  #textOf(t: Tensor): string {
    if (t.op === "data") return `data ${this.#placeOfData(t)}`;
    if (t.op === "param" || t.op === "input") return `${t.op} ${t.id}`;
    const operands = t.operands.map((o) => this.#known.get(o)!);
    if (commutative.has(t.op)) operands.sort((a, b) => a - b);
    const regions = t.regions.map((g) => this.#regionText(g));
    return `${t.op}(${operands})${attrKey(t.attrs)}${typeText(t)}${regions}`;
  }

  /** Parameters of regions are what they are by their place. */
  #regionText({ params, results }: Graph): string {
    const types = params.map(typeText);
    for (const [i, p] of params.entries())
      this.#known.set(p, this.#numberOf(`of region ${i} ${types}`));
    return `{${types}:${this.of(results)}}`;
  }

  /** Values that a function makes at every trace are other leaves each time. */
  #placeOfData(t: Tensor): number {
    const found = this.#data.findIndex((d) => d === t || hasSameData(d, t));
    return found >= 0 ? found : this.#data.push(t) - 1;
  }
}

const typeText = (t: Tensor): string => `${t.dtype}[${t.shape.map(keyOfDim)}]`;

function hasSameData(x: Tensor, y: Tensor): boolean {
  if (typeText(x) !== typeText(y) || !hasHostData(x) || !hasHostData(y)) return false;
  const [a, b] = [hostDataOf(x), hostDataOf(y)];
  return a.every((v, i) => Object.is(v, b[i]));
}
