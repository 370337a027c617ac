/**
 * Graphs as text, one node a line, read back by `parse.ts`. Symbols with bounds other than [1, inf]
 * are declared first. Values of data leaves are shown when they are few; the text of a larger one
 * names only its type.
 *
 *   graph f(%x: f32[N,784], %w: param f32[784,10]) {
 *     %1: f32[N,10] = dotGeneral %x %w {lhsContract=[1], rhsContract=[0]}
 *     %2: f32[N,10] = exp %1
 *     return %2
 *   }
 */

import { collectSymbols, DimExpr, type DimSymbol, printDim } from "./dim.ts";
import { checkOptions, type OptionNames } from "./errors.ts";
import { fromHost } from "./host.ts";
import {
  type AttrValue,
  type Graph,
  type ResultType,
  type Tensor,
  topologicalOrder,
} from "./node.ts";
import { hasHostData, hostDataOf } from "./ops/source.ts";
import { printShape } from "./shape.ts";
import type { Updates } from "./trace.ts";

const shownValues = 32;
const unique = new Set(["input", "param", "data"]);

export interface PrintOptions {
  /** In place of the graph's own. */
  readonly name?: string;
  /** New values of parameters, printed as `assign` lines before the return. */
  readonly updates?: Updates;
  /** Text put behind a node's line, as a comment. */
  readonly note?: (node: Tensor) => string | undefined;
}

export const printType = (t: ResultType): string => `${t.dtype}${printShape(t.shape)}`;

const printOptions: OptionNames<PrintOptions> = { name: 1, updates: 1, note: 1 };

/**
 * The text of a graph. `torch.fx.Graph.print_tabular`.
 *
 * @param graph A name, its inputs and its results.
 * @example
 *   const x = input("x", "f32", [2]);
 *   const text = printGraph({ name: "f", params: [x], results: [x.exp()] });
 *   text.split("\n")[1].trim() // "%1: f32[2] = exp %x"
 */
export function printGraph(graph: Graph, options: PrintOptions = {}): string {
  const updates = options.updates ?? new Map<Tensor, Tensor>();
  checkOptions("printGraph", options, printOptions);
  const printer = new Printer(options);
  const lines = printer.graph(graph, `graph ${options.name ?? "f"}`, updates, new Map());
  const dims = [...printer.symbols.values()].filter((s) => s.min !== 1 || s.max !== Infinity);
  const header = dims.map((s) => `dim ${s.name} in [${s.min}, ${printNumber(s.max)}]`);
  return `${[...header, ...lines].join("\n")}\n`;
}

/**
 * The text of what a tensor is computed from. Leaves are its parameters, in the order they are met.
 * `jax.make_jaxpr`.
 *
 * @param roots What to print, with all that it is computed from.
 * @example
 *   printTensor(input("x", "f32", [2]).exp()).includes("exp") // true
 */
export const printTensor = (...roots: Tensor[]): string =>
  printGraph({ params: leavesOf(roots), results: roots });

/** The inputs, parameters and data that `roots` read, regions included. */
export function leavesOf(roots: readonly Tensor[]): Tensor[] {
  const found = new Set<Tensor>();
  for (const t of topologicalOrder(roots)) {
    if (unique.has(t.op)) found.add(t);
    for (const region of t.regions) for (const leaf of freeLeavesOf(region)) found.add(leaf);
  }
  return [...found];
}

/** Leaves that a region reads from outside. */
export const freeLeavesOf = (region: Graph): Tensor[] =>
  leavesOf(region.results).filter((t) => !region.params.includes(t));

type Names = Map<Tensor, string>;

class Printer {
  readonly symbols = new Map<string, DimSymbol>();
  private readonly used = new Set<string>();
  private readonly note: PrintOptions["note"];
  private next = 1;

  constructor(options: PrintOptions) {
    this.note = options.note;
  }

  graph(graph: Graph, head: string, updates: Updates, outer: Names): string[] {
    const names = new Map(outer);
    const params = graph.params.map((t) => this.param(t, names));
    const roots = [...graph.results, ...updates.values(), ...updates.keys()];
    const body = orderWithCaptures(roots)
      .filter((t) => !names.has(t))
      .flatMap((t) => this.node(t, names));
    for (const [target, value] of updates)
      body.push(`assign ${names.get(target)} ${names.get(value)}`);
    const results = graph.results.map((t) => names.get(t)).join(", ");
    body.push(`return ${results}`.trimEnd());
    return [`${head}(${params.join(", ")}) {`, ...body.map((line) => `  ${line}`), "}"];
  }

  private param(t: Tensor, names: Names): string {
    const name = this.nameOf(t);
    names.set(t, name);
    const kind = t.op === "input" ? "" : `${t.op} `;
    return `${name}: ${kind}${this.type(t)}${printAttrs(attrsOf(t, name))}`;
  }

  private node(t: Tensor, names: Names): string[] {
    const operands = t.operands.map((x) => ` ${names.get(x)}`).join("");
    const name = this.nameOf(t);
    const type = t.results ? `(${t.results.map((r) => this.type(r)).join(", ")})` : this.type(t);
    this.collect(t.attrs);
    const regions = t.regions.map((g) => this.graph(g, "", new Map(), names).join("\n"));
    names.set(t, name);
    const note = this.note?.(t);
    const head = `${name}: ${type} = ${t.op}${operands}${printAttrs(attrsOf(t, name))}`;
    const text = [head, ...regions].join(" ") + (note ? `  # ${note}` : "");
    return text.split("\n");
  }

  private type(t: ResultType): string {
    for (const d of t.shape) collectSymbols(d, this.symbols);
    return printType(t);
  }

  private collect(value: AttrValue): void {
    if (value instanceof DimExpr) collectSymbols(value, this.symbols);
    else if (typeof value === "object") for (const v of Object.values(value)) this.collect(v);
  }

  private nameOf(t: Tensor): string {
    const given = unique.has(t.op) ? String(t.attrs.name ?? "data") : undefined;
    const stem = given?.replace(/[^A-Za-z0-9_.]/g, "_").replace(/^(?=[0-9])|^$/, "_");
    let name = stem ?? String(this.next++);
    for (let i = 1; this.used.has(name); i++) name = `${stem}.${i}`;
    this.used.add(name);
    return `%${name}`;
  }
}

/** Operands first, and leaves that a region captures before the node that holds the region. */
function orderWithCaptures(roots: readonly Tensor[]): Tensor[] {
  const order = new Set<Tensor>();
  for (const t of topologicalOrder(roots)) {
    for (const region of t.regions) for (const leaf of freeLeavesOf(region)) order.add(leaf);
    order.add(t);
  }
  return [...order];
}

/** The attributes that the line does not say already. */
function attrsOf(t: Tensor, name: string): Record<string, AttrValue> {
  const attrs = { ...t.attrs } as Record<string, AttrValue>;
  if (unique.has(t.op) && `%${String(attrs.name)}` === name) delete attrs.name;
  if (t.op === "param" && attrs.trainable === true) delete attrs.trainable;
  if (t.op === "data" && hasHostData(t)) {
    const stored = hostDataOf(t);
    if (stored.length <= shownValues) attrs.values = [...fromHost(t.dtype, stored)];
  }
  return attrs;
}

function printAttrs(attrs: Record<string, AttrValue>): string {
  const list = Object.entries(attrs).map(([k, v]) => `${k}=${printAttr(v)}`);
  return list.length ? ` {${list.join(", ")}}` : "";
}

export function printAttr(value: AttrValue): string {
  if (typeof value === "number") return printNumber(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean") return String(value);
  if (value instanceof DimExpr) return printDim(value);
  if (Array.isArray(value)) return `[${value.map(printAttr).join(", ")}]`;
  const list = Object.entries(value).map(([k, v]) => `${k}=${printAttr(v)}`);
  return `{${list.join(", ")}}`;
}

function printNumber(x: number): string {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  return Object.is(x, -0) ? "-0" : String(x);
}
