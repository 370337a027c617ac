/**
 * Trains a small convolutional network on MNIST on the CPU, tests it, and writes it and its training step as artifacts.
 * Fails if it learns less than it should. Ctrl-C ends the training early and keeps what was learnt.
 *
 *   --epochs 2  --batch 64  --lr 0.002  --samples 10000  --least 0.96  --seed 1  --out out
 */
import { mkdir } from "node:fs/promises";
import { parseArgs } from "node:util";
import { compile, data, nn, optim, type Tensor } from "kiln-ml";
import { writeArtifact } from "kiln-ml/node";
import { writeCheck } from "./check.ts";
import { images, labels, loadDigits, Net } from "./net.ts";
import { Progress } from "./progress.ts";

const { values } = parseArgs({
  options: {
    epochs: { type: "string", default: "2" },
    batch: { type: "string", default: "64" },
    lr: { type: "string", default: "0.002" },
    samples: { type: "string", default: "10000" },
    least: { type: "string", default: "0.96" },
    seed: { type: "string", default: "1" },
    out: { type: "string", default: "out" },
  },
});
const epochs = Number(values.epochs);
const seed = Number(values.seed);

nn.seed(seed);
const { train, test } = await loadDigits(Number(values.samples), seed);
const batches = new data.DataLoader(train, { batch: Number(values.batch), shuffle: true, seed });

const net = new Net();
const adam = new optim.Adam(net.parameters(), { lr: Number(values.lr) });

// Forward, backward, optimizer and metrics are one program.
const step = compile(
  (x: Tensor, y: Tensor) => {
    const scores = net.forward(x);
    const loss = nn.crossEntropy(scores, y);
    adam.step(loss);
    return { loss, accuracy: nn.accuracy(scores, y) };
  },
  { name: "mnistStep", target: "js", inputs: [images, labels] },
);

const predict = compile(
  (x: Tensor) => {
    const scores = net.forward(x);
    return { scores, digits: scores.argMax(-1) };
  },
  { name: "mnist", target: "js", inputs: [images] },
);

let interrupted = false;
let interruptedAt = 0;
process.on("SIGINT", () => {
  // npm and the terminal may both deliver one Ctrl-C; a second one, later, ends the process at once.
  if (interrupted && performance.now() - interruptedAt > 1000) process.exit(130);
  if (!interrupted) interruptedAt = performance.now();
  interrupted = true;
});

console.log(
  `training on ${train.length} digits, testing on ${test.length}, ${net.parameterCount} parameters`,
);
const progress = new Progress(epochs * train.length);
for (let epoch = 1; epoch <= epochs && !interrupted; epoch++) {
  let seen = 0;
  let loss = 0;
  let accuracy = 0;
  const summary = () =>
    `epoch ${epoch}/${epochs}  loss ${(loss / seen).toFixed(4)}  accuracy ${((100 * accuracy) / seen).toFixed(1)} %`;
  for await (const [x, y] of batches) {
    if (interrupted) break;
    const result = await step(x, y);
    seen += y.length;
    loss += y.length * (await result.loss.item());
    accuracy += y.length * (await result.accuracy.item());
    progress.add(y.length, summary());
  }
  if (seen) progress.keep(`${summary()}  ${progress.rate.toFixed(0)} images/s`);
}
if (interrupted) console.log("interrupted: keeping what was learnt so far");

let right = 0;
for await (const [x, y] of new data.DataLoader(test, { batch: 256 })) {
  const digits = await (await predict(x)).digits.data();
  right += y.filter((digit, i) => digit === digits[i]).length;
}
const accuracy = right / test.length;
console.log(`test accuracy ${(100 * accuracy).toFixed(2)} % (${right} of ${test.length})`);

await mkdir(values.out, { recursive: true });
await writeArtifact(`${values.out}/mnist-infer.kiln`, await predict.artifact());
await writeArtifact(`${values.out}/mnist-step.kiln`, await step.artifact());
console.log(`wrote ${values.out}/mnist-infer.kiln and ${values.out}/mnist-step.kiln`);
await writeCheck(`${values.out}/mnist-check.safetensors`, { train, test, predict, step });

if (interrupted) process.exitCode = 130;
else if (accuracy < Number(values.least)) {
  console.error(
    `mnist: test accuracy ${accuracy} is below ${values.least}\n  train longer: npm start -- --epochs ${epochs + 1}`,
  );
  process.exitCode = 1;
}
