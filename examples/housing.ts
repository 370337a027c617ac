/**
 * Prices of houses from a table: a CSV file with numbers, a column of words and cells that are missing, to a regression with a trainer. The
 * census of California 1990, 20,640 districts.
 *
 *     node examples/housing.ts [--epochs 30] [--quick]
 *
 * Pace & Barry 1997. Prices are in units of $100,000.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readCsvFile } from "@kiln-ml/data/node";
import { data, nn, optim } from "kiln-ml";
import * as train from "kiln-ml/train";
import { archive, normalNumbers, quick } from "./data.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "8" : "30" } },
  strict: false,
});

const folder = archive("tabular-timeseries");
const table = folder
  ? await readCsvFile(join(folder, "ageron+data/housing/housing.csv"))
  : await data.readCsv(madeUp(), { name: "made up" });

const price = "median_house_value";
const place = "ocean_proximity";
const numbers = table.names.filter((name) => name !== price && name !== place);
const inputs = table.numbers(numbers, "NaN");
const { labels, classes } = table.classes(place);
const prices = table.numbers(price).map((p) => p / 100_000);

/** Each column by its median where a cell is missing, then at mean 0 and deviation 1. */
const columns = numbers.map((_, c) => {
  const column = Array.from(
    { length: table.length },
    (_, row) => inputs[row * numbers.length + c]!,
  );
  const known = column.filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
  const full = column.map((v) => (Number.isNaN(v) ? known[known.length >> 1]! : v));
  const mean = full.reduce((a, b) => a + b) / full.length;
  const deviation = Math.sqrt(full.reduce((s, v) => s + (v - mean) ** 2, 0) / full.length);
  return full.map((v) => (v - mean) / deviation);
});
const width = numbers.length + classes.length;
const rows = new Float32Array(table.length * width);
for (let row = 0; row < table.length; row++) {
  for (const [c, column] of columns.entries()) rows[row * width + c] = column[row]!;
  rows[row * width + numbers.length + labels[row]!] = 1;
}

const set = data.fromArrays([rows, prices] as const, [[width], []]);
const [learn, check, test] = data.split(set, [0.8, 0.1, 0.1], 1);

nn.seed(1);
const net = new nn.Sequential(
  new nn.Linear(width, 128),
  new nn.ReLU(),
  new nn.Linear(128, 64),
  new nn.ReLU(),
  new nn.Linear(64, 1),
  (x) => x.squeeze(-1),
);
const loader = new data.DataLoader(learn!, { batch: 64, shuffle: true, seed: 1 });
const epochs = Number(values.epochs);
await train.fit(net, loader, {
  optimizer: (params) =>
    new optim.AdamW(params, { lr: optim.schedule.cosine(3e-3, epochs * loader.length) }),
  loss: nn.huber,
  metrics: [train.metrics.mae()],
  validation: new data.DataLoader(check!, { batch: 256 }),
  epochs,
  callbacks: [train.earlyStopping({ monitor: "val.mae", patience: 8 })],
});
const logs = await train.evaluate(net, new data.DataLoader(test!, { batch: 256 }), {
  loss: nn.mse,
  metrics: [train.metrics.r2()],
});
const [r2, rmse] = [Number(logs.r2), Math.sqrt(Number(logs.loss))];
console.log(`test R² ${r2.toFixed(3)}, error ${rmse.toFixed(3)} × $100,000`);

/** Districts whose prices follow income and place, with some cells empty. */
function madeUp(): string {
  const normal = normalNumbers(1);
  const lines = Array.from({ length: 1500 }, (_, i) => {
    const [income, age] = [3 + normal(), 30 + 10 * normal()];
    const near = i % 3 === 0;
    const value = 100_000 * (0.5 * income + (near ? 1 : 0) + 0.1 * normal());
    return [
      i % 50 === 7 ? "" : age.toFixed(1),
      income.toFixed(3),
      value.toFixed(0),
      near ? "NEAR BAY" : "INLAND",
    ].join();
  });
  return ["housing_median_age,median_income,median_house_value,ocean_proximity", ...lines].join(
    "\n",
  );
}
