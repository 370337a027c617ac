/**
 * Samples of ops that few models have, and of sequences and optionals, which begin and end within a
 * model.
 */
import { chain } from "./chains.ts";
import { type Draw, int64, tensorOf } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import { floatList, type Sample } from "./sample.ts";

const size = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

function deformConv(d: Draw): Sample {
  const [n, group, offsets] = [d.int(1, 2), d.int(1, 2), d.int(1, 2)];
  const c = 2 * group * offsets;
  const o = group * d.int(1, 2);
  const kernel = [d.int(1, 3), d.int(1, 3)];
  const [h, w] = [d.int(3, 5), d.int(3, 5)];
  const strides = [d.int(1, 2), d.int(1, 2)];
  const pads = d.list(4, () => d.int(0, 1));
  const dilations = d.maybe([1, d.int(1, 2)], 0.4);
  const out = [h, w].map(
    (e, i) =>
      Math.floor(
        (e + pads[i]! + pads[i + 2]! - (kernel[i]! - 1) * (dilations?.[i] ?? 1) - 1) / strides[i]!,
      ) + 1,
  );
  if (out.some((e) => e < 1)) return deformConv(d);
  const places = size(kernel);
  return {
    opset: d.opset(19),
    attributes: {
      group,
      offset_group: offsets,
      strides,
      pads,
      dilations,
      kernel_shape: d.maybe(kernel),
    },
    inputs: [
      d.tensor("float32", [n, c, h, w]),
      d.tensor("float32", [o, c / group, ...kernel]),
      d.tensor("float32", [n, offsets * places * 2, ...out], [-1.5, 1.5]),
      d.maybe(d.tensor("float32", [o])),
      d.maybe(d.tensor("float32", [n, offsets * places, ...out], [0, 1])),
    ],
    sums: true,
    atol: 1e-4,
  };
}

function tfIdf(d: Draw): Sample {
  const pool = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7];
  const indexes = d.shuffled([0, 1, 2, 3, 4, 5, 6]);
  const most = d.int(1, 2);
  const weights = d.maybe(floatList(d.list(7, () => d.real(0.5, 2))));
  return {
    opset: d.opset(9),
    attributes: {
      mode: d.pick(["TF", "IDF", "TFIDF"]),
      min_gram_length: d.int(1, most),
      max_gram_length: most,
      max_skip_count: d.int(0, 3),
      ngram_counts: [0, 4],
      ngram_indexes: indexes,
      pool_int64s: pool,
      weights,
    },
    inputs: [d.tensor(d.pick(["int32", "int64"]), d.pick([[9], [2, 6], [1, 12]]), [2, 8])],
  };
}

function scatter(d: Draw): Sample {
  const x = d.tensor("float32", [d.int(1, 3), d.int(1, 4)]);
  const axis = d.int(0, 1);
  const count = d.int(1, x.dims[axis]!);
  const dims = axis ? [1, count] : [count, 1];
  const at = d.shuffled(d.list(x.dims[axis]!, (i) => i)).slice(0, count);
  return {
    opset: d.pick([9, 10]),
    attributes: { axis: d.maybe(axis, axis ? 1 : 0.5) },
    inputs: [x, tensorOf("int64", dims, at), d.tensor("float32", dims)],
  };
}

function tensorScatter(d: Draw): Sample {
  const [b, h, m, e] = [d.int(1, 2), d.int(1, 2), d.int(2, 5), d.int(1, 2)];
  const s = d.int(1, m);
  const mode = d.pick(["linear", "circular"]);
  const most = mode === "linear" ? m - s : m - 1;
  return {
    opset: 24,
    attributes: {
      mode: d.maybe(mode, mode === "linear" ? 0.5 : 1),
      axis: d.maybe(d.pick([-2, 2])),
    },
    inputs: [
      d.tensor("float32", [b, h, m, e]),
      d.tensor("float32", [b, h, s, e]),
      d.maybe(
        tensorOf(
          "int64",
          [b],
          d.list(b, () => d.int(0, most)),
        ),
      ),
    ],
  };
}

/** Split into a sequence, something done with it, and joined again. */
const sequences = chain((d, c) => {
  const dims = d.shape({ rank: [1, 3], empty: 0 });
  const axis = d.axis(dims.length);
  const extent = dims[(axis + dims.length) % dims.length]!;
  const parts = d.pick([undefined, "size", "list"]);
  const first = d.int(1, extent);
  const sizes =
    parts === undefined
      ? ""
      : parts === "size"
        ? c.value(int64(first))
        : c.list(first < extent ? [first, extent - first] : [extent]);
  const all = c.op("SplitToSequence", ["x0", sizes], {
    axis,
    keepdims: parts ? undefined : d.maybe(1),
  });
  const way = d.int(0, 3);
  if (way === 0) c.op("SequenceAt", [all, c.value(int64(d.pick([0, -1])))], {}, ["y0"]);
  else if (way === 1) c.op("SequenceLength", [all], {}, ["y0"]);
  else {
    const more =
      way === 2
        ? all
        : c.op("SequenceInsert", [
            all,
            c.op("SequenceAt", [all, c.value(int64(0))]),
            d.chance(0.5) ? c.value(int64(0)) : "",
          ]);
    c.op("ConcatFromSequence", [more], { axis }, ["y0"]);
  }
  return { inputs: [d.tensor(d.pick(["float32", "int64", "int32"]), dims)] };
});

/** ids of several windows in one batch; a window with its mean taken off. */
const framed = chain((d, c) => {
  const mean = c.op("ReduceMean", ["x0"], { keepdims: 1 });
  const centred = c.op("Sub", ["x0", mean]);
  const spread = c.op("Sqrt", [
    c.op("ReduceMean", [c.op("Mul", [centred, centred])], { keepdims: d.pick([0, 1]) }),
  ]);
  c.op("Div", [centred, c.op("Add", [spread, c.value(tensorOf("float32", [], [1e-2]))])], {}, [
    "y0",
  ]);
  return { inputs: [d.tensor("float32", d.shape({ rank: [1, 3], empty: 0 }))] };
});

/** A tree that compares features, one a row; leaves have weights. */
function trees(d: Draw): Sample {
  const modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"];
  const mode = d.pick(modes);
  const count = d.int(1, 3);
  const nodes = {
    trees: [] as number[],
    ids: [] as number[],
    features: [] as number[],
    modes: [] as string[],
    values: [] as number[],
    yes: [] as number[],
    no: [] as number[],
  };
  const leaves = {
    trees: [] as number[],
    nodes: [] as number[],
    ids: [] as number[],
    weights: [] as number[],
  };
  const targets = d.int(1, 2);
  const rule = d.pick(["SUM", "AVERAGE", "MIN", "MAX"]);
  for (let t = 0; t < count; t++)
    for (let id = 0; id < 7; id++) {
      const leaf = id > 2;
      nodes.trees.push(t);
      nodes.ids.push(id);
      nodes.features.push(leaf ? 0 : d.int(0, 2));
      nodes.modes.push(leaf ? "LEAF" : mode);
      nodes.values.push(leaf ? 0 : Math.round(d.real(-2, 2) * 4) / 4);
      nodes.yes.push(leaf ? 0 : 2 * id + 1);
      nodes.no.push(leaf ? 0 : 2 * id + 2);
      if (!leaf) continue;
      leaves.trees.push(t);
      leaves.nodes.push(id);
      leaves.ids.push(d.int(0, targets - 1));
      leaves.weights.push(d.real(-1, 1));
    }
  return {
    opset: 17,
    domain: "ai.onnx.ml",
    attributes: {
      n_targets: targets,
      nodes_treeids: nodes.trees,
      nodes_nodeids: nodes.ids,
      nodes_featureids: nodes.features,
      nodes_modes: { kind: "strings", value: nodes.modes },
      nodes_values: floatList(nodes.values),
      nodes_truenodeids: nodes.yes,
      nodes_falsenodeids: nodes.no,
      target_treeids: leaves.trees,
      target_nodeids: leaves.nodes,
      target_ids: leaves.ids,
      target_weights: floatList(leaves.weights),
      aggregate_function: d.maybe(rule, rule === "SUM" ? 0.5 : 1),
      // A target without a leaf has no base for the runtime where extremes are taken.
      base_values: rule.startsWith("M")
        ? undefined
        : d.maybe(floatList(d.list(targets, () => d.real(-1, 1)))),
      post_transform: targets > 1 ? d.maybe(d.pick(["NONE", "SOFTMAX", "LOGISTIC"])) : undefined,
    },
    inputs: [
      tensorOf(
        "float32",
        [3, 3],
        d.list(9, () => Math.round(d.real(-2, 2) * 4) / 4),
      ),
    ],
    sums: true,
  };
}

export const rare: Readonly<Record<string, Sampler>> = {
  DeformConv: deformConv,
  TfIdfVectorizer: tfIdf,
  Scatter: scatter,
  TensorScatter: tensorScatter,
  "chain.sequences": sequences,
  "chain.framed": framed,
  "ai.onnx.ml.TreeEnsembleRegressor": trees,
};
