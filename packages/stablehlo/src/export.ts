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
  isShard,
  type OptionNames,
  type Requirement,
  type ShardSpec,
  shardSpecOf,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import { checkDims, checkRows, type Dims } from "./bind.ts";
import { Builder, type Ref } from "./builder.ts";
import { faultsOf, type Mesh, meshAttribute, refuse, shardingAttribute } from "./mesh.ts";
import type { Site } from "./row.ts";
import { type Recipe, specsOf } from "./sharding.ts";
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
  /** The devices that the program is spread over; one device without. */
  readonly mesh?: Mesh;
  /**
   * How arguments lie on the mesh: recipes, of which the first that gives a spec counts. What none
   * wants is on every device.
   */
  readonly shard?: Recipe | readonly Recipe[];
}

const optionNames: OptionNames<StableHloOptions> = {
  dims: 1,
  donate: 1,
  name: 1,
  mesh: 1,
  shard: 1,
};

export interface Argument extends Type {
  readonly name: string;
  readonly kind: "input" | "param" | "data";
  /** The leaf whose value it takes. */
  readonly leaf: Tensor;
  /** The result that takes its memory. */
  readonly alias?: number;
  /** How it lies on the mesh, where there is one. */
  readonly spec?: ShardSpec;
}

export interface Result extends Type {
  readonly name: string;
  /** As of an argument. */
  readonly spec?: ShardSpec;
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
  readonly #mesh: Mesh | undefined;
  /** What is wrong with specs of `shard` in the graph. */
  readonly faults: string[] = [];

  constructor(dims: Dims, grid: Mesh | undefined) {
    this.#dims = dims;
    this.#mesh = grid;
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
    if (node.op === "call") return [this.#shard(b, operands[0]!, shardSpecOf(node))];
    const made = rows[node.op]!(site, ...operands);
    return Array.isArray(made) ? made : [made];
  }

  #shard(b: Builder, x: Ref, spec: ShardSpec): Ref {
    if (!this.#mesh) return x;
    this.faults.push(...faultsOf(this.#mesh, "shard", x.shape, spec));
    const sharding = shardingAttribute(spec);
    return b.ops("sdy.sharding_constraint", [x], [x], { sharding })[0]!;
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

const attributesText = (entries: readonly (string | undefined)[]): string => {
  const list = entries.filter((e) => e !== undefined);
  return list.length ? ` {${list.join(", ")}}` : "";
};

const shardingText = (spec: ShardSpec | undefined): string | undefined =>
  spec && `sdy.sharding = ${shardingAttribute(spec)}`;

const argumentText = (ref: Ref, { alias, spec }: Argument): string => {
  const aliasing = alias === undefined ? undefined : `tf.aliasing_output = ${alias} : i32`;
  return `${ref.name}: ${typeText(ref)}${attributesText([shardingText(spec), aliasing])}`;
};

function moduleText(
  name: string,
  b: Builder,
  args: string,
  results: readonly Result[],
  grid: Mesh | undefined,
): string {
  const types = results.map((r) => typeText(r) + attributesText([shardingText(r.spec)])).join(", ");
  const main = `  func.func public @main(${args}) -> (${types}) {\n${b.lines.join("\n")}\n  }`;
  const devices = grid?.size ?? 1;
  const head = `module @${name} attributes {mhlo.num_partitions = ${devices} : i32, mhlo.num_replicas = 1 : i32} {`;
  const grids = grid
    ? [`  "sdy.mesh"() {mesh = ${meshAttribute(grid)}, sym_name = "mesh"} : () -> ()`]
    : [];
  return `${[head, ...grids, main, ...b.functions].join("\n")}\n}\n`;
}

/**
 * Arguments and results with their specs: an update lies as what it updates, an output is on every
 * device.
 */
function pinned(
  grid: Mesh,
  args: readonly Argument[],
  results: readonly Result[],
  program: ExportedProgram,
  recipes: readonly Recipe[],
): { args: Argument[]; results: Result[] } {
  const owners = args.filter((a) => a.leaf.attrs.trainable === true);
  const specs = specsOf(args, owners, grid, recipes);
  refuse(
    grid,
    args.flatMap((a, i) => faultsOf(grid, a.name, a.shape, specs[i]!)),
  );
  const specOf = new Map(args.map((a, i) => [a.leaf, specs[i]!] as const));
  const first = program.outputs.length;
  const replicated = (r: Result): ShardSpec => r.shape.map(() => null);
  const resultSpec = (r: Result, i: number): ShardSpec =>
    i < first ? replicated(r) : specOf.get(program.updates[i - first]![0])!;
  return {
    args: args.map((a, i) => ({ ...a, spec: specs[i]! })),
    results: results.map((r, i) => ({ ...r, spec: resultSpec(r, i) })),
  };
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
    mesh: grid,
    shard = [],
  } = checkOptions("stablehlo", options, optionNames);
  const program = asProgram(source);
  const values = [
    ...program.outputs.map((o) => o.value),
    ...program.updates.map(([, value]) => value),
  ];
  const roots = inlineCalls(values, undefined, isShard);
  const nodes = allNodes([...program.inputs, ...roots]);
  checkRows(nodes, (op) => op in rows || withoutRow.includes(op));
  checkDims(nodes, program.requirements ?? [], dims);
  const writer = new Writer(dims, grid);
  const leaves = argumentsOf(program, roots, writer, donate);
  const scope = new Scope();
  const refs = leaves.map(({ dtype, shape }, i): Ref => ({ name: `%arg${i}`, dtype, shape }));
  for (const [i, { leaf }] of leaves.entries()) scope.set(leaf, [refs[i]!]);
  const names = [
    ...program.outputs.map((o) => o.name),
    ...program.updates.map(([param]) => String(param.attrs.name)),
  ];
  const made = roots.map((t, i): Result => ({ ...writer.typeOf(t), name: names[i]! }));
  const recipes = typeof shard === "function" ? [shard] : shard;
  const { args, results } = grid
    ? pinned(grid, leaves, made, program, recipes)
    : { args: leaves, results: made };
  const b = new Builder();
  b.ops("func.return", writer.write(b, roots, scope), []);
  if (grid) refuse(grid, writer.faults);
  const argTexts = refs.map((ref, i) => argumentText(ref, args[i]!)).join(", ");
  return { text: moduleText(name, b, argTexts, results, grid), args, results };
}
