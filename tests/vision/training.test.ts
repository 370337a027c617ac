/** Models train themselves, on any target by name, and keep what modules do. */
import { compile, data, nn, ones } from "kiln-ml";
import * as vision from "kiln-ml/vision";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** Images of two classes: dark and bright. */
function images(count: number, size: number, channels = 3) {
  const pixels = Float32Array.from(
    { length: count * channels * size * size },
    (_, i) => (Math.floor(i / (channels * size * size)) % 2) - 0.5 + 0.1 * Math.sin(i),
  );
  const labels = Int32Array.from({ length: count }, (_, i) => i % 2);
  return data.fromArrays([pixels, labels] as const, [[channels, size, size], []]);
}

const silent = { renderer: false as const };

test("googlenet(backend).train(data, config) trains with its other classifiers", async () => {
  nn.seed(1);
  const net = vision.googlenet("wasm", { classes: 2, aux: true });
  const before = await net.fc.weight.data();
  const set = images(4, 32);
  const history = await net.train(set, { ...silent, batch: 4, seed: 1 });
  assert.equal(Object.keys(history.epochs[0]!.logs), ["loss", "accuracy"]);
  // Three losses of two classes, of which two count 0.3: more than ln 2 alone.
  assert.ok(history.values("loss")[0]! > 1, `${history.values("loss")}`);
  assert.not.equal(await net.fc.weight.data(), before);
  assert.is(net.training, true);
});

test("a network for small images learns to tell dark from bright on js as on wasm", async () => {
  const losses: number[][] = [];
  for (const backend of ["js", "wasm"] as const) {
    nn.seed(1);
    const net = vision.unet(backend, { width: 4, depth: 2, channels: 1, classes: 2 });
    const history = await net.train(images(8, 8, 1), {
      ...silent,
      epochs: 8,
      batch: 8,
      lr: 0.03,
      seed: 1,
      loss: (scores, labels) => nn.crossEntropy(scores.mean([2, 3]), labels),
      metrics: [],
    });
    losses.push(history.values("loss"));
  }
  assert.ok(losses[0]!.at(-1)! < 0.6 * losses[0]![0]!, `${losses[0]}`);
  for (const [i, loss] of losses[0]!.entries())
    assert.ok(Math.abs(loss - losses[1]![i]!) < 1e-3, `${losses}`);
});

test("bytes of an image folder are taken as they come, and predicted in order", async () => {
  nn.seed(1);
  const net = vision.mobilenetV3Small("wasm", { classes: 3 });
  const bytes = Uint8Array.from({ length: 3 * 32 * 32 * 3 }, (_, i) => i % 251);
  const set = data.fromArrays([bytes, Int32Array.of(0, 1, 2)] as const, [[32, 32, 3], []]);
  const { data: scores, shape } = await net.predict(set, { batch: 2 });
  assert.equal(shape, [3, 3]);
  const logs = await net.evaluate(set);
  assert.equal(Object.keys(logs), ["loss", "accuracy"]);
  // The loss of the scores that were predicted.
  const rows = [0, 1, 2].map((i) => [...scores.slice(3 * i, 3 * i + 3)].map(Number));
  const loss = rows.map((r, i) => Math.log(r.reduce((s, v) => s + Math.exp(v), 0)) - r[i]!);
  assert.ok(Math.abs(Number(logs.loss) - loss.reduce((a, b) => a + b) / 3) < 1e-4);
});

test("train without data sets the mode, as of any module", () => {
  const net = nn.skipInit(() => vision.resnet18("js", { classes: 2 }));
  assert.is(net.eval(), net);
  assert.is(net.layer1.training, false);
  assert.is(net.train(), net);
  assert.is(net.layer1.training, true);
});

test("stochastic depth drops whole samples, in training only", async () => {
  const drop = new vision.StochasticDepth(0.5);
  const run = compile(() => drop.forward(ones([64, 3])), { target: "js" });
  const rows = (values: ArrayLike<number>) =>
    Array.from({ length: 64 }, (_, i) => [values[3 * i], values[3 * i + 1], values[3 * i + 2]]);
  const drawn = rows((await (await run()).data()) as Float32Array);
  assert.ok(drawn.every((r) => r.every((v) => v === r[0]) && (r[0] === 0 || r[0] === 2)));
  const kept = drawn.filter((r) => r[0]).length;
  assert.ok(kept > 16 && kept < 48, `${kept}`);
  drop.eval();
  assert.ok(rows((await (await run()).data()) as Float32Array).every((r) => r[0] === 1));
});

test("skipInit leaves what is drawn at 0, and what is constant as it is", async () => {
  const net = nn.skipInit(() => new nn.Sequential(new nn.Linear(2, 2), new nn.BatchNorm1d(2)));
  const values = await Promise.all(
    [...net.state().values()].map(async (t) => [...(await t.data())]),
  );
  assert.equal(values, [
    [0, 0, 0, 0],
    [0, 0],
    [1, 1],
    [0, 0],
    [0, 0],
    [1, 1],
  ]);
  assert.not.equal((await new nn.Linear(2, 2).weight.data())[0], 0);
});

test.run();
