/**
 * A progress display of one's own in place of the trainer's: a callback with the four moments that a display needs. Others save, stop or log
 * in the same way; the loop knows none of them.
 *
 *     node examples/custom-renderer.ts [--quick]
 */
import { data, nn, optim } from "kiln-ml";
import * as train from "kiln-ml/train";
import { digits, quick } from "./data.ts";

/** A row of dots, one for each tenth of an epoch, and a table of what each measured. */
function dots(): train.Callback {
  let drawn = 0;
  return {
    name: "dots",
    onStart(run) {
      console.log(`${run.net.constructor.name}: ${run.epochs} epochs of ${run.batches} batches`);
      console.log(`epoch  ${run.names.map((name) => name.padStart(13)).join("")}`);
    },
    onStepEnd(run) {
      const due = Math.floor((10 * run.batch) / (run.batches ?? run.batch));
      process.stdout.write(".".repeat(Math.max(0, due - drawn)));
      drawn = due;
    },
    onEpochEnd(run) {
      drawn = 0;
      const { epoch, logs } = run.records.at(-1)!;
      const cells = run.names.map((name) => Number(logs[name]).toFixed(4).padStart(13));
      console.log(`\n${String(epoch).padEnd(7)}${cells.join("")}`);
    },
    onEnd(run, error) {
      if (error) console.log(`ended by an error at step ${run.step}`);
    },
  };
}

nn.seed(1);
const net = new nn.Sequential(new nn.Linear(784, 64), new nn.ReLU(), new nn.Linear(64, 10));
const [learn, check] = data.split(await digits(), quick ? [0.2, 0.05] : [0.9, 0.1], 1);
const history = await train.fit(
  net,
  new data.DataLoader(learn!, { batch: 50, shuffle: true, seed: 1 }),
  {
    optimizer: (params) => new optim.AdamW(params, { lr: 2e-3 }),
    loss: nn.crossEntropy,
    metrics: [train.metrics.accuracy()],
    validation: new data.DataLoader(check!, { batch: 250 }),
    epochs: quick ? 2 : 5,
    renderer: dots(),
  },
);
console.log(`validation accuracy ${history.values("val.accuracy").at(-1)!.toFixed(3)}`);
