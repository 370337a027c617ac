/**
 * A graph isomorphism network on whole graphs: 188 molecules of MUTAG, of which 125 change genes, by ten folds that others use too.
 * Graphs of a batch are packed into one whose parts are not connected, so that a batch costs what one graph does.
 *
 *     node examples/gin.ts [--set MUTAG|PROTEINS] [--folds 10] [--epochs 100] [--quick]
 *
 * Xu et al. 2019: five layers, a linear classifier of the sums of each layer.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compile, data, nn, optim, segmentSum, type Tensor } from "kiln-ml";
import { archive, quick, randomNumbers } from "./data.ts";

const { values } = parseArgs({
  options: {
    set: { type: "string", default: "MUTAG" },
    folds: { type: "string", default: quick ? "2" : "10" },
    epochs: { type: "string", default: quick ? "20" : "100" },
  },
  strict: false,
});

/** A graph whose target is its class. */
type Molecule = Required<data.Graph>;

const folder = archive("graphs");
const path = folder && join(folder, "LiuBeauty+GIN_COMETRUE/dataset", String(values.set));
const molecules = path ? read(join(path, `${values.set}.txt`)) : rings();
const kinds = molecules[0]!.nodes.length / molecules[0]!.count;

/** Perceptron of two layers, as each graph layer has one. */
const perceptron = (inputs: number, width: number) =>
  new nn.Sequential(
    new nn.Linear(inputs, width),
    new nn.BatchNorm1d(width),
    new nn.ReLU(),
    new nn.Linear(width, width),
    new nn.BatchNorm1d(width),
    new nn.ReLU(),
  );

class Gin extends nn.Module {
  readonly layers = Array.from(
    { length: 4 },
    (_, i) => new nn.GINConv(perceptron(i ? 32 : kinds, 32)),
  );
  readonly readouts = [kinds, 32, 32, 32, 32].map((width) => new nn.Linear(width, 2));
  readonly drop = new nn.Dropout(0.5);

  /** x: f32[nodes, kinds], edges: i32[2, E], graph: i32[nodes] → scores f32[graphs, 2]. */
  override forward(x: Tensor, edges: Tensor, graph: Tensor, graphs: Tensor): Tensor {
    const count = graphs.shape[0]!;
    const states = [x];
    for (const layer of this.layers) states.push(layer.forward(states.at(-1)!, edges));
    return states
      .map((h, i) => this.drop.forward(this.readouts[i]!.forward(segmentSum(h, graph, count))))
      .reduce((a, b) => a.add(b));
  }
}

// Symbols: batches differ in nodes, edges and graphs, and one program serves them all.
const inputs = [
  ["n", kinds],
  { shape: [2, "e"], dtype: "i32" },
  { shape: ["n"], dtype: "i32" },
  { shape: ["b"], dtype: "i32" },
] as const;

function batchOf({ nodes, from, to, graph, target }: data.PackedGraphs) {
  const edges = { data: Int32Array.of(...from, ...to), shape: [2, from.length] };
  return [nodes, edges, graph, Int32Array.from(target)] as const;
}

async function accuracyOf(train: readonly Molecule[], test: readonly Molecule[]): Promise<number> {
  nn.seed(1);
  const net = new Gin();
  const adam = new optim.Adam(net.parameters(), { lr: optim.schedule.step(0.01, 350, 0.5) });
  const step = compile(
    (x: Tensor, edges: Tensor, graph: Tensor, labels: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x, edges, graph, labels), labels);
      adam.step(loss);
      return loss;
    },
    { inputs },
  );
  const measure = compile(
    (x: Tensor, edges: Tensor, graph: Tensor, labels: Tensor) =>
      nn.accuracy(net.forward(x, edges, graph, labels), labels),
    { inputs },
  );
  const loader = new data.DataLoader(data.itemsOf(train), {
    batch: 32,
    shuffle: true,
    seed: 1,
    collate: data.packGraphs,
  });
  for (let epoch = 0; epoch < Number(values.epochs); epoch++)
    for await (const batch of loader) await step(...batchOf(batch));
  net.eval();
  return (await measure(...batchOf(data.packGraphs(test)))).item();
}

const folds = Number(values.folds);
const accuracies: number[] = [];
for (let fold = 1; fold <= folds; fold++) {
  const { train, test } = parts(fold);
  accuracies.push(await accuracyOf(train, test));
  console.log(`fold ${fold}: ${test.length} graphs, accuracy ${accuracies.at(-1)!.toFixed(3)}`);
}
const mean = accuracies.reduce((a, b) => a + b) / folds;
console.log(`accuracy ${mean.toFixed(3)}, the mean of ${folds} folds`);

/** The graphs of a fold: those of the files beside the data set, where there are any. */
function parts(fold: number): { readonly train: Molecule[]; readonly test: Molecule[] } {
  const numbers = path
    ? readFileSync(join(path, `10fold_idx/test_idx-${fold}.txt`), "utf8")
        .trim()
        .split("\n")
    : molecules.flatMap((_, i) => (i % 10 === fold - 1 ? [i] : []));
  const held = new Set(numbers.map(Number));
  return {
    train: molecules.filter((_, i) => !held.has(i)),
    test: molecules.filter((_, i) => held.has(i)),
  };
}

/** The format of Xu et al.: of each graph its size and class, then a line a node: kind, number of neighbours, neighbours. */
function read(file: string): Molecule[] {
  const lines = readFileSync(file, "utf8").trim().split("\n").slice(1);
  const rows = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const graphs: { readonly label: number; readonly nodes: number[][] }[] = [];
  for (let at = 0; at < rows.length; ) {
    const [count, label] = rows[at++]! as [number, number];
    graphs.push({ label, nodes: rows.slice(at, at + count) });
    at += count;
  }
  const tags = [...new Set(graphs.flatMap((g) => g.nodes.map(([tag]) => tag!)))].sort(
    (a, b) => a - b,
  );
  // Classes are numbered as the file likes: 0 and 2 in MUTAG.
  const classes = [...new Set(graphs.map((g) => g.label))].sort((a, b) => a - b);
  return graphs.map(({ label, nodes }) => {
    const features = new Float32Array(nodes.length * tags.length);
    nodes.forEach(([tag], i) => {
      features[i * tags.length + tags.indexOf(tag!)] = 1;
    });
    const from = nodes.flatMap(([, , ...ends], i) => ends.map(() => i));
    const to = nodes.flatMap(([, , ...ends]) => ends);
    return { nodes: features, count: nodes.length, from, to, target: classes.indexOf(label) };
  });
}

/** Made-up rings of three kinds of atoms; in those of class 1, atoms of one kind stand together. */
function rings(): Molecule[] {
  const draw = randomNumbers(1);
  return Array.from({ length: 120 }, (_, i) => {
    const count = 8 + 2 * Math.floor(4 * draw());
    const target = i % 2;
    let kind = 0;
    const nodes = new Float32Array(3 * count);
    for (let n = 0; n < count; n++) {
      if (draw() > (target ? 0.85 : 0.15)) kind = Math.floor(3 * draw());
      nodes[3 * n + kind] = 1;
    }
    const around = Array.from({ length: count }, (_, n) => (n + 1) % count);
    const from = [...around.keys(), ...around];
    return { nodes, count, from, to: [...around, ...around.keys()], target };
  });
}
