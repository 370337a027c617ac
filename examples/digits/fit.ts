/**
 * Handwritten digits with a trainer that has everything: metrics, validation, checkpoints, early stopping, TensorBoard, a report.
 * Ctrl-C saves and stops; the same command goes on from there, to the bit.
 *
 *     node examples/digits/fit.ts [--samples 10000] [--epochs 5] [--out runs/digits]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { data, nn, optim, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";

const { metrics } = train;
const { values } = parseArgs({
  options: {
    samples: { type: "string", default: "10000" },
    epochs: { type: "string", default: "5" },
    out: { type: "string", default: "runs/digits" },
  },
});
const [samples, epochs] = [Number(values.samples), Number(values.epochs)];

/** Two convolutions and a linear layer: x f32[N,784] → scores f32[N,10]. */
class Net extends nn.Module {
  conv1 = new nn.Conv2d(1, 8, 3);
  conv2 = new nn.Conv2d(8, 16, 3);
  pool = new nn.MaxPool2d(2);
  flatten = new nn.Flatten();
  dropout = new nn.Dropout(0.1);
  linear = new nn.Linear(16 * 5 * 5, 10);

  override forward(x: Tensor): Tensor {
    const images = x.sub(0.1307).div(0.3081).reshape([-1, 1, 28, 28]);
    const low = this.pool.forward(this.conv1.forward(images).relu());
    const high = this.pool.forward(this.conv2.forward(low).relu());
    return this.linear.forward(this.dropout.forward(this.flatten.forward(high)));
  }
}

nn.seed(1);
const folder = new URL("src/digits", import.meta.resolve("mnist/package.json"));
const digits = await data.mnistFromDigits(folder);
const share = samples / digits.length;
const [learn, check, test] = data.split(digits, [0.8 * share, 0.1 * share, 0.1 * share], 1);

const net = new Net();
const loader = new data.DataLoader(learn!, { batch: 32, shuffle: true, seed: 1 });
const rate = optim.schedule.cosine(3e-3, epochs * loader.length, 1e-4);

const history = await train.fit(net, loader, {
  optimizer: (params) => new optim.AdamW(params, { lr: rate }),
  loss: nn.crossEntropy,
  metrics: [metrics.accuracy(), metrics.f1()],
  validation: new data.DataLoader(check!, { batch: 250 }),
  epochs,
  callbacks: [
    train.nanGuard(),
    train.earlyStopping({ patience: 3 }),
    train.checkpoint(values.out, { keep: 2, best: "val.accuracy", every: 100 }),
    train.tensorBoard(values.out),
    train.jsonLines(join(values.out, "log.jsonl")),
    train.report(join(values.out, "report.html")),
  ],
  resume: values.out,
});

if (history.interrupted) process.exitCode = 130;
else {
  const logs = await train.evaluate(net, new data.DataLoader(test!, { batch: 250 }), {
    loss: nn.crossEntropy,
    metrics: [metrics.accuracy(), metrics.topK(3)],
  });
  const percent = (x: train.Logs[string] | undefined) => `${(100 * Number(x)).toFixed(2)} %`;
  console.log(
    `test accuracy ${percent(logs.accuracy)}, among the first three ${percent(logs.top3)}`,
  );
}
