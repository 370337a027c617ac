/**
 * How the arguments of a program lie on a mesh. A recipe looks at one leaf and gives a spec or
 * leaves it to the next; what none wants is on every device. An optimizer's moment lies as its
 * parameter does, and an update as what it updates: always.
 */
import { checkOptions, type OptionNames, type ShardSpec } from "@kiln-ml/ir";
import { type Mesh, partsOf } from "./mesh.ts";

/** What a recipe knows of an argument. */
export interface ShardedLeaf {
  /** The path of a parameter in its module, or the name of an input. */
  readonly name: string;
  readonly kind: "input" | "param" | "data";
  readonly shape: readonly number[];
}

/** A spec for a leaf, or undefined to leave it to the next recipe. */
export type Recipe = (leaf: ShardedLeaf, mesh: Mesh) => ShardSpec | undefined;

const whole = (shape: readonly number[]): ShardSpec => shape.map(() => null);

/**
 * `*` is any run of characters; a pattern without a dot in front fits the end of a path after a dot
 * too.
 */
function matcher(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^(?:.*\\.)?${escaped}$`);
}

/**
 * Specs by path patterns, the first that fits counts: `byPath({ "query.weight": ["model", null],
 * "labels": ["data"] })`. `*` is any run of characters, and a pattern fits the end of a path.
 */
export function byPath(patterns: Readonly<Record<string, ShardSpec>>): Recipe {
  const rows = Object.entries(patterns).map(([p, spec]) => [matcher(p), spec] as const);
  return ({ name }) => rows.find(([pattern]) => pattern.test(name))?.[1];
}

export interface OverAxis {
  /** The axis of the mesh; default "data". */
  readonly axis?: string;
}

const overAxis: OptionNames<OverAxis> = { axis: 1 };

/**
 * Inputs are cut along their first axis, the batch; parameters are on every device, and gradients
 * are summed over them.
 */
export function dataParallel(options: OverAxis = {}): Recipe {
  const { axis = "data" } = checkOptions("dataParallel", options, overAxis);
  return ({ kind, shape }) =>
    kind === "input" && shape.length ? [axis, ...shape.slice(1).map(() => null)] : undefined;
}

export interface FsdpOptions extends OverAxis {
  /**
   * Parameters of fewer elements stay whole, since to gather them costs more than they take;
   * default 1024.
   */
  readonly least?: number;
}

const fsdpNames: OptionNames<FsdpOptions> = { axis: 1, least: 1 };

/**
 * As `dataParallel`, and parameters and moments are cut over the same axis along the longest axis
 * that divides: each device keeps its part, and gathers what it needs when it needs it. ZeRO-3;
 * Rajbhandari et al. 2020.
 */
export function fsdp(options: FsdpOptions = {}): Recipe {
  const { axis = "data", least = 1024 } = checkOptions("fsdp", options, fsdpNames);
  const batch = dataParallel({ axis });
  return (leaf, mesh) => {
    if (leaf.kind === "input") return batch(leaf, mesh);
    const { shape } = leaf;
    if (leaf.kind === "data" || shape.reduce((a, b) => a * b, 1) < least) return undefined;
    const parts = partsOf(mesh, axis);
    const fitting = shape.filter((n) => n % parts === 0 && n > 0);
    if (!fitting.length) return undefined;
    const at = shape.indexOf(Math.max(...fitting));
    return shape.map((_, i) => (i === at ? axis : null));
  };
}

export interface TensorParallelOptions {
  /** The axis of the mesh; default "model". */
  readonly axis?: string;
  /** Patterns of layers whose outputs are cut: the first of a pair of products. */
  readonly columns?: readonly string[];
  /**
   * Patterns of layers whose inputs are cut: the second of a pair, after which the parts are
   * summed.
   */
  readonly rows?: readonly string[];
}

const tensorNames: OptionNames<TensorParallelOptions> = { axis: 1, columns: 1, rows: 1 };

/** The layers of `nn`'s attention and feed-forward, and the usual names of others' blocks. */
const firsts = ["query", "key", "value", "up", "gate", "linear1", "feedForward.0"];
const seconds = ["out", "down", "linear2", "feedForward.2"];

/**
 * The parameters of pairs of products over an axis of the mesh: outputs of the first, inputs of the
 * second, so that one sum a pair is all that is sent. For layers of `nn`, whose weights are
 * [outputs, inputs]. Shoeybi et al. 2019, Megatron-LM.
 */
export function tensorParallel(options: TensorParallelOptions = {}): Recipe {
  const given = checkOptions("tensorParallel", options, tensorNames);
  const { axis = "model", columns = firsts, rows = seconds } = given;
  const specs: Record<string, ShardSpec> = {};
  for (const name of columns) {
    specs[`${name}.weight`] = [axis, null];
    specs[`${name}.bias`] = [axis];
  }
  for (const name of rows) specs[`${name}.weight`] = [null, axis];
  const find = byPath(specs);
  return (leaf, mesh) => {
    if (leaf.kind !== "param") return undefined;
    const spec = find(leaf, mesh);
    const fits = spec?.every((a, i) => (leaf.shape[i] ?? 1) % partsOf(mesh, a) === 0);
    return spec && fits && spec.length === leaf.shape.length ? spec : undefined;
  };
}

/**
 * Of the parameters whose path is in the name of a state and whose shape ends its shape, the
 * longest: whose moment it is.
 */
function ownerOf(leaf: ShardedLeaf, owners: readonly ShardedLeaf[]): ShardedLeaf | undefined {
  const fits = ({ name, shape }: ShardedLeaf): boolean =>
    `.${leaf.name}.`.includes(`.${name}.`) &&
    shape.length > 0 &&
    String(leaf.shape.slice(-shape.length)) === String(shape);
  return owners.filter(fits).sort((a, b) => b.name.length - a.name.length)[0];
}

/** The spec of every leaf; `owners` are the parameters that are trained. */
export function specsOf(
  leaves: readonly ShardedLeaf[],
  owners: readonly ShardedLeaf[],
  grid: Mesh,
  recipes: readonly Recipe[],
): ShardSpec[] {
  const own = (leaf: ShardedLeaf): ShardSpec => {
    for (const recipe of recipes) {
      const spec = recipe(leaf, grid);
      if (spec) return spec;
    }
    return whole(leaf.shape);
  };
  return leaves.map((leaf) => {
    const isOwner = owners.some((o) => o.name === leaf.name);
    const owner = leaf.kind === "param" && !isOwner ? ownerOf(leaf, owners) : undefined;
    if (!owner) return own(leaf);
    const more = leaf.shape.length - owner.shape.length;
    return [...whole(leaf.shape.slice(0, more)), ...own(owner)];
  });
}
