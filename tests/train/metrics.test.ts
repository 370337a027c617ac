/**
 * Metrics against their definitions, written here anew: over samples in batches of several sizes, as an epoch has them.
 */
import { nn, setDefaultTarget, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));
const { metrics } = train;

/** A model that gives what it is given. */
class Same extends nn.Module {
  override forward(x: Tensor): Tensor {
    return x;
  }
}

type Arrays = readonly [Float32Array, Int32Array | Float32Array];
type Shapes = readonly [readonly number[], readonly number[]];

/** `metric` over samples cut into batches of 2, 3 and the rest. */
async function measure(metric: train.Metric, [x, y]: Arrays, [xs, ys]: Shapes) {
  const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
  const count = x.length / size(xs);
  const cuts = [0, ...[2, 5].filter((c) => c < count), count];
  async function* batches() {
    for (const [i, from] of cuts.slice(0, -1).entries()) {
      const to = cuts[i + 1]!;
      const part = (a: Float32Array | Int32Array, shape: readonly number[]) => ({
        data: a.slice(from * size(shape), to * size(shape)),
        shape: [to - from, ...shape],
      });
      yield [part(x, xs), part(y, ys)];
    }
  }
  const loss = (output: Tensor) => output.convert("f32").mul(0).sum();
  const logs = await train.evaluate(new Same(), batches(), { loss, metrics: [metric] });
  return logs[metric.name]!;
}

const near = (a: unknown, b: number, tolerance = 1e-6) => {
  assert.type(a, "number");
  assert.ok(Math.abs((a as number) - b) <= tolerance * Math.max(1, Math.abs(b)), `${a} for ${b}`);
};

// Eight samples of four classes; class 3 is never the target, and never guessed.
const guesses = [0, 1, 2, 0, 1, 1, 2, 0];
const targets = [0, 1, 1, 0, 2, 1, 2, 1];
const second = [1, 0, 1, 2, 2, 0, 0, 1];
const scores = Float32Array.from(
  guesses.flatMap((g, i) => [0, 1, 2, 3].map((c) => (c === g ? 5 : c === second[i] ? 2 : -c))),
);
const classes: Arrays = [scores, Int32Array.from(targets)];
const classShapes: Shapes = [[4], []];

test("accuracy, top-k and the confusion matrix count samples", async () => {
  near(await measure(metrics.accuracy(), classes, classShapes), 5 / 8);
  near(await measure(metrics.topK(1), classes, classShapes), 5 / 8);
  // Samples 2, 4 and 7 have their class in the second place.
  near(await measure(metrics.topK(2), classes, classShapes), 1);
  assert.equal(await measure(metrics.confusionMatrix(), classes, classShapes), [
    [2, 0, 0, 0],
    [1, 2, 1, 0],
    [0, 1, 1, 0],
    [0, 0, 0, 0],
  ]);
});

test("precision, recall and F average over classes as they say", async () => {
  // By class, right / guessed: 2/3, 2/3, 1/2; right / targets: 2/2, 2/4, 1/2. Class 3 is not seen.
  const of = (metric: train.Metric) => measure(metric, classes, classShapes);
  near(await of(metrics.precision()), (2 / 3 + 2 / 3 + 1 / 2) / 3);
  near(await of(metrics.recall()), (1 + 1 / 2 + 1 / 2) / 3);
  near(await of(metrics.precision({ average: "micro" })), 5 / 8);
  near(await of(metrics.recall({ average: "micro" })), 5 / 8);
  near(
    await of(metrics.precision({ average: "weighted" })),
    ((2 * 2) / 3 + (4 * 2) / 3 + 2 / 2) / 8,
  );
  assert.equal(await of(metrics.recall({ average: "none" })), [1, 0.5, 0.5, 0]);
  const f = (p: number, r: number, b = 1) => ((1 + b * b) * p * r) / (b * b * p + r);
  near(await of(metrics.f1()), (f(2 / 3, 1) + f(2 / 3, 1 / 2) + f(1 / 2, 1 / 2)) / 3);
  near(await of(metrics.fBeta(2)), (f(2 / 3, 1, 2) + f(2 / 3, 1 / 2, 2) + f(1 / 2, 1 / 2, 2)) / 3);
});

test("the Hamming score is the share of labels that are right", async () => {
  const output = Float32Array.of(0.9, 0.1, 0.6, 0.4, 0.2, 0.7);
  const target = Float32Array.of(1, 0, 0, 1, 0, 1);
  near(await measure(metrics.hammingScore(), [output, target], [[2], [2]]), 4 / 6);
});

test("areas under curves are those of all pairs and of all thresholds, ties counting half", async () => {
  const output = Float32Array.of(0.125, 0.75, 0.5, 0.5, 0.25, 0.875, 0.5, 0);
  const labels = Int32Array.of(0, 1, 1, 0, 0, 1, 0, 1);
  const [pos, neg] = [1, 0].map((l) => [...output].filter((_, i) => labels[i] === l));
  const won = (p: number, n: number): number => (p > n ? 1 : p === n ? 0.5 : 0);
  const pairs = pos!.flatMap((p) => neg!.map((n) => won(p, n)));
  const roc = pairs.reduce((a, b) => a + b, 0) / pairs.length;
  let [before, ap] = [0, 0];
  for (const t of [...new Set(output)].sort((a, b) => b - a)) {
    const recall = pos!.filter((p) => p >= t).length / pos!.length;
    const right = pos!.filter((p) => p >= t).length;
    ap += (recall - before) * (right / [...output].filter((v) => v >= t).length);
    before = recall;
  }
  near(metrics.aurocOf(output, labels), roc);
  near(metrics.averagePrecisionOf(output, labels), ap);
  const shapes: Shapes = [[], []];
  near(await measure(metrics.auroc(), [output, labels], shapes), roc);
  near(await measure(metrics.averagePrecision({ bins: 8 }), [output, labels], shapes), ap);
  const logits = output.map((p) => Math.log(Math.max(p, 1e-6) / (1 - p)) + 0.01);
  near(await measure(metrics.auroc({ logits: true }), [logits, labels], shapes), roc);
  assert.ok(Number.isNaN(metrics.aurocOf([0.1, 0.2], [1, 1])), "without negatives there is none");
});

test("measures of numbers are their formulas, and R² survives a large mean", async () => {
  const y = Float32Array.of(1, 2.5, -3, 4, 0, 2, 7, -1);
  const t = Float32Array.of(0.5, 2, -2, 5, 1, 2, 6, -3);
  const d = [...y].map((v, i) => v - t[i]!);
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const shapes: Shapes = [[], []];
  const mse = mean(d.map((v) => v * v));
  near(await measure(metrics.mae(), [y, t], shapes), mean(d.map(Math.abs)));
  near(await measure(metrics.mse(), [y, t], shapes), mse);
  near(await measure(metrics.rmse(), [y, t], shapes), Math.sqrt(mse));
  near(await measure(metrics.psnr({ range: 10 }), [y, t], shapes), 10 * Math.log10(100 / mse));
  const middle = mean([...t]);
  const r2 = 1 - mse / mean([...t].map((v) => (v - middle) ** 2));
  near(await measure(metrics.r2(), [y, t], shapes), r2);
  const far = (a: Float32Array) => a.map((v) => v + 4096);
  near(await measure(metrics.r2(), [far(y), far(t)], shapes), r2, 1e-4);
});

test("perplexity is e to the mean surprise, without what is ignored", async () => {
  const chance = (i: number) => {
    const row = [...scores.slice(4 * i, 4 * i + 4)].map(Math.exp);
    return row[targets[i]!]! / row.reduce((a, b) => a + b, 0);
  };
  const over = (places: readonly number[]) =>
    Math.exp(places.reduce((sum, i) => sum - Math.log(chance(i)), 0) / places.length);
  const all = targets.map((_, i) => i);
  near(await measure(metrics.perplexity(), classes, classShapes), over(all), 1e-5);
  const kept = all.filter((i) => targets[i] !== 2);
  near(await measure(metrics.perplexity({ ignore: 2 }), classes, classShapes), over(kept), 1e-5);
});

test("Dice and IoU compare masks, and classes of pixels", async () => {
  const output = Float32Array.of(0.9, 0.8, 0.1, 0.2, 0.7, 0.3);
  const target = Int32Array.of(1, 0, 0, 1, 1, 0);
  near(await measure(metrics.dice(), [output, target], [[2], [2]]), (2 * 2) / (3 + 3));
  near(await measure(metrics.iou(), [output, target], [[2], [2]]), 2 / 4);
  // Two images of two pixels, three classes on axis 1: guesses 0 1, 1 1; targets 0 0, 1 1. Class 2 is not seen.
  const pixels = Float32Array.of(3, 0, 0, 3, 0, 0, 0, 0, 3, 3, 0, 0);
  const seen = Int32Array.of(0, 0, 1, 1);
  const value = await measure(metrics.dice(), [pixels, seen], [[3, 2], [2]]);
  near(value, ((2 * 1) / 3 + (2 * 2) / 5) / 2);
});

test("MS-SSIM is 1 for equal images, and for others the product of five scales", async () => {
  const side = 48;
  const image = (phase: number) =>
    Float32Array.from(
      { length: side * side },
      (_, i) =>
        0.5 + 0.3 * Math.sin((i % side) * 0.3 + phase) * Math.cos(Math.floor(i / side) * 0.2),
    );
  const [x, y] = [image(0), image(0.4)];
  const shapes: Shapes = [
    [1, side, side],
    [1, side, side],
  ];
  const metric = metrics.msSsim({ window: 3 });
  near(await measure(metric, [x, x], shapes), 1, 1e-5);
  const weights = Array.from({ length: 9 }, (_, i) =>
    Math.exp(-(((i % 3) - 1) ** 2 + (Math.floor(i / 3) - 1) ** 2) / (2 * 1.5 ** 2)),
  );
  const total = weights.reduce((a, b) => a + b, 0);
  let [a, b, n, product] = [[...x], [...y], side, 1];
  for (const [scale, exponent] of [0.0448, 0.2856, 0.3001, 0.2363, 0.1333].entries()) {
    if (scale) {
      const half = (v: readonly number[], from: number) =>
        Array.from({ length: (from / 2) ** 2 }, (_, i) => {
          const at = 2 * Math.floor(i / (from / 2)) * from + 2 * (i % (from / 2));
          return (v[at]! + v[at + 1]! + v[at + from]! + v[at + from + 1]!) / 4;
        });
      [a, b, n] = [half(a, n), half(b, n), n / 2];
    }
    let sum = 0;
    for (let r = 0; r < n - 2; r++)
      for (let c = 0; c < n - 2; c++) {
        const e = (f: (i: number) => number) =>
          weights.reduce(
            (s, w, i) => s + (w / total) * f((r + Math.floor(i / 3)) * n + c + (i % 3)),
            0,
          );
        const [mx, my] = [e((i) => a[i]!), e((i) => b[i]!)];
        const spread = e((i) => (a[i]! - mx) ** 2) + e((i) => (b[i]! - my) ** 2);
        const structure = (2 * e((i) => (a[i]! - mx) * (b[i]! - my)) + 9e-4) / (spread + 9e-4);
        const bright = (2 * mx * my + 1e-4) / (mx * mx + my * my + 1e-4);
        sum += scale === 4 ? bright * structure : structure;
      }
    product *= Math.max(0, sum / (n - 2) ** 2) ** exponent;
  }
  near(await measure(metric, [x, y], shapes), product, 1e-4);
});

test("SSIM is 1 for equal images and the formula for others", async () => {
  const side = 6;
  const image = (phase: number) =>
    Float32Array.from({ length: 2 * side * side }, (_, i) => 0.5 + 0.4 * Math.sin(i * 0.9 + phase));
  const [x, y] = [image(0), image(0.6)];
  const shapes: Shapes = [
    [1, side, side],
    [1, side, side],
  ];
  const metric = metrics.ssim({ window: 5 });
  near(await measure(metric, [x, x], shapes), 1, 1e-5);
  const weights = Array.from({ length: 25 }, (_, i) =>
    Math.exp(-(((i % 5) - 2) ** 2 + (Math.floor(i / 5) - 2) ** 2) / (2 * 1.5 ** 2)),
  );
  const total = weights.reduce((a, b) => a + b, 0);
  const values: number[] = [];
  for (let n = 0; n < 2; n++)
    for (let r = 0; r < 2; r++)
      for (let c = 0; c < 2; c++) {
        const at = weights.map(
          (_, i) => n * side * side + (r + Math.floor(i / 5)) * side + c + (i % 5),
        );
        const e = (f: (i: number) => number) =>
          at.reduce((sum, i, k) => sum + (weights[k]! / total) * f(i), 0);
        const [mx, my] = [e((i) => x[i]!), e((i) => y[i]!)];
        const vx = e((i) => (x[i]! - mx) ** 2);
        const vy = e((i) => (y[i]! - my) ** 2);
        const vxy = e((i) => (x[i]! - mx) * (y[i]! - my));
        values.push(
          ((2 * mx * my + 1e-4) * (2 * vxy + 9e-4)) /
            ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4)),
        );
      }
  near(await measure(metric, [x, y], shapes), values.reduce((a, b) => a + b, 0) / 8, 1e-4);
});

test("error rates are edits over the length of the references", () => {
  near(metrics.cer().add("kitten", "sitting").add("flaw", "lawn").value(), (3 + 2) / (7 + 4));
  near(metrics.wer().add("the cat sat", "the cat sat down").add("a b", "a c").value(), 2 / 6);
  assert.ok(Number.isNaN(metrics.wer().value()));
});

test("BLEU clips n-grams, and punishes what is short", () => {
  // Papineni et al. 2002, example 2: seven "the" against one with two; with unigrams alone 2/7.
  const candidate = "the the the the the the the";
  near(metrics.bleu(1).add(candidate, "the cat is on the mat").value(), 2 / 7);
  // 1-grams 5/6, 2-grams 3/5 against a reference of 7 words: e^(1 − 7/6).
  const value = metrics
    .bleu(2)
    .add("the cat sat on the mat", "the cat is on the mat today")
    .value();
  near(value, Math.exp(1 - 7 / 6) * Math.sqrt((5 / 6) * (3 / 5)));
  assert.is(metrics.bleu().add("a b", "c d").value(), 0);
  near(metrics.bleu(1).add("a b c", "a b c d e", "a x c").value(), 1);
});

test("ROUGE-L is F of the longest common subsequence", () => {
  // Lin 2004: "police killed the gunman" against "police kill the gunman": 3 of 4; "the gunman kill police": 2 of 4.
  near(metrics.rougeL().add("police kill the gunman", "police killed the gunman").value(), 3 / 4);
  near(metrics.rougeL().add("the gunman kill police", "police killed the gunman").value(), 2 / 4);
  near(metrics.rougeL().add("a b", "a b c d").add("x", "y").value(), ((2 * 2) / 6 + 0) / 2);
});

test.run();
