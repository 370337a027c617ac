/**
 * Solubility of molecules from their SMILES: a graph network with messages along bonds, on the 1,128 molecules of ESOL. Molecules of a batch
 * are packed into one graph, their atoms summed for each.
 *
 *     node examples/molecules/esol.ts [--epochs 60] [--quick]
 *
 * Delaney 2004. A tenth is held back, by a shuffle with a fixed seed; the error is in the logarithm of mol per litre.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readCsvFile } from "@kiln-ml/data/node";
import {
  compile,
  concat,
  data,
  nn,
  optim,
  segmentMean,
  segmentSum,
  type Tensor,
  take,
} from "kiln-ml";
import { archive, quick } from "../data.ts";
import { readSmiles } from "./smiles.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "30" : "60" } },
  strict: false,
});

const kinds = ["C", "N", "O", "S", "F", "Cl", "Br", "I", "P"];
/** Kind, neighbours, aromatic, charge, bonds by double and triple. */
const features = kinds.length + 1 + 6;

function graphOf(smiles: string, target: number): data.Graph {
  const { atoms, bonds } = readSmiles(smiles);
  const nodes = new Float32Array(atoms.length * features);
  for (const [i, { symbol, aromatic, charge, hydrogens }] of atoms.entries()) {
    const kind = kinds.indexOf(symbol);
    const own = bonds.filter((b) => b.from === i || b.to === i);
    nodes[i * features + (kind < 0 ? kinds.length : kind)] = 1;
    const rest = [
      own.length / 4,
      Number(aromatic),
      charge,
      hydrogens / 2,
      own.filter((b) => b.order === 2).length,
      own.filter((b) => b.order === 3).length,
    ];
    nodes.set(rest, i * features + kinds.length + 1);
  }
  // Each bond in both directions.
  const from = bonds.flatMap((b) => [b.from, b.to]);
  const to = bonds.flatMap((b) => [b.to, b.from]);
  return { nodes, count: atoms.length, from, to, target };
}

/** Atoms hear of their neighbours three times; a molecule is the sum and the mean of its atoms. */
class Network extends nn.Module {
  embed = new nn.Linear(features, 64);
  layers = Array.from({ length: 3 }, () => ({
    message: new nn.Linear(128, 64),
    update: new nn.GRUCell(64, 64),
  }));
  readout = new nn.Sequential(new nn.Linear(128, 64), new nn.ReLU(), new nn.Linear(64, 1));

  /** x: f32[atoms, features], edges: i32[2, E], graph: i32[atoms] → f32[molecules]. */
  override forward(x: Tensor, edges: Tensor, graph: Tensor, target: Tensor): Tensor {
    let h = this.embed.forward(x).relu();
    const [source, end] = [edges.get(0), edges.get(1)];
    for (const { message, update } of this.layers) {
      const pairs = concat([take(h, source), take(h, end)], 1);
      const heard = segmentSum(message.forward(pairs).relu(), end, h.shape[0]!);
      h = update.forward(heard, h);
    }
    const count = target.shape[0]!;
    const whole = concat([segmentMean(h, graph, count), segmentSum(h, graph, count).mul(0.1)], 1);
    return this.readout.forward(whole).squeeze(-1);
  }
}

const molecules = await measured();
const shuffled = data.permutation(molecules.length, 1, 0);
const held = Math.floor(molecules.length / 10);
const at = (from: number, to: number) =>
  data.itemsOf(Array.from(shuffled.slice(from, to), (i) => molecules[i]!));
const [test, learn] = [at(0, held), at(held, molecules.length)];

nn.seed(1);
const net = new Network();
const epochs = Number(values.epochs);
const loader = new data.DataLoader(learn, {
  batch: 32,
  shuffle: true,
  seed: 1,
  collate: data.packGraphs,
});
const adam = new optim.AdamW(net.parameters(), {
  lr: optim.schedule.cosine(3e-3, epochs * loader.length),
  clipNorm: 1,
});
const inputs = [
  ["atoms", features],
  { shape: [2, "bonds"], dtype: "i32" },
  { shape: ["atoms"], dtype: "i32" },
  ["molecules"],
] as const;
const step = compile(
  (x: Tensor, edges: Tensor, graph: Tensor, target: Tensor) => {
    const loss = nn.mse(net.forward(x, edges, graph, target), target);
    adam.step(loss);
    return loss;
  },
  { inputs },
);
const errors = compile(
  (x: Tensor, edges: Tensor, graph: Tensor, target: Tensor) =>
    nn.mse(net.forward(x, edges, graph, target), target),
  { inputs },
);

function batchOf({ nodes, from, to, graph, target }: data.PackedGraphs) {
  const edges = { data: Int32Array.of(...from, ...to), shape: [2, from.length] };
  return [nodes, edges, graph, target] as const;
}

for (let epoch = 1; epoch <= epochs; epoch++) {
  let loss = Number.NaN;
  for await (const batch of loader) loss = await (await step(...batchOf(batch))).item();
  if (epoch % 10 === 0) console.log(`epoch ${epoch}: loss of the last batch ${loss.toFixed(3)}`);
}
net.eval();
const all = await Promise.all(Array.from({ length: test.length }, (_, i) => test.get(i)));
const mse = await (await errors(...batchOf(data.packGraphs(all)))).item();
console.log(`test error ${Math.sqrt(mse).toFixed(3)} log mol/l`);

/** The molecules of ESOL; without the file, chains of carbon with oxygen, whose solubility is said to fall with each carbon. */
async function measured(): Promise<data.Graph[]> {
  const folder = archive("molecules");
  if (!folder)
    return Array.from({ length: 160 }, (_, i) => {
      const [carbons, alcohols] = [1 + (i % 16), i % 3];
      return graphOf(
        `${"C(O)".repeat(alcohols)}${"C".repeat(carbons)}`,
        1 + alcohols - carbons / 4,
      );
    });
  const path = join(folder, "deepchem+deepchem/datasets/delaney-processed.csv");
  const table = await readCsvFile(path);
  const smiles = table.column("smiles");
  const solubility = table.numbers(["measured log solubility in mols per litre"]);
  // A molecule of one atom has no bonds, which a graph of others may.
  return smiles.map((text, i) => graphOf(text.trim(), solubility[i]!));
}
