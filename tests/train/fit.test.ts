/**
 * The loop: what it learns, measures and tells, in all of its options, and that it equals a loop
 * written by hand.
 */
import { compile, data, nn, optim, setDefaultTarget, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { homeOf } from "../../packages/kiln/src/eager/eager.ts";
import { adam, classifier, points, quiet } from "./samples.ts";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));
const { metrics } = train;

const valuesOf = async (net: nn.Module) => {
  const lists: number[][] = [];
  for (const t of net.state().values()) lists.push([...(await t.data())].map(Number));
  return lists;
};

test("fit learns, validates, and its model predicts as evaluate says", async () => {
  const net = classifier();
  const loader = new data.DataLoader(points(60), { batch: 16, shuffle: true });
  const validation = new data.DataLoader(points(40), { batch: 16 });
  const history = await train.fit(net, loader, {
    ...quiet,
    metrics: [metrics.accuracy(), metrics.f1()],
    validation,
    epochs: 15,
  });
  assert.is(history.epochs.length, 15);
  assert.is(history.interrupted, false);
  const last = history.epochs.at(-1)!;
  assert.equal(Object.keys(last.logs), [
    "loss",
    "accuracy",
    "f1",
    "val.loss",
    "val.accuracy",
    "val.f1",
  ]);
  assert.is(last.step, 60);
  const accuracy = history.values("val.accuracy").at(-1)!;
  assert.ok(accuracy > 0.9, `${accuracy}`);
  assert.ok(history.values("loss")[0]! > history.values("loss")[14]!);
  const logs = await train.evaluate(net, validation, {
    loss: nn.crossEntropy,
    metrics: [metrics.accuracy()],
  });
  assert.is(logs.accuracy, accuracy);
  assert.is(logs.loss, last.logs["val.loss"]);
  const { data: scores, shape } = await train.predict(net, validation);
  assert.equal(shape, [40, 2]);
  const labels = (await points(40).gather(Array.from({ length: 40 }, (_, i) => i)))[1];
  const right = labels.filter((l, i) => Number(scores[2 * i + 1]! > scores[2 * i]!) === l).length;
  assert.is(Math.fround(right / 40), Math.fround(accuracy));
});

test("a run has the bits of a loop that is written by hand, and its loss is the mean over samples", async () => {
  const order = () => new data.DataLoader(points(20), { batch: 8, shuffle: true });
  const net = classifier();
  const history = await train.fit(net, order(), { ...quiet, epochs: 2 });
  const twin = classifier();
  const opt = adam()(twin.parameters());
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(twin.forward(x), y);
      opt.step(loss);
      return loss;
    },
    { inputs: [["N", 2], { shape: ["N"], dtype: "i32" }] },
  );
  const loader = order();
  let sum = 0;
  for (let epoch = 0; epoch < 2; epoch++) {
    sum = 0;
    for await (const [x, y] of loader) sum += y.length * (await (await step(x, y)).item());
  }
  assert.equal(await valuesOf(net), await valuesOf(twin));
  assert.ok(Math.abs(history.values("loss")[1]! - sum / 20) < 1e-6);
});

test("accumulated gradients are those of the batch that the parts make up", async () => {
  const sgd = (params: Tensor[]) => new optim.SGD(params, { lr: 0.1, clipNorm: 1 });
  const fit = async (batch: number, accumulate: number) => {
    const net = classifier();
    const loader = new data.DataLoader(points(32), { batch });
    await train.fit(net, loader, { ...quiet, optimizer: sgd, accumulate, epochs: 2 });
    return (await valuesOf(net)).flat();
  };
  const [parts, whole] = [await fit(4, 4), await fit(16, 1)];
  for (const [i, v] of whole.entries()) assert.ok(Math.abs(v - parts[i]!) < 1e-6, `${i}`);
});

test("half precision learns with a scaled loss, accumulated or not", async () => {
  for (const accumulate of [1, 2]) {
    const loader = new data.DataLoader(points(60), { batch: 12 });
    const history = await train.fit(classifier(), loader, {
      ...quiet,
      metrics: [metrics.accuracy()],
      precision: "f16",
      accumulate,
      epochs: 12,
    });
    assert.ok(history.values("accuracy").at(-1)! > 0.9, String(history.values("accuracy")));
  }
});

test("a step of one's own, several inputs, and an iterable that is no DataLoader", async () => {
  class Two extends nn.Module {
    a = new nn.Linear(1, 1);
    override forward(x: Tensor, y: Tensor): Tensor {
      return this.a.forward(x).mul(y);
    }
  }
  async function* batches() {
    for (let i = 0; i < 4; i++)
      yield [
        { data: Float32Array.of(1, 2), shape: [2, 1] },
        { data: Float32Array.of(2, 2), shape: [2, 1] },
        { data: Float32Array.of(4, 8), shape: [2, 1] },
      ];
  }
  const many = { [Symbol.asyncIterator]: batches };
  const net = new Two();
  const history = await train.fit(net, many, {
    ...quiet,
    loss: nn.mse,
    optimizer: adam(0.1),
    epochs: 80,
  });
  assert.ok(history.values("loss").at(-1)! < 0.05, String(history.values("loss").at(-1)));
  const own = await train.fit(net, many, {
    optimizer: adam(0),
    renderer: false,
    metrics: [metrics.mae()],
    step: (x, y, target) => {
      const output = net.forward(x, y);
      return { loss: nn.l1(output, target), output, target };
    },
  });
  assert.is(own.values("loss")[0], own.values("mae")[0]);
});

test("dropout is off in validation, and modules are afterwards as they were", async () => {
  nn.seed(1);
  const net = new nn.Sequential(new nn.Dropout(0.9), new nn.Linear(2, 2));
  net.layers[0]!.training = false;
  const loader = new data.DataLoader(points(10), { batch: 5 });
  await train.fit(net, loader, { ...quiet, validation: loader });
  assert.is((net.layers[0] as nn.Dropout).training, false);
  assert.is((net.layers[1] as nn.Linear).training, true);
});

test("early stopping waits as long as it was told, and the history says why", async () => {
  const loader = new data.DataLoader(points(10), { batch: 5 });
  const history = await train.fit(classifier(), loader, {
    ...quiet,
    optimizer: adam(0),
    epochs: 50,
    callbacks: [train.earlyStopping({ monitor: "loss", patience: 2, minDelta: 0.5 })],
  });
  assert.is(history.epochs.length, 3);
  assert.match(history.stopped!, /^earlyStopping: loss was not better than [\d.]+ for 2 epochs$/);
});

test("callbacks see every step and may end the run", async () => {
  const seen: string[] = [];
  const spy: train.Callback = {
    name: "spy",
    onStart: () => void seen.push("start"),
    onStepEnd(run) {
      seen.push(`${run.epoch}.${run.batch}/${run.batches}`);
      if (run.step === 5) run.stop("enough");
    },
    onValidation: () => void seen.push("validation"),
    onEpochEnd: () => void seen.push("epoch"),
    onEnd: () => void seen.push("end"),
  };
  const loader = new data.DataLoader(points(12), { batch: 4 });
  const history = await train.fit(classifier(), loader, {
    ...quiet,
    validation: loader,
    epochs: 9,
    callbacks: [spy],
  });
  assert.equal(seen, "start 1.1/3 1.2/3 1.3/3 validation epoch 2.1/3 2.2/3 end".split(" "));
  assert.is(history.stopped, "enough");
});

test("the rate finder finds a rate that learns, and leaves model and loader as they were", async () => {
  const net = classifier();
  const before = await valuesOf(net);
  const loader = new data.DataLoader(points(60), { batch: 12, shuffle: true });
  const { lr, points: curve } = await train.findLearningRate(net, loader, {
    loss: nn.crossEntropy,
    optimizer: (params, rate) => new optim.SGD(params, { lr: rate }),
    from: 1e-4,
    to: 100,
    steps: 60,
  });
  assert.equal(await valuesOf(net), before);
  assert.equal(loader.state(), { epoch: 0, batch: 0, length: 5 });
  assert.ok(lr > 1e-3 && lr < 10, `${lr}`);
  assert.is(curve[0]!.lr, 1e-4);
});

test("Keras's face learns XOR from lists", async () => {
  nn.seed(3);
  const model = new train.Sequential(
    new nn.Input([2]),
    new nn.Dense(8, { activation: "tanh" }),
    new nn.Dense(1, { activation: "sigmoid" }),
  );
  model.compile({
    optimizer: (params) => new optim.Adam(params, { lr: 0.1 }),
    loss: "binary_crossentropy",
    metrics: ["accuracy"],
  });
  const x = [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ];
  const y = [[0], [1], [1], [0]];
  const history = await model.fit(x, y, { epochs: 100, verbose: 0 });
  assert.is(history.values("accuracy").at(-1), 1);
  assert.is((await model.evaluate(x, y)).accuracy, 1);
  const { data: p, shape } = await model.predict(x);
  assert.equal(shape, [4, 1]);
  assert.equal([...p].map(Math.round), [0, 1, 1, 0]);
  const said: string[] = [];
  model.summary((text) => said.push(text));
  assert.match(said[0]!, /total 33 parameters$/);
});

test("Keras's face runs where its backend says, at construction or later", async () => {
  const layers = () => [new nn.Input([2]), new nn.Dense(1)];
  const plain = new train.Sequential(layers(), {});
  assert.is(plain.backend, undefined);
  const model = new train.Sequential(layers(), { backend: "js" });
  assert.is(model.layers.length, 1);
  model.compile({ optimizer: "sgd", loss: "mse" });
  const [x, y] = [[[1, 2]], [[3]]];
  const where: unknown[] = [];
  for (const name of ["js", "wasm"] as const) {
    model.backend = name;
    await model.fit(x, y, { epochs: 2, verbose: 0 });
    await model.evaluate(x, y);
    await model.predict(x);
    where.push(homeOf(model.parameters())?.target);
  }
  assert.equal(where, ["js", "wasm"]);
  let message = "";
  try {
    model.backend = "cuda" as never;
  } catch (error) {
    message = (error as Error).message;
  }
  assert.is(
    message,
    'sequential: there is no backend "cuda"\n  it is one of auto, js, wasm, native, webgpu',
  );
});

test("Lightning's face runs the steps of a module", async () => {
  class Lit extends train.TrainingModule {
    net = classifier();
    override forward(x: Tensor): Tensor {
      return this.net.forward(x);
    }
    override trainingStep(x: Tensor, y: Tensor) {
      const output = this.forward(x);
      return { loss: nn.crossEntropy(output, y), output, target: y };
    }
    override configureOptimizers() {
      return new optim.Adam(this.parameters(), { lr: 0.05 });
    }
  }
  const loader = new data.DataLoader(points(60), { batch: 12, shuffle: true });
  const module = new Lit();
  const trainer = new train.Trainer({
    maxEpochs: 12,
    metrics: [metrics.accuracy()],
    renderer: false,
  });
  const history = await trainer.fit(module, loader, loader);
  assert.ok(history.values("val.accuracy").at(-1)! > 0.9);
  assert.is(
    (await trainer.validate(module, loader)).accuracy,
    history.values("val.accuracy").at(-1),
  );
});

test.run();
