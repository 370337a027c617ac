/**
 * A citation network by a graph convolution: 2,708 papers of Cora as nodes, 140 of them with a class to learn from, 1,000 to test on. The
 * whole graph is one batch, so a step is one program without a loader. `--layer gat` attends to neighbours instead of averaging them.
 *
 *     node examples/gcn.ts [--layer gcn|gat] [--epochs 200] [--quick]
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { compile, nn, optim, type Tensor, tensor } from "kiln-ml";
import { archive, randomNumbers } from "./data.ts";

const { values } = parseArgs({
  options: {
    layer: { type: "string", default: "gcn" },
    epochs: { type: "string", default: "200" },
  },
  strict: false,
});

interface Citations {
  readonly nodes: number;
  readonly features: number;
  readonly classes: number;
  readonly labels: readonly number[];
  /** Of each node, the words that its text has. */
  readonly feature_indices: readonly (readonly number[])[];
  readonly edges: readonly (readonly [number, number])[];
  readonly train: readonly number[];
  readonly test: readonly number[];
}

const folder = archive("graphs");
const graph: Citations = folder
  ? JSON.parse(gunzipSync(readFileSync(join(folder, "cora.json.gz"))).toString())
  : communities();

const features = new Float32Array(graph.nodes * graph.features);
graph.feature_indices.forEach((words, node) => {
  // Rows sum to 1, so that long texts do not weigh more than short ones.
  for (const word of words) features[node * graph.features + word] = 1 / words.length;
});
// A citation says as much in one direction as in the other.
const ends = [0, 1].map((end) => graph.edges.flatMap((e) => [e[end]!, e[1 - end]!]));
const x = tensor(features, { shape: [graph.nodes, graph.features] });
const edges = tensor(Int32Array.from(ends.flat()), { shape: [2, 2 * graph.edges.length] });

/** Two graph layers: each node hears of those that are two citations away. */
class Net extends nn.Module {
  drop = new nn.Dropout(values.layer === "gat" ? 0.6 : 0.5);
  first =
    values.layer === "gat"
      ? new nn.GATConv(graph.features, 8, { heads: 8 })
      : new nn.GCNConv(graph.features, 16);
  second =
    values.layer === "gat" ? new nn.GATConv(64, graph.classes) : new nn.GCNConv(16, graph.classes);

  override forward(x: Tensor, edges: Tensor): Tensor {
    const hidden = this.first.forward(this.drop.forward(x), edges);
    const active = values.layer === "gat" ? hidden.elu() : hidden.relu();
    return this.second.forward(this.drop.forward(active), edges);
  }
}

nn.seed(1);
const net = new Net();
const adam = new optim.Adam(net.parameters(), {
  lr: values.layer === "gat" ? 0.005 : 0.01,
  weightDecay: 5e-4,
});
const labelsOf = (nodes: readonly number[]) => Int32Array.from(nodes, (n) => graph.labels[n]!);

// Features and edges are the same in each call: they are read from where they lie, and only nodes and labels are passed.
const train = compile((nodes: Tensor, labels: Tensor) => {
  const loss = nn.crossEntropy(net.forward(x, edges).take(nodes), labels);
  adam.step(loss);
  return loss;
});
const test = compile((nodes: Tensor, labels: Tensor) =>
  nn.accuracy(net.forward(x, edges).take(nodes), labels),
);

const epochs = Number(values.epochs);
for (let epoch = 1; epoch <= epochs; epoch++) {
  const loss = await train(Int32Array.from(graph.train), labelsOf(graph.train));
  if (epoch % 50 === 0) console.log(`epoch ${epoch}: loss ${(await loss.item()).toFixed(3)}`);
}
net.eval();
const accuracy = await test(Int32Array.from(graph.test), labelsOf(graph.test));
console.log(`test accuracy ${(await accuracy.item()).toFixed(3)}`);

/** Made-up papers of three fields, which cite their own field more and have words of it. */
function communities(): Citations {
  const draw = randomNumbers(1);
  const [nodes, words, classes] = [300, 60, 3];
  const labels = Array.from({ length: nodes }, (_, i) => i % classes);
  const pick = (of: number) => Math.floor(of * draw());
  const own = (field: number, count: number) => field + classes * pick(count / classes);
  return {
    nodes,
    features: words,
    classes,
    labels,
    feature_indices: labels.map((field) =>
      Array.from({ length: 6 }, () => (draw() < 0.3 ? own(field, words) : pick(words))),
    ),
    edges: labels.flatMap((field, i) =>
      Array.from({ length: 2 }, () => [i, draw() < 0.8 ? own(field, nodes) : pick(nodes)] as const),
    ),
    train: Array.from({ length: 30 }, (_, i) => i),
    test: Array.from({ length: 200 }, (_, i) => 100 + i),
  };
}
