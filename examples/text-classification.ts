/**
 * What a text is about: a transformer over words, with sentences of any length padded to the longest
 * of their batch, on 7,600 headlines of AG's news in four fields. Lengths fall into few buckets, so
 * that little is padding and programs are few. Three seeds reach .799 to .821 of the 760 texts that
 * are held back; the standard error of such a share is .0145.
 *
 *     node examples/text-classification.ts [--epochs 6] [--quick]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readCsvFile } from "@kiln-ml/data/node";
import { compile, data, nn, optim, type Tensor } from "kiln-ml";
import { archive, quick, randomNumbers } from "./data.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "4" : "6" } },
  strict: false,
});
interface Text {
  readonly words: readonly string[];
  readonly label: number;
}
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+|\d/g) ?? ["-"];
const folder = archive("text");
const texts = folder ? await headlines(folder) : sentences();

async function headlines(root: string): Promise<Text[]> {
  const path = join(root, "mhjabreel+CharCnn_Keras/data/ag_news_csv/test.csv");
  const table = await readCsvFile(path, { header: false });
  const bodies = table.column(2);
  return table.column(1).map((title, i) => ({
    words: wordsOf(`${title} ${bodies[i]}`).slice(0, 60),
    label: Number(table.get(i)[0]) - 1,
  }));
}

const order = data.permutation(texts.length, 1, 0);
const held = Math.floor(texts.length / 10);
const pick = (from: number, to: number) => Array.from(order.slice(from, to), (i) => texts[i]!);
const [test, learn] = [pick(0, held), pick(held, texts.length)];

// 0 is padding, 1 a word that was met less than twice.
const counts = new Map<string, number>();
for (const { words } of learn) for (const w of words) counts.set(w, (counts.get(w) ?? 0) + 1);
const vocabulary = new Map(
  [...counts].filter(([, n]) => n > 1).map(([word], i) => [word, i + 2] as const),
);

const [width, heads, classes] = [64, 4, 1 + Math.max(...texts.map((t) => t.label))];

class Classifier extends nn.Module {
  words = new nn.Embedding(vocabulary.size + 2, width);
  places = new nn.PositionalEncoding(width);
  encoder = new nn.TransformerEncoder(2, width, heads, { hidden: 128, dropout: 0.2 });
  scores = new nn.Linear(width, classes);

  /** codes: i32[N, T] → scores f32[N, classes]. */
  override forward(codes: Tensor): Tensor {
    const [count, length] = codes.shape;
    const present = codes.notEqual(0);
    // A mask for all heads and queries: nobody looks at padding.
    const mask = present.reshape([count!, 1, 1, length!]);
    const y = this.encoder.forward(this.places.forward(this.words.forward(codes)), { mask });
    const weights = present.convert("f32").expandDims(-1);
    return this.scores.forward(y.mul(weights).sum(1).div(weights.sum(1)));
  }
}

nn.seed(1);
const net = new Classifier();
const setOf = (from: readonly Text[]) =>
  data.itemsOf(
    from.map(({ words, label }) => ({
      codes: Int32Array.from(words, (w) => vocabulary.get(w) ?? 1),
      label,
    })),
  );
type Sample = { readonly codes: Int32Array; readonly label: number };
const padded = data.pad({ multiple: 16 });
const collate = (samples: readonly Sample[]) =>
  [padded(samples.map((s) => s.codes)), Int32Array.from(samples, (s) => s.label)] as const;
const lengths = learn.map((t) => t.words.length);
const loader = new data.DataLoader(setOf(learn), {
  batches: data.bucketByLength(lengths, { batch: 32, seed: 1 }),
  collate,
});
const epochs = Number(values.epochs);
const adam = new optim.AdamW(net.parameters(), {
  lr: optim.schedule.cosine(2e-3, epochs * loader.length),
  clipNorm: 1,
});
// Symbols: texts of all lengths go through one program.
const inputs = [
  { shape: ["n", "t"], dtype: "i32" },
  { shape: ["n"], dtype: "i32" },
] as const;
const step = compile(
  (codes: Tensor, label: Tensor) => {
    const loss = nn.crossEntropy(net.forward(codes), label);
    adam.step(loss);
    return loss;
  },
  { inputs },
);
const measure = compile((codes: Tensor, label: Tensor) => nn.accuracy(net.forward(codes), label), {
  inputs,
});

for (let epoch = 1; epoch <= epochs; epoch++) {
  let loss = Number.NaN;
  for await (const [codes, label] of loader) loss = await (await step(codes, label)).item();
  console.log(`epoch ${epoch}: loss of the last batch ${loss.toFixed(3)}`);
}
net.eval();
let right = 0;
const testing = new data.DataLoader(setOf(test), {
  batch: 50,
  collate,
});
for await (const [codes, label] of testing)
  right += label.length * (await (await measure(codes, label)).item());
console.log(`test accuracy ${(right / test.length).toFixed(3)}, ${vocabulary.size} words`);

/** Sentences about food or ships, of five to twelve words. */
function sentences(): Text[] {
  const draw = randomNumbers(1);
  const common = ["the", "a", "was", "very", "old", "and", "with", "some"];
  const fields = [
    ["bread", "soup", "salt", "cook", "plate", "sweet"],
    ["sail", "harbour", "storm", "crew", "anchor", "deck"],
  ];
  return Array.from({ length: 400 }, (_, i) => {
    const own = fields[i % 2]!;
    const from = (list: readonly string[]) => list[Math.floor(list.length * draw())]!;
    const count = 5 + Math.floor(8 * draw());
    const words = Array.from({ length: count }, () => (draw() < 0.25 ? from(own) : from(common)));
    return { words, label: i % 2 };
  });
}
