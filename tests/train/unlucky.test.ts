/**
 * Data that are unlucky: a batch of one, a class that was never seen or that there is no output
 * for, and a set without samples.
 */
import { readdirSync } from "node:fs";
import { data, nn, setDefaultTarget, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { adam, classifier, inFolder, messageOf, points, quiet } from "./samples.ts";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));
const { metrics } = train;

/** With batch normalisation, to which one sample has no variance. */
function normed() {
  nn.seed(2);
  return new nn.Sequential(
    new nn.Linear(2, 8),
    new nn.BatchNorm1d(8),
    (x: Tensor) => x.relu(),
    new nn.Linear(8, 2),
  );
}

const allFinite = async (net: nn.Module): Promise<boolean> => {
  for (const t of net.checkpoint().values())
    if (!Array.from(await t.data(), Number).every(Number.isFinite)) return false;
  return true;
};

for (const [name, count, batch] of [
  ["every batch has one sample", 6, 1],
  ["the last batch has one sample", 9, 4],
  ["the set has one sample", 1, 4],
] as const)
  test(`${name}: it trains, evaluates and predicts, and all stays finite`, async () => {
    const net = classifier();
    const loader = () => new data.DataLoader(points(count), { batch, shuffle: true });
    const history = await train.fit(net, loader(), {
      ...quiet,
      metrics: [metrics.accuracy(), metrics.f1()],
      validation: loader(),
      epochs: 2,
    });
    assert.ok(history.values("loss").every(Number.isFinite), `${history.values("loss")}`);
    assert.ok(history.values("val.loss").every(Number.isFinite));
    assert.ok(await allFinite(net));
    const found = await train.predict(net, loader());
    assert.equal(found.shape, [count, 2]);
  });

for (const [name, count, message] of [
  [
    "every batch",
    3,
    "batchNorm: one value a channel has no variance: input is [1,8] (in 1)\n  call eval() to use the running statistics",
  ],
  [
    "the last batch",
    9,
    "run: dim N must be at least 2, is 1 in input arg0 [N,2]\n  batchNorm: one value a channel has no variance: input is [N,8]",
  ],
] as const)
  test(`batch normalisation refuses ${name} of one sample, and what was learnt before is kept`, () =>
    inFolder(async (folder) => {
      const [net, batch] = [normed(), count === 3 ? 1 : 4];
      const run = () =>
        train.fit(net, new data.DataLoader(points(count), { batch }), {
          ...quiet,
          callbacks: [train.checkpoint(folder, { every: 1 })],
        });
      assert.is(await messageOf(run), message);
      assert.ok(await allFinite(net));
      assert.is(readdirSync(folder).length, count === 3 ? 0 : 2);
    }));

/** `points`, where sample `at` is of class `label`. */
function withLabel(count: number, at: number, label: number) {
  const set = points(count);
  return {
    ...set,
    async gather(indices: ArrayLike<number>) {
      const [x, y] = await set.gather(indices);
      for (let i = 0; i < indices.length; i++) if (indices[i] === at) y[i] = label;
      return [x, y] as [typeof x, typeof y];
    },
  };
}

for (const label of [2, -1])
  test(`class ${label} of a model of two: the step is named, and the weights before it are kept`, () =>
    inFolder(async (folder) => {
      const message = await messageOf(() =>
        train.fit(classifier(), new data.DataLoader(withLabel(16, 9, label), { batch: 4 }), {
          ...quiet,
          callbacks: [train.nanGuard({ every: 1 }), train.checkpoint(folder, { every: 1 })],
        }),
      );
      assert.is(
        message,
        "fit: the loss of step 3 is not finite\n  lower lr, clip gradients (clipNorm: 1), or look at the batch of that step",
      );
      assert.equal(readdirSync(folder).at(-1), "step-00000002.safetensors");
    }));

test("a class that no sample has counts in no mean, and the others are measured", async () => {
  nn.seed(1);
  const net = new nn.Linear(2, 4);
  const measured = [metrics.accuracy(), metrics.f1(), metrics.precision(), metrics.recall()];
  const history = await train.fit(net, new data.DataLoader(points(24), { batch: 8 }), {
    ...quiet,
    optimizer: adam(0.2),
    metrics: [...measured, metrics.confusionMatrix(), metrics.topK(2)],
    epochs: 8,
  });
  for (const { name } of measured) {
    const last = history.values(name).at(-1)!;
    assert.ok(last > 0.8 && last <= 1, `${name} ${last}`);
  }
});

test("a set without samples is refused by fit, evaluate and predict, before anything is written", () =>
  inFolder(async (folder) => {
    const none = () => new data.DataLoader(data.subset(points(4), []), { batch: 2 });
    const line = (op: string) =>
      `${op}: the loader has no batches\n  check what the data set was read from, and its split`;
    const callbacks = [train.checkpoint(folder), train.tensorBoard(folder)];
    const fitted = () => train.fit(classifier(), none(), { ...quiet, callbacks });
    assert.is(await messageOf(fitted), line("fit"));
    const loss = { loss: nn.crossEntropy };
    assert.is(await messageOf(() => train.evaluate(classifier(), none(), loss)), line("evaluate"));
    assert.is(await messageOf(() => train.predict(classifier(), none())), line("predict"));
    assert.equal(readdirSync(folder), []);
  }));

test.run();
