/**
 * A program as an ONNX model: nodes of the IR → nodes of the standard ops by the table in `rows/`. For inference:
 * parameters become initializers, and what a training step assigns is not part of a model. Optimises nothing but what a
 * table row sees at once; runtimes have passes for the rest.
 *
 * Ops: onnx.ai/onnx/operators, from opset 18.
 */
import {
  checkOptions,
  GraphError,
  type HostArray,
  hasHostData,
  hostDataOf,
  initialValueOf,
  inlineCalls,
  type OptionNames,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import type { GraphDef, Model, NodeDef } from "../proto/model.ts";
import { writeModel } from "../proto/write.ts";
import { Builder } from "./builder.ts";
import { symbolSources } from "./dims.ts";
import { prune } from "./prune.ts";
import { RowContext, Unsupported, type Values } from "./row.ts";
import { rowsFor } from "./rows/index.ts";
import { valueDef } from "./value.ts";

export interface ExportProgram {
  /** `input` nodes, in the order in which the model declares them. */
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly { readonly name: string; readonly value: Tensor }[];
}

export interface ExportOptions {
  /** The version of the standard ops; 21 by default, 18 at least. */
  readonly opset?: number;
  /** The values of a parameter, in the storage form of its dtype. By default those it was made with. */
  readonly weights?: (param: Tensor) => HostArray;
  /** The name of the graph. */
  readonly name?: string;
}

const exportOptions: OptionNames<ExportOptions> = { opset: 1, weights: 1, name: 1 };

/**
 * The bytes of an ONNX model that computes the outputs. A symbol in a shape becomes a named extent, and one of the
 * inputs must have it as an extent.
 *
 * Throws GraphError for ops that ONNX has nothing for, all of them in one message; for a leaf that is not among the
 * inputs; for names that are not distinct; for a parameter without values.
 */
export function exportOnnx(program: ExportProgram, options: ExportOptions = {}): Uint8Array {
  return writeModel(exportModel(program, options));
}

/** As `exportOnnx`, before it becomes bytes. */
export function exportModel(program: ExportProgram, options: ExportOptions = {}): Model {
  const { opset = 21, name = "kiln" } = checkOptions("exportOnnx", options, exportOptions);
  const irVersion = irVersionOf(opset);
  const inputs = inputNames(program);
  const shaped = program.inputs.map((t) => ({ name: inputs.get(t)!, shape: t.shape }));
  const b = Builder.outermost(opset, symbolSources(shaped));
  for (const input of inputs.values()) b.fresh(input);
  for (const output of program.outputs) b.fresh(output.name);
  const roots = inlineCalls(program.outputs.map(({ value }) => value));
  const writer = new Writer(inputs, options.weights ?? initialWeights);
  const results = writer.write(b, roots, new Map());
  writer.checkSupported();
  const outputs = program.outputs.map(({ name: output }, i) => valueDef(output, roots[i]!));
  const named = nameOutputs(
    b.nodes,
    outputs.map((o, i) => [o.name, results[i]!]),
  );
  const { nodes, read } = prune(
    named,
    outputs.map((o) => o.name),
  );
  const graph: GraphDef = {
    name,
    nodes,
    initializers: b.initializers.filter((t) => read.has(t.name)),
    inputs: program.inputs.map((t) => valueDef(inputs.get(t)!, t)),
    outputs,
    values: [],
  };
  const opsets = new Map([["", opset]]);
  return { irVersion, producer: "kiln", opsets, graph, functions: [], metadata: new Map() };
}

/** The IR version that came with an opset. */
function irVersionOf(opset: number): number {
  if (!Number.isInteger(opset) || opset < 18)
    throw new GraphError(`exportOnnx: opset is ${opset}, not an integer from 18`);
  const versions = [8, 9, 9, 10, 10, 11, 11, 12, 13, 13];
  return versions[opset - 18] ?? 13;
}

function inputNames({ inputs, outputs }: ExportProgram): ReadonlyMap<Tensor, string> {
  const names = new Map<Tensor, string>();
  const taken = new Set<string>();
  const take = (name: string, what: string): void => {
    if (name === "" || taken.has(name))
      throw new GraphError(
        `exportOnnx: the ${what} name "${name}" is ${name ? "given twice" : "empty"}`,
      );
    taken.add(name);
  };
  for (const t of inputs) {
    if (t.op !== "input")
      throw new GraphError(`exportOnnx: an input is a ${t.op} node, not an input`);
    take(String(t.attrs.name), "input");
    names.set(t, String(t.attrs.name));
  }
  for (const { name } of outputs) take(name, "output");
  return names;
}

/** What a parameter was made with, if that is data and not an expression. */
function initialWeights(param: Tensor): HostArray {
  const first = initialValueOf(param);
  if (first.op === "data") return hostDataOf(first);
  throw new GraphError(
    `exportOnnx: parameter ${String(param.attrs.name)} begins as the result of ${first.op}, not as data\n  give its values by the option weights`,
  );
}

class Writer {
  readonly #inputs: ReadonlyMap<Tensor, string>;
  readonly #weights: (param: Tensor) => HostArray;
  readonly #rows = rowsFor((b, region, given) => {
    const names = region.params.map((p, i) => [p, [given[i]!]] as const);
    return this.write(b, inlineCalls(region.results), new Map(names));
  });
  readonly #leaves = new Map<Tensor, string>();
  readonly #unsupported = new Map<string, number>();

  constructor(inputs: ReadonlyMap<Tensor, string>, weights: (param: Tensor) => HostArray) {
    this.#inputs = inputs;
    this.#weights = weights;
  }

  /** Writes what the roots need, operands first, and returns their names. */
  write(b: Builder, roots: readonly Tensor[], given: ReadonlyMap<Tensor, readonly string[]>) {
    const values: Values = { names: new Map(given), thin: new Map() };
    for (const node of topologicalOrder(roots, (t) => given.has(t)))
      if (!given.has(node)) {
        const made = (t: Tensor) => this.write(b, [t], values.names)[0]!;
        values.names.set(node, this.#node(new RowContext(b, node, values, made)));
      }
    return roots.map((t) => values.names.get(t)![0]!);
  }

  #node(c: RowContext): readonly string[] {
    const { node } = c;
    if (node.op === "result") {
      const of = c.values.names.get(node.operands[0]!)!;
      return [of[Number(node.attrs.index)] ?? of[0]!];
    }
    const leaf = this.#leaf(c.b, node);
    if (leaf !== undefined) return [leaf];
    const row = this.#rows[node.op];
    try {
      if (!row) throw new Unsupported(node.op);
      const made = row(c);
      return typeof made === "string" ? [made] : made;
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      this.#unsupported.set(error.message, (this.#unsupported.get(error.message) ?? 0) + 1);
      // The message names all of them: what reads this one is written as if it were there.
      return [""];
    }
  }

  #leaf(b: Builder, node: Tensor): string | undefined {
    if (node.op === "constant") return b.scalar(Number(node.attrs.value), node.dtype);
    if (node.op === "input") {
      const name = this.#inputs.get(node);
      if (name !== undefined) return name;
      throw new GraphError(
        `exportOnnx: an output needs the input ${String(node.attrs.name)}, which is not among the inputs`,
      );
    }
    if (node.op !== "param" && node.op !== "data") return undefined;
    const known = this.#leaves.get(node);
    if (known !== undefined) return known;
    const name = this.#initializer(b, node);
    this.#leaves.set(node, name);
    return name;
  }

  #initializer(b: Builder, node: Tensor): string {
    const what = node.op === "param" ? `parameter ${String(node.attrs.name)}` : "a data leaf";
    if (node.op === "data" && !hasHostData(node))
      throw new GraphError(`exportOnnx: ${what} has no values`);
    const data = node.op === "param" ? this.#weights(node) : hostDataOf(node);
    // Parameters and data have extents that are numbers.
    const dims = node.shape as readonly number[];
    const size = dims.reduce((n, d) => n * d, 1);
    if (data.length !== size)
      throw new GraphError(
        `exportOnnx: ${what} of [${dims}] has ${size} elements, its values are ${data.length}`,
      );
    return b.initializer(
      node.op === "param" ? String(node.attrs.name) : "data",
      node.dtype,
      dims,
      data,
    );
  }

  checkSupported(): void {
    if (this.#unsupported.size === 0) return;
    const list = [...this.#unsupported].map(
      ([op, n]) => `${op} (${n === 1 ? "once" : `${n} times`})`,
    );
    throw new GraphError(`exportOnnx: ONNX has nothing for ${list.join(", ")}`);
  }
}

/** Renames results to what the outputs are called; a leaf, or a value that is two outputs, is copied. */
function nameOutputs(
  nodes: readonly NodeDef[],
  outputs: readonly (readonly [name: string, value: string])[],
): readonly NodeDef[] {
  const made = new Set(nodes.flatMap((n) => n.outputs));
  const names = new Map<string, string>();
  const copies: NodeDef[] = [];
  for (const [name, value] of outputs) {
    if (made.has(value) && !names.has(value)) names.set(value, name);
    else copies.push(copyOf(names.get(value) ?? value, name));
  }
  return [...nodes.map((n) => renamed(n, names)), ...copies];
}

const copyOf = (from: string, to: string): NodeDef => ({
  op: "Identity",
  domain: "",
  overload: "",
  name: to,
  inputs: [from],
  outputs: [to],
  attributes: new Map(),
});

function renamed(node: NodeDef, names: ReadonlyMap<string, string>): NodeDef {
  const list = (old: readonly string[]): string[] => old.map((n) => names.get(n) ?? n);
  const attributes = new Map(node.attributes);
  for (const [name, a] of attributes)
    if (a.kind === "graph") {
      const nodes = a.value.nodes.map((n) => renamed(n, names));
      attributes.set(name, { kind: "graph", value: { ...a.value, nodes } });
    }
  return { ...node, inputs: list(node.inputs), outputs: list(node.outputs), attributes };
}
