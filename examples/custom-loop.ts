/**
 * The loop by hand, where `fit` is too much: a step that clips, measures and moves the weights in one program, an evaluation that shares
 * them, and a checkpoint whenever the test is better. Nothing here is of `kiln-ml/train`.
 *
 *     node examples/custom-loop.ts [--quick]
 */
import { join } from "node:path";
import { compile, data, nn, optim, type Tensor } from "kiln-ml";
import { load, save } from "kiln-ml/node";
import { digits, quick } from "./data.ts";
import { outputs } from "./pictures.ts";

nn.seed(1);
const net = new nn.Sequential(
  new nn.Linear(784, 128),
  new nn.ReLU(),
  new nn.Dropout(0.2),
  new nn.Linear(128, 10),
);
const opt = new optim.AdamW(net.parameters(), { lr: 2e-3, clipNorm: 1 });

const [learn, test] = data.split(await digits(), quick ? [0.2, 0.1] : [0.9, 0.1], 1);
const loader = new data.DataLoader(learn!, { batch: 64, shuffle: true, seed: 1 });

// What the function does to parameters and optimizer happens at each call; what it returns stays on the device until it is read.
const step = compile((x: Tensor, y: Tensor) => {
  const scores = net.forward(x);
  const loss = nn.crossEntropy(scores, y);
  opt.step(loss);
  return { loss, accuracy: nn.accuracy(scores, y) };
});
const evaluate = compile((x: Tensor, y: Tensor) => nn.accuracy(net.forward(x), y));

const path = join(outputs, "best.safetensors");
let best = 0;
for (let epoch = 1; epoch <= (quick ? 3 : 10); epoch++) {
  net.train();
  let last: Awaited<ReturnType<typeof step>> | undefined;
  for await (const [x, y] of loader) last = await step(x, y);
  // Read once an epoch: a read at each step would make the loop wait for the device.
  const [loss, train] = [await last!.loss.item(), await last!.accuracy.item()];

  net.eval();
  let right = 0;
  for await (const [x, y] of new data.DataLoader(test!, { batch: 250 }))
    right += y.length * (await (await evaluate(x, y)).item());
  const accuracy = right / test!.length;
  console.log(
    `epoch ${epoch}: loss ${loss.toFixed(3)}, last batch ${train.toFixed(2)}, test ${accuracy.toFixed(3)}`,
  );
  if (accuracy > best) {
    best = accuracy;
    await save(path, { net, opt });
  }
}
await load(path, { net, opt });
console.log(`test accuracy ${best.toFixed(3)}, of the best epoch`);
