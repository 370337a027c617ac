/**
 * EEGNet on signals of subjects that it has never seen: 8 channels of 1 second, in which a hand is imagined to move, left or right. The
 * recordings are made up, as mu rhythms of 10 Hz or so that weaken over one side of the head, in noise; each subject has a rhythm, an
 * attenuation and a noise of his own. The split is by subject, not by trial: that is what a new user would meet.
 *
 *     node examples/eegnet.ts [--epochs 20] [--quick]
 *
 * Lawhern et al. 2018, table 2: F1 = 8, D = 2, F2 = 16.
 */
import { parseArgs } from "node:util";
import { data, nn, optim, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { normalNumbers, quick, randomNumbers } from "./data.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "10" : "20" } },
  strict: false,
});
const [channels, samples, rate] = [8, 128, 128];
const [subjects, trials] = quick ? [6, 60] : [12, 120];

/** Trials of one subject: f32[trials, 1, channels, samples], and 0 for left, 1 for right. */
function recordings(subject: number): [Float32Array, Int32Array] {
  const [draw, normal] = [randomNumbers(subject + 1), normalNumbers(1000 + subject)];
  const [mu, strength] = [9 + 3 * draw(), 1.5 + draw()];
  const signals = new Float32Array(trials * channels * samples);
  const sides = Int32Array.from({ length: trials }, (_, i) => i % 2);
  for (let i = 0; i < trials; i++)
    for (let c = 0; c < channels; c++) {
      // Channels 0 to 3 lie over the left half, which rests unless the right hand is imagined.
      const amplitude = strength * (Number(c < 4) === sides[i] ? 0.3 : 1);
      const phase = 2 * Math.PI * draw();
      for (let t = 0; t < samples; t++)
        signals[(i * channels + c) * samples + t] =
          amplitude * Math.sin((2 * Math.PI * mu * t) / rate + phase) + normal();
    }
  return [signals, sides];
}

function setOf(chosen: readonly number[]) {
  const parts = chosen.map(recordings);
  const join = <A extends Float32Array | Int32Array>(arrays: A[], all: A): A => {
    let at = 0;
    for (const a of arrays) {
      all.set(a, at);
      at += a.length;
    }
    return all;
  };
  const count = trials * chosen.length;
  return data.fromArrays(
    [
      join(
        parts.map(([x]) => x),
        new Float32Array(count * channels * samples),
      ),
      join(
        parts.map(([, y]) => y),
        new Int32Array(count),
      ),
    ] as const,
    [[1, channels, samples], []],
  );
}

/** x: f32[N, 1, channels, samples] → scores f32[N, 2]. */
class EegNet extends nn.Module {
  // Filters in time, then one mixture of channels for each, then filters that are thin in time.
  temporal = new nn.Conv2d(1, 8, [1, 64], { padding: "same", bias: false });
  temporalNorm = new nn.BatchNorm2d(8);
  spatial = new nn.Conv2d(8, 16, [channels, 1], { groups: 8, bias: false });
  spatialNorm = new nn.BatchNorm2d(16);
  depthwise = new nn.Conv2d(16, 16, [1, 16], { groups: 16, padding: "same", bias: false });
  pointwise = new nn.Conv2d(16, 16, 1, { bias: false });
  separableNorm = new nn.BatchNorm2d(16);
  // Across subjects a quarter is dropped, within one a half.
  drop = new nn.Dropout(0.25);
  scores = new nn.Linear(16 * (samples / 32), 2);

  override forward(x: Tensor): Tensor {
    const inTime = this.temporalNorm.forward(this.temporal.forward(x));
    const inSpace = this.spatialNorm.forward(this.spatial.forward(inTime)).elu();
    const slow = this.drop.forward(pool(inSpace, 4));
    const separable = this.pointwise.forward(this.depthwise.forward(slow));
    const last = this.drop.forward(pool(this.separableNorm.forward(separable).elu(), 8));
    return this.scores.forward(last.reshape([-1, 16 * (samples / 32)]));
  }
}

/** Means over `by` samples. */
const pool = (x: Tensor, by: number): Tensor => new nn.AvgPool2d([1, by]).forward(x);

const all = Array.from({ length: subjects }, (_, i) => i);
const held = quick ? 2 : 4;
const [learn, unseen] = [setOf(all.slice(held)), setOf(all.slice(0, held))];

nn.seed(1);
const net = new EegNet();
const { metrics } = train;
await train.fit(net, new data.DataLoader(learn, { batch: 16, shuffle: true, seed: 1 }), {
  optimizer: (params) => new optim.Adam(params, { lr: 2e-3 }),
  loss: nn.crossEntropy,
  metrics: [metrics.accuracy()],
  epochs: Number(values.epochs),
});
const logs = await train.evaluate(net, new data.DataLoader(unseen, { batch: 60 }), {
  loss: nn.crossEntropy,
  metrics: [metrics.accuracy()],
});
console.log(`accuracy on ${held} unseen subjects ${Number(logs.accuracy).toFixed(3)}`);
