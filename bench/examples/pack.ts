/**
 * What the examples learn from, as arrays that NumPy reads: run.py trains PyTorch on them, on a
 * machine that has neither Node nor these readers. Splits are the examples' own: their orders are
 * stored beside the data.
 *
 *     node --conditions=@kiln-ml/source --import tsx bench/examples/pack.ts FOLDER
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { readCsvFile } from "@kiln-ml/data/node";
import { writeNpz } from "@kiln-ml/formats";
import { data } from "kiln-ml";
import { archive, digits } from "../../examples/data.ts";
import { readSmiles } from "../../examples/molecules/smiles.ts";

const folder = process.argv[2];
if (!folder) throw new Error("pack.ts: name the folder to write\n  pack.ts runs/recipes");
mkdirSync(folder, { recursive: true });

type Values = Float32Array | Int32Array | Uint8Array | Uint16Array;
type Arrays = Record<string, readonly [Values, ...(readonly number[])]>;

const dtypes = { Float32Array: "f32", Int32Array: "i32", Uint8Array: "u8", Uint16Array: "u16" };

function keep(name: string, arrays: Arrays): void {
  const entries = Object.entries(arrays).map(([key, [values, ...shape]]) => {
    const dtype = dtypes[values.constructor.name as keyof typeof dtypes];
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    return [key, { dtype, shape: shape.length ? shape : [values.length], data: bytes }] as const;
  });
  const file = writeNpz(Object.fromEntries(entries) as never, { compress: true });
  writeFileSync(join(folder!, `${name}.npz`), file);
  console.log(`${name}.npz ${(file.length / 1e6).toFixed(2)} MB`);
}

/** The order by which `data.split` and the examples divide a set. */
const order = (n: number): readonly [Int32Array] => [Int32Array.from(data.permutation(n, 1))];

function unpacked(name: string): string {
  const found = archive(name);
  if (!found) throw new Error(`pack.ts: needs the archive ${name}\n  set KILN_DATA to its folder`);
  return found;
}

async function packDigits(): Promise<void> {
  const all = await digits();
  const [x, y] = (await all.gather([...Array(all.length).keys()])) as [Float32Array, Int32Array];
  // The package has three decimals.
  const thousandths = Uint16Array.from(x, (v) => Math.round(1000 * v));
  const off = thousandths.findIndex((k, i) => Math.fround(k / 1000) !== x[i]);
  if (off >= 0) throw new Error(`pack.ts: pixel ${x[off]} is not of three decimals`);
  keep("digits", {
    x: [thousandths, all.length, 784],
    y: [Uint8Array.from(y)],
    order: order(all.length),
  });
}

function packCora(): void {
  const path = join(unpacked("graphs"), "cora.json.gz");
  const graph = JSON.parse(gunzipSync(readFileSync(path)).toString());
  const words: number[][] = graph.feature_indices;
  keep("cora", {
    nodes: [Int32Array.from(words.flatMap((list, node) => list.map(() => node)))],
    words: [Int32Array.from(words.flat())],
    sizes: [Int32Array.of(graph.nodes, graph.features, graph.classes)],
    labels: [Int32Array.from(graph.labels)],
    edges: [Int32Array.from(graph.edges.flat()), graph.edges.length, 2],
    train: [Int32Array.from(graph.train)],
    test: [Int32Array.from(graph.test)],
  });
}

/** Graphs one after the other: features of nodes, edges that count within each, and its target. */
function packed(graphs: readonly data.Graph[]): Arrays {
  const floats = (list: readonly ArrayLike<number>[]) =>
    Float32Array.from(list.flatMap((a) => Array.from(a)));
  const nodes = floats(graphs.map((g) => g.nodes));
  const count = graphs.reduce((sum, g) => sum + g.count, 0);
  return {
    nodes: [nodes, count, nodes.length / count],
    counts: [Int32Array.from(graphs, (g) => g.count)],
    from: [Int32Array.from(graphs.flatMap((g) => Array.from(g.from)))],
    to: [Int32Array.from(graphs.flatMap((g) => Array.from(g.to)))],
    bonds: [Int32Array.from(graphs, (g) => g.from.length)],
    target: [Float32Array.from(graphs, (g) => g.target!)],
  };
}

/** As gin.ts reads it; the fold of each graph from 0. */
function packMutag(): void {
  const root = join(unpacked("graphs"), "LiuBeauty+GIN_COMETRUE/dataset/MUTAG");
  const rows = readFileSync(join(root, "MUTAG.txt"), "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found: { readonly label: number; readonly nodes: number[][] }[] = [];
  for (let at = 0; at < rows.length; ) {
    const [count, label] = rows[at++]! as [number, number];
    found.push({ label, nodes: rows.slice(at, at + count) });
    at += count;
  }
  const sorted = (list: readonly number[]) => [...new Set(list)].sort((a, b) => a - b);
  const tags = sorted(found.flatMap((g) => g.nodes.map(([tag]) => tag!)));
  const classes = sorted(found.map((g) => g.label));
  const graphs = found.map(({ label, nodes }) => ({
    nodes: Float32Array.from(nodes.flatMap(([tag]) => tags.map((t) => Number(t === tag)))),
    count: nodes.length,
    from: nodes.flatMap(([, , ...ends], i) => ends.map(() => i)),
    to: nodes.flatMap(([, , ...ends]) => ends),
    target: classes.indexOf(label),
  }));
  const folds = new Int32Array(graphs.length);
  for (let fold = 0; fold < 10; fold++) {
    const text = readFileSync(join(root, `10fold_idx/test_idx-${fold + 1}.txt`), "utf8");
    for (const line of text.trim().split("\n")) folds[Number(line)] = fold;
  }
  keep("mutag", { ...packed(graphs), folds: [folds] });
}

const kinds = ["C", "N", "O", "S", "F", "Cl", "Br", "I", "P"];

/** As esol.ts has it. */
function graphOf(smiles: string, target: number): data.Graph {
  const { atoms, bonds } = readSmiles(smiles);
  const nodes = atoms.flatMap(({ symbol, aromatic, charge, hydrogens }, i) => {
    const own = bonds.filter((b) => b.from === i || b.to === i);
    const kind = kinds.indexOf(symbol);
    const hot = Array.from({ length: kinds.length + 1 }, (_, k) =>
      Number(k === (kind < 0 ? kinds.length : kind)),
    );
    const multiple = [2, 3].map((n) => own.filter((b) => b.order === n).length);
    return [...hot, own.length / 4, Number(aromatic), charge, hydrogens / 2, ...multiple];
  });
  const from = bonds.flatMap((b) => [b.from, b.to]);
  const to = bonds.flatMap((b) => [b.to, b.from]);
  return { nodes: Float32Array.from(nodes), count: atoms.length, from, to, target };
}

async function packEsol(): Promise<void> {
  const path = join(unpacked("molecules"), "deepchem+deepchem/datasets/delaney-processed.csv");
  const table = await readCsvFile(path);
  const solubility = table.numbers(["measured log solubility in mols per litre"]);
  const graphs = table.column("smiles").map((text, i) => graphOf(text.trim(), solubility[i]!));
  keep("esol", { ...packed(graphs), order: order(graphs.length) });
}

async function packTables(): Promise<void> {
  const root = unpacked("tabular-timeseries");
  const table = await readCsvFile(join(root, "ageron+data/housing/housing.csv"));
  const [price, place] = ["median_house_value", "ocean_proximity"];
  const names = table.names.filter((name) => name !== price && name !== place);
  const { labels, classes } = table.classes(place);
  keep("housing", {
    // An empty cell is NaN: filling and scaling are of the recipe.
    numbers: [table.numbers(names, "NaN"), table.length, names.length],
    places: [Uint8Array.from(labels)],
    sizes: [Int32Array.of(classes.length)],
    prices: [table.numbers(price)],
    order: order(table.length),
  });
  const path = join(root, "jbrownlee+Datasets/monthly-sunspots.csv");
  keep("sunspots", { series: [(await readCsvFile(path)).numbers(1)] });
}

/** As text-classification.ts codes it: 0 is padding, 1 a word that was met less than twice. */
async function packText(): Promise<void> {
  const path = join(unpacked("text"), "mhjabreel+CharCnn_Keras/data/ag_news_csv/test.csv");
  const table = await readCsvFile(path, { header: false });
  const bodies = table.column(2);
  const texts = table
    .column(1)
    .map((title, i) =>
      (`${title} ${bodies[i]}`.toLowerCase().match(/[a-z]+|\d/g) ?? ["-"]).slice(0, 60),
    );
  const [places] = order(texts.length);
  const counts = new Map<string, number>();
  for (const i of places.subarray(Math.floor(texts.length / 10)))
    for (const w of texts[i]!) counts.set(w, (counts.get(w) ?? 0) + 1);
  const known = [...counts].filter(([, n]) => n > 1).map(([word], i) => [word, i + 2] as const);
  const vocabulary = new Map(known);
  const codes = new Uint16Array(texts.length * 60);
  for (const [i, words] of texts.entries())
    codes.set(
      words.map((w) => vocabulary.get(w) ?? 1),
      60 * i,
    );
  keep("headlines", {
    codes: [codes, texts.length, 60],
    labels: [Uint8Array.from(texts, (_, i) => Number(table.get(i)[0]) - 1)],
    words: [Int32Array.of(vocabulary.size)],
    order: [places],
  });
}

async function packMembranes(): Promise<void> {
  const root = join(unpacked("isbi-membrane"), "zhixuhao+unet/data/membrane/train");
  const all = async (what: string): Promise<Uint8Array> => {
    const out = new Uint8Array(30 * 512 * 512);
    for (let i = 0; i < 30; i++) {
      const path = join(root, what, `${i}.png`);
      const { data: pixels } = await data.decodeImage(readFileSync(path), {
        name: path,
        channels: 1,
      });
      out.set(pixels, i * 512 * 512);
    }
    return out;
  };
  const shape = [30, 512, 512] as const;
  keep("membranes", {
    images: [await all("image"), ...shape],
    labels: [await all("label"), ...shape],
  });
}

await packDigits();
keep("orders", { sounds: order(1000) });
packCora();
packMutag();
await packEsol();
await packTables();
await packText();
await packMembranes();
// JPEGs stay as they are: arrays of them are seven times as large.
const jpegs = readFileSync(join(unpacked("cifar10-jpg-subset"), "cifar10-jpg-subset.tar"));
writeFileSync(join(folder, "cifar10.tar.gz"), gzipSync(jpegs));
