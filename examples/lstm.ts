/**
 * A recurrent network that looks ahead: an LSTM of two layers with a norm, on sunspots of 230 years by month, twelve months at a time. The
 * forecast is held against that nothing changes, and against last year's.
 *
 *     node examples/lstm.ts [--epochs 20] [--quick]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readCsvFile } from "@kiln-ml/data/node";
import { data, nn, optim, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { archive, normalNumbers, quick } from "./data.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "6" : "20" } },
  strict: false,
});
const [past, ahead] = [quick ? 24 : 72, 12];

const folder = archive("tabular-timeseries");
const series = folder
  ? (await readCsvFile(join(folder, "jbrownlee+Datasets/monthly-sunspots.csv"))).numbers(1)
  : waves();

// The last fifth is not seen; scales are those of what is.
const border = Math.floor(0.8 * series.length);
const known = series.subarray(0, border);
const mean = known.reduce((a, b) => a + b) / known.length;
const deviation = Math.sqrt(known.reduce((s, v) => s + (v - mean) ** 2, 0) / known.length);
const scaled = series.map((v) => (v - mean) / deviation);

function windows(from: number, to: number) {
  const count = to - from - past - ahead + 1;
  const [x, y] = [new Float32Array(count * past), new Float32Array(count * ahead)];
  for (let i = 0; i < count; i++) {
    x.set(scaled.subarray(from + i, from + i + past), i * past);
    y.set(scaled.subarray(from + i + past, from + i + past + ahead), i * ahead);
  }
  return data.fromArrays([x, y] as const, [[past, 1], [ahead]]);
}

class Forecast extends nn.Module {
  lstm = new nn.LSTM(1, 32, { layers: 2 });
  norm = new nn.LayerNorm(32);
  ahead = new nn.Linear(32, ahead);

  /** x: f32[N, past, 1] → f32[N, ahead], as a change from the last month. */
  override forward(x: Tensor): Tensor {
    const { y } = this.lstm.forward(x);
    return this.ahead.forward(this.norm.forward(y.take(-1, 1))).add(x.take(-1, 1));
  }
}

nn.seed(1);
const net = new Forecast();
await train.fit(
  net,
  new data.DataLoader(windows(0, border), { batch: 32, shuffle: true, seed: 1 }),
  {
    optimizer: (params) => new optim.AdamW(params, { lr: 2e-3, clipNorm: 1 }),
    loss: nn.mse,
    epochs: Number(values.epochs),
  },
);
const test = windows(border - past, series.length);
const loader = new data.DataLoader(test, { batch: 64 });
const { loss } = await train.evaluate(net, loader, { loss: nn.mse });

/** The mean square of the guess that month t is as month t − `lag`. */
function naive(lag: (step: number) => number): number {
  let [sum, count] = [0, 0];
  for (let i = border; i + ahead <= series.length; i++)
    for (let k = 0; k < ahead; k++) {
      sum += (scaled[i + k]! - scaled[i + k - lag(k)]!) ** 2;
      count++;
    }
  return Math.sqrt(sum / count);
}
const error = Math.sqrt(Number(loss));
console.log(
  `as the last month ${naive((k) => k + 1).toFixed(3)}, as a year before ${naive(() => 12).toFixed(3)}`,
);
console.log(`test error ${error.toFixed(3)}, in deviations of the series`);

/** Two waves and noise. */
function waves(): Float32Array {
  const normal = normalNumbers(1);
  return Float32Array.from(
    { length: 600 },
    (_, t) => 50 + 30 * Math.sin(t / 6) + 10 * Math.sin(t / 2.3) + 3 * normal(),
  );
}
