/**
 * Ensembles of decision trees. All trees are walked at once, a level a step: for each row and tree the node it has come to; leaves stay
 * where they are. Nodes and leaves are numbered together.
 */
import {
  concat,
  constant,
  type Dim,
  equal,
  reshape,
  select,
  type Tensor,
  take,
  takeAlongAxis,
  tensor,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { numbersOfDef } from "../element.ts";
import type { Row } from "../row.ts";
import { typed } from "../value.ts";
import { ml, transformed } from "./classic.ts";

/** Comparisons by their numbers in TreeEnsemble; the last is membership of a set. */
const modes = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER"] as const;
type Mode = (typeof modes)[number];

interface Forest {
  readonly feature: number[];
  readonly mode: (Mode | "LEAF")[];
  readonly split: number[];
  readonly members: (readonly number[])[];
  readonly missingIsTrue: boolean[];
  /** Numbers of the next nodes; a leaf's is its own. */
  readonly yes: number[];
  readonly no: number[];
  readonly roots: readonly number[];
}

/** The greatest number of steps from a root to a leaf. Throws GraphError where the nodes make a circle. */
function depthOf(n: NodeContext, f: Forest): number {
  let level = new Set(f.roots);
  for (let depth = 0; depth <= f.mode.length; depth++) {
    const inner = [...level].filter((i) => f.mode[i] !== "LEAF");
    if (!inner.length) return depth;
    level = new Set(inner.flatMap((i) => [f.yes[i]!, f.no[i]!]));
  }
  return n.fail("a tree has a circle");
}

const ints = (values: readonly number[]): Tensor => tensor([...values], { dtype: "i32" });

/** x[N, F] → the leaf of each row in each tree, [N, trees]. */
function leavesOf(n: NodeContext, x: Tensor, f: Forest): Tensor {
  const rows = x.shape[0]!;
  let at = ints(f.roots).broadcastTo([rows, f.roots.length]);
  const [feature, yes, no] = [ints(f.feature), ints(f.yes), ints(f.no)];
  const split = tensor(Float32Array.from(f.split)).convert(x.dtype);
  const missing = ints(f.missingIsTrue.map(Number));
  const code = ints(f.mode.map((m) => (m === "LEAF" ? -1 : modes.indexOf(m))));
  const used = modes.filter((m) => f.mode.includes(m));
  for (let depth = depthOf(n, f); depth > 0; depth--) {
    const value = takeAlongAxis(x, take(feature, at), 1);
    const tests = used.map((m) => ({ m, holds: holds(m, value, take(split, at), at, f) }));
    const own = take(code, at);
    const truth = tests
      .slice(1)
      .reduce(
        (acc, { m, holds }) => select(own.equal(modes.indexOf(m)), holds, acc),
        tests[0]!.holds,
      );
    const absent = value.notEqual(value).and(take(missing, at).greater(0));
    at = select(truth.or(absent), take(yes, at), take(no, at));
  }
  return at;
}

function holds(mode: Mode, value: Tensor, split: Tensor, at: Tensor, f: Forest): Tensor {
  switch (mode) {
    case "LEQ":
      return value.lessEqual(split);
    case "LT":
      return value.less(split);
    case "GTE":
      return value.greaterEqual(split);
    case "GT":
      return value.greater(split);
    case "EQ":
      return value.equal(split);
    case "NEQ":
      return value.notEqual(split);
    case "MEMBER": {
      const width = Math.max(...f.members.map((m) => m.length));
      const table = new Float32Array(f.members.length * width).fill(Number.NaN);
      for (const [i, set] of f.members.entries()) table.set(set, i * width);
      const sets = tensor(table, { shape: [f.members.length, width] }).convert(value.dtype);
      return equal(reshape(value, [...value.shape, 1]), take(sets, at)).any([2]);
    }
  }
}

interface Votes {
  /** For each leaf the targets it has a weight for. */
  readonly node: readonly number[];
  readonly target: readonly number[];
  readonly weight: readonly number[];
  readonly targets: number;
}

/** What the leaves say for each target: [N, targets]. */
function voted(n: NodeContext, leaves: Tensor, votes: Votes, nodes: number, rule: string): Tensor {
  const idle = rule === "MIN" ? Infinity : rule === "MAX" ? -Infinity : 0;
  const table = new Float32Array(nodes * votes.targets).fill(idle);
  for (const [i, node] of votes.node.entries()) {
    const at = node * votes.targets + votes.target[i]!;
    table[at] = (Number.isFinite(table[at]!) ? table[at]! : 0) + votes.weight[i]!;
  }
  // [N, trees, targets]
  const all = take(tensor(table, { shape: [nodes, votes.targets] }), leaves);
  if (rule === "SUM") return all.sum([1]);
  if (rule === "AVERAGE") return all.sum([1]).div(leaves.shape[1] as number);
  if (rule !== "MIN" && rule !== "MAX") return n.fail(`aggregate_function is ${rule}`);
  const best = rule === "MIN" ? all.min([1]) : all.max([1]);
  return select(best.abs().equal(Infinity), 0, best);
}

const numbersAttribute = (n: NodeContext, name: string): readonly number[] =>
  numbersOfDef(n.tensorAttribute(name)) ?? n.fail(`${name} must be float32 or float64`);

/** Sets stand in one list, each closed by NaN, in the order of the nodes that test membership. */
function membersOf(n: NodeContext, mode: readonly Mode[]): (readonly number[])[] {
  const sets: number[][] = [[]];
  if (n.hasAttribute("membership_values"))
    for (const v of numbersAttribute(n, "membership_values"))
      if (Number.isNaN(v)) sets.push([]);
      else sets.at(-1)!.push(v);
  let next = 0;
  return mode.map((m) => (m === "MEMBER" ? (sets[next++] ?? []) : []));
}

/** TreeEnsemble: leaves have lists of their own. */
function ensemble(n: NodeContext): Result {
  const x = n.tensor(0);
  const mode = numbersAttribute(n, "nodes_modes").map((m) => modes[m] ?? n.fail(`mode ${m}`));
  const [nodes, leaves] = [mode.length, n.ints("leaf_targetids").length];
  const own = Array.from({ length: leaves }, (_, i) => nodes + i);
  const after = (ids: string, leafs: string) => {
    const isLeaf = n.ints(leafs);
    return [...n.ints(ids).map((id, i) => (isLeaf[i] ? nodes + id : id)), ...own];
  };
  const none = new Array<number>(leaves).fill(0);
  const missing = n.ints("nodes_missing_value_tracks_true", []);
  const forest: Forest = {
    feature: [...n.ints("nodes_featureids"), ...none],
    mode: [...mode, ...own.map(() => "LEAF" as const)],
    split: [...numbersAttribute(n, "nodes_splits"), ...none],
    members: [...membersOf(n, mode), ...own.map(() => [])],
    missingIsTrue: [...mode.map((_, i) => missing[i] === 1), ...own.map(() => false)],
    yes: after("nodes_truenodeids", "nodes_trueleafs"),
    no: after("nodes_falsenodeids", "nodes_falseleafs"),
    roots: n.ints("tree_roots"),
  };
  const rule = ["AVERAGE", "SUM", "MIN", "MAX"][n.int("aggregate_function", 1)] ?? "";
  const votes: Votes = {
    node: own,
    target: n.ints("leaf_targetids"),
    weight: numbersAttribute(n, "leaf_weights"),
    targets: n.int("n_targets"),
  };
  const y = voted(n, leavesOf(n, x, forest), votes, nodes + leaves, rule);
  const transforms = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"];
  const result = transformed(n, y, transforms[n.int("post_transform", 0)] ?? "");
  return typed(result.convert(x.dtype), n.type(0));
}

/** The older form: every node is named by its tree and its number in the tree. */
function namedForest(n: NodeContext): { forest: Forest; numberOf: Map<string, number> } {
  const trees = n.ints("nodes_treeids");
  const ids = n.ints("nodes_nodeids");
  const numberOf = new Map(ids.map((id, i) => [`${trees[i]}:${id}`, i]));
  const mode = n.strings("nodes_modes").map((m) => {
    const plain = m.replace("BRANCH_", "");
    return plain === "LEAF" || (modes as readonly string[]).includes(plain)
      ? (plain as Mode | "LEAF")
      : n.fail(`mode ${m}`);
  });
  const next = (name: string) =>
    n
      .ints(name)
      .map((id, i) => (mode[i] === "LEAF" ? i : (numberOf.get(`${trees[i]}:${id}`) ?? i)));
  const missing = n.ints("nodes_missing_value_tracks_true", []);
  const seen = new Set<number>();
  const roots: number[] = [];
  for (const [i, tree] of trees.entries()) {
    if (seen.has(tree)) continue;
    seen.add(tree);
    roots.push(i);
  }
  const forest: Forest = {
    feature: [...n.ints("nodes_featureids")],
    mode,
    split: [...n.floats("nodes_values")],
    members: mode.map(() => []),
    missingIsTrue: mode.map((_, i) => missing[i] === 1),
    yes: next("nodes_truenodeids"),
    no: next("nodes_falsenodeids"),
    roots,
  };
  return { forest, numberOf };
}

function votesOf(n: NodeContext, prefix: string, targets: number, numberOf: Map<string, number>) {
  const trees = n.ints(`${prefix}_treeids`);
  return {
    node: n.ints(`${prefix}_nodeids`).map((id, i) => numberOf.get(`${trees[i]}:${id}`) ?? 0),
    target: n.ints(`${prefix}_ids`),
    weight: n.floats(`${prefix}_weights`),
    targets,
  };
}

const withBase = (n: NodeContext, y: Tensor): Tensor =>
  n.hasAttribute("base_values") ? y.add(tensor(Float32Array.from(n.floats("base_values")))) : y;

function regressor(n: NodeContext): Result {
  const x = n.tensor(0).convert("f32");
  const { forest, numberOf } = namedForest(n);
  const votes = votesOf(n, "target", n.int("n_targets"), numberOf);
  const rule = n.string("aggregate_function", "SUM");
  const y = withBase(n, voted(n, leavesOf(n, x, forest), votes, forest.mode.length, rule));
  return typed(transformed(n, y, n.string("post_transform", "NONE")), "float32");
}

/** The label with the highest score, and the scores. Of two classes the trees may score only one. */
function classifier(n: NodeContext): Result {
  const x = n.tensor(0).convert("f32");
  const { forest, numberOf } = namedForest(n);
  if (n.hasAttribute("classlabels_strings")) n.fail("strings have no dtype");
  const labels = n.ints("classlabels_int64s");
  const votes = votesOf(n, "class", labels.length, numberOf);
  const y = voted(n, leavesOf(n, x, forest), votes, forest.mode.length, "SUM");
  const transform = n.string("post_transform", "NONE");
  const label = (index: Tensor) => typed(take(ints(labels), index), "int64");
  const only = new Set(votes.target);
  if (labels.length !== 2 || only.size !== 1) {
    const scores = withBase(n, y);
    return [label(scores.argMax(-1)), typed(transformed(n, scores, transform), "float32")];
  }
  const rows: Dim = x.shape[0]!;
  const column = withBaseOfOne(n, take(y, constant([...only][0]!, "i32"), 1));
  const shares = votes.weight.every((w) => w >= 0);
  const second = column.greater(shares ? 0.5 : 0).convert("i32");
  const other = shares && transform === "NONE" ? column.neg().add(1) : column.neg();
  const pair = concat([reshape(other, [rows, 1]), reshape(column, [rows, 1])], 1);
  return [label(second), typed(transformed(n, pair, transform), "float32")];
}

const withBaseOfOne = (n: NodeContext, y: Tensor): Tensor =>
  n.hasAttribute("base_values") ? y.add(n.floats("base_values").at(-1)!) : y;

export const treeRows: readonly Row[] = [
  ml("TreeEnsemble", ensemble, { note: "without PROBIT" }),
  ml("TreeEnsembleRegressor", regressor, { note: "without PROBIT" }),
  ml("TreeEnsembleClassifier", classifier, { note: "integer labels only, without PROBIT" }),
];
