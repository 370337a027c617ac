/**
 * Trains a small convolutional network on MNIST, on wasm if not told otherwise, tests it, and writes it and its
 * training step as artifacts. Fails if it learns less than it should. Ctrl-C ends the training early and keeps what was learnt.
 */
import { mkdir } from "node:fs/promises";
import {
  compile,
  data,
  nn,
  optim,
  sessionFor,
  setDefaultTarget,
  setThreads,
  type Tensor,
} from "kiln-ml";
import { writeArtifact } from "kiln-ml/node";
import { writeCheck } from "./check.ts";
import { Interrupt } from "./interrupt.ts";
import { images, labels, loadDigits, Net } from "./net.ts";
import { options } from "./options.ts";
import { Progress } from "./progress.ts";

const { epochs, batch, lr, seed, samples, least, out, target, threads } = options;
setDefaultTarget(target);
setThreads(threads);
const interrupt = new Interrupt();

const { train, test } = await loadDigits(samples, seed);
const batches = new data.DataLoader(train, { batch, shuffle: true, seed });

nn.seed(seed);
const net = new Net();
const rate = optim.schedule.cosine(lr, epochs * batches.length, lr / 20);
const adam = new optim.Adam(net.parameters(), { lr: rate });

// Forward, backward, optimizer and accuracy are one program, compiled once for batches of every size.
const step = compile(
  (x: Tensor, y: Tensor) => {
    const scores = net.forward(x);
    const loss = nn.crossEntropy(scores, y);
    adam.step(loss);
    return { loss, accuracy: nn.accuracy(scores, y) };
  },
  { name: "mnistStep", inputs: [images, labels] },
);

const predict = compile(
  (x: Tensor) => {
    const scores = net.forward(x);
    return { scores, digits: scores.argMax(-1) };
  },
  { name: "mnist", inputs: [images] },
);

console.log(
  `training on ${train.length} digits, testing on ${test.length}, ${net.parameterCount} parameters`,
);
console.log(`target ${target}, device ${(await sessionFor(target)).device.name}`);
const progress = new Progress(epochs * train.length);

for (let epoch = 1; epoch <= epochs && !interrupt.asked; epoch++) {
  let [seen, lossSum, rightSum] = [0, 0, 0];
  const summary = () =>
    `epoch ${epoch}/${epochs}  loss ${(lossSum / seen).toFixed(4)}  accuracy ${((100 * rightSum) / seen).toFixed(1)} %`;
  for await (const [x, y] of batches) {
    const { loss, accuracy } = await step(x, y);
    seen += y.length;
    lossSum += y.length * (await loss.item());
    rightSum += y.length * (await accuracy.item());
    progress.add(y.length, summary());
    if (interrupt.asked) break;
  }
  progress.keep(summary());
}
if (interrupt.asked) console.log("interrupted: keeping what was learnt so far");

let right = 0;
for await (const [x, y] of new data.DataLoader(test, { batch: 256 })) {
  const { digits } = await predict(x);
  const guesses = await digits.data();
  right += y.filter((digit, i) => digit === guesses[i]).length;
}
const accuracy = right / test.length;
console.log(`test accuracy ${(100 * accuracy).toFixed(2)} %: ${right} of ${test.length} right`);

await mkdir(out, { recursive: true });
await writeArtifact(`${out}/mnist-infer.kiln`, await predict.artifact());
await writeArtifact(`${out}/mnist-step.kiln`, await step.artifact());
await writeCheck(`${out}/mnist-check.safetensors`, { train, test, predict, step });
console.log(`wrote ${out}/mnist-infer.kiln and ${out}/mnist-step.kiln`);

if (interrupt.asked) process.exitCode = 130;
else if (accuracy < least) {
  console.error(
    `mnist: test accuracy is ${accuracy}, must be ${least} or more\n  train longer: npm start -- --epochs ${epochs + 1}`,
  );
  process.exitCode = 1;
}
