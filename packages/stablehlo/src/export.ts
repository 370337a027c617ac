/**
 * A program as StableHLO text: one module with a `main` whose arguments are the program's inputs, parameters and data, and whose
 * results are its outputs and the new values of its parameters. Reads no values: whoever runs the text brings them.
 */
import {
  checkOptions,
  type Dim,
  evaluateDim,
  type Graph,
  GraphError,
  inlineCalls,
  type OptionNames,
  type Requirement,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import { checkDims, checkRows, type Dims } from "./bind.ts";
import { Builder, type Ref } from "./builder.ts";
import type { Site } from "./row.ts";
import { rows, withoutRow } from "./table.ts";
import { type Type, typeText } from "./text.ts";

/** What is exported: the compiler's programs have this form. */
export interface ExportedProgram {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly { readonly name: string; readonly value: Tensor }[];
  /** Parameter and the value it holds after a run. */
  readonly updates: readonly (readonly [Tensor, Tensor])[];
  readonly requirements?: readonly Requirement[];
}

export interface StableHloOptions {
  /** A number for each symbol. */
  readonly dims?: Dims;
  /** Whether the memory of a parameter is given up for its new value; default true. */
  readonly donate?: boolean;
  /** The name of the module; default "kiln". */
  readonly name?: string;
}

const optionNames: OptionNames<StableHloOptions> = { dims: 1, donate: 1, name: 1 };

export interface Argument extends Type {
  readonly name: string;
  readonly kind: "input" | "param" | "data";
  /** The leaf whose value it takes. */
  readonly leaf: Tensor;
  /** The result that takes its memory. */
  readonly alias?: number;
}

export interface Result extends Type {
  readonly name: string;
}

export interface StableHlo {
  readonly text: string;
  readonly args: readonly Argument[];
  readonly results: readonly Result[];
}

/** Every node, those of regions included. */
function allNodes(roots: readonly Tensor[]): Tensor[] {
  const found = new Set<Tensor>();
  const walk = (list: readonly Tensor[]): void => {
    for (const t of topologicalOrder(list)) {
      if (found.has(t)) continue;
      found.add(t);
      for (const { params, results } of t.regions) {
        for (const p of params) found.add(p);
        walk(results);
      }
    }
  };
  walk(roots);
  return [...found];
}

/** Names of nodes in one region, and of those around it if it may read them. */
class Scope {
  readonly #refs = new Map<Tensor, Ref[]>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  get(t: Tensor): Ref[] | undefined {
    return this.#refs.get(t) ?? this.#outer?.get(t);
  }

  set(t: Tensor, refs: Ref[]): void {
    this.#refs.set(t, refs);
  }
}

class Writer {
  readonly #dims: Dims;

  constructor(dims: Dims) {
    this.#dims = dims;
  }

  readonly dim = (d: Dim): number => evaluateDim(d, this.#dims);
  readonly typeOf = (t: Pick<Tensor, "dtype" | "shape">): Type => ({
    dtype: t.dtype,
    shape: t.shape.map(this.dim),
  });

  /** Writes what the roots need and the scope does not have; gives their names. */
  write(b: Builder, roots: readonly Tensor[], scope: Scope): Ref[] {
    for (const t of topologicalOrder(roots, (t) => scope.get(t) !== undefined))
      if (!scope.get(t)) scope.set(t, this.#node(b, t, scope));
    return roots.map((t) => scope.get(t)![0]!);
  }

  #node(b: Builder, node: Tensor, scope: Scope): Ref[] {
    if (node.op === "result") return [scope.get(node.operands[0]!)![node.attrs.index as number]!];
    const site: Site = {
      b,
      node,
      type: this.typeOf(node),
      dim: this.dim,
      typeOf: this.typeOf,
      inline: (inner, region, args, inherit) => {
        const local = new Scope(inherit ? scope : undefined);
        for (const [i, p] of region.params.entries()) local.set(p, [args[i]!]);
        return this.write(inner, region.results, local);
      },
    };
    const operands = node.operands.map((t) => scope.get(t)![0]!);
    const made = rows[node.op]!(site, ...operands);
    return Array.isArray(made) ? made : [made];
  }
}

const isLeaf = (t: Tensor): boolean => t.op === "input" || t.op === "param" || t.op === "data";

function argumentsOf(
  program: ExportedProgram,
  roots: readonly Tensor[],
  writer: Writer,
  donate: boolean,
): Argument[] {
  const leaves = new Set([
    ...program.inputs,
    ...topologicalOrder(roots).filter(isLeaf),
    ...program.updates.map(([param]) => param),
  ]);
  const at = new Map(
    program.updates.map(([param], i) => [param, program.outputs.length + i] as const),
  );
  let unnamed = 0;
  return [...leaves].map((leaf) => {
    if (leaf.op === "input" && !program.inputs.includes(leaf))
      throw new GraphError(
        `stablehlo: input ${String(leaf.attrs.name)} is read and is none of the program's inputs\n  add it to inputs`,
      );
    const alias = donate ? at.get(leaf) : undefined;
    return {
      ...writer.typeOf(leaf),
      name: String(leaf.attrs.name ?? `data${unnamed++}`),
      kind: leaf.op as Argument["kind"],
      leaf,
      ...(alias === undefined ? {} : { alias }),
    };
  });
}

const argumentText = (ref: Ref, { alias }: Argument): string =>
  `${ref.name}: ${typeText(ref)}${alias === undefined ? "" : ` {tf.aliasing_output = ${alias} : i32}`}`;

function moduleText(name: string, b: Builder, args: string, results: readonly Result[]): string {
  const types = results.map(typeText).join(", ");
  const main = `  func.func public @main(${args}) -> (${types}) {\n${b.lines.join("\n")}\n  }`;
  const head = `module @${name} attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {`;
  return `${[head, main, ...b.functions].join("\n")}\n}\n`;
}

const asProgram = (source: ExportedProgram | Graph): ExportedProgram =>
  "params" in source
    ? {
        inputs: source.params,
        outputs: source.results.map((value, i) => ({ name: `y${i}`, value })),
        updates: [],
      }
    : source;

/**
 * A program, or a graph of parameters and results, as the text of a StableHLO module.
 *
 * Arguments: inputs, then parameters and data in the order of first use. Results: outputs, then updates. Values are those of the
 * reference: random bits, shifts, conversions and divisions bit for bit, sums within the rounding of another order.
 *
 *   const { text, args, results } = exportStableHlo(program, { dims: { N: 64 } });
 *
 * Throws ShapeError if a symbol is without a number or does not fit, GraphError if an op has no row.
 * OpenXLA, StableHLO specification 1.x.
 */
export function exportStableHlo(
  source: ExportedProgram | Graph,
  options: StableHloOptions = {},
): StableHlo {
  const {
    dims = {},
    donate = true,
    name = "kiln",
  } = checkOptions("stablehlo", options, optionNames);
  const program = asProgram(source);
  const roots = inlineCalls([
    ...program.outputs.map((o) => o.value),
    ...program.updates.map(([, value]) => value),
  ]);
  const nodes = allNodes([...program.inputs, ...roots]);
  checkRows(nodes, (op) => op in rows || withoutRow.includes(op));
  checkDims(nodes, program.requirements ?? [], dims);
  const writer = new Writer(dims);
  const args = argumentsOf(program, roots, writer, donate);
  const scope = new Scope();
  const refs = args.map(({ dtype, shape }, i): Ref => ({ name: `%arg${i}`, dtype, shape }));
  for (const [i, { leaf }] of args.entries()) scope.set(leaf, [refs[i]!]);
  const b = new Builder();
  b.ops("func.return", writer.write(b, roots, scope), []);
  const names = [
    ...program.outputs.map((o) => o.name),
    ...program.updates.map(([param]) => String(param.attrs.name)),
  ];
  const results = roots.map((t, i) => ({ ...writer.typeOf(t), name: names[i]! }));
  const argTexts = refs.map((ref, i) => argumentText(ref, args[i]!)).join(", ");
  return { text: moduleText(name, b, argTexts, results), args, results };
}
