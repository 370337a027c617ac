/**
 * Weights that PyTorch trained, from its own file and from safetensors: a network for digits of three convolutions with norms. Names are
 * brought to those of our layers, the report says what was used, and the network is tested on digits. With `--quick`, or without
 * those files, one of the same form is made first: trained here for a moment, with PyTorch's names.
 *
 *     node examples/import-weights.ts [--quick]
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSafetensors, remapTensors, writeSafetensors } from "@kiln-ml/formats";
import { compile, data, loadWeights, nn, optim, stateBytes, type Tensor } from "kiln-ml";
import { archive, digits } from "./data.ts";

/** The fields have the names of the file: conv1, norm1, …, so that only running statistics are called otherwise there. */
class Net extends nn.Module {
  conv1 = new nn.Conv2d(1, 8, 3);
  norm1 = new nn.BatchNorm2d(24);
  conv2 = new nn.Conv2d(8, 16, 3);
  conv3 = new nn.Conv2d(16, 24, 3);
  fc1 = new nn.Linear(24 * 22 * 22, 32);
  fc2 = new nn.Linear(32, 10);
  norm2 = new nn.BatchNorm1d(10);

  override forward(x: Tensor): Tensor {
    const first = this.conv1.forward(x).relu();
    const second = this.conv2.forward(first).relu();
    const third = this.norm1.forward(this.conv3.forward(second).relu());
    return this.norm2.forward(
      this.fc2.forward(this.fc1.forward(third.reshape([-1, 24 * 22 * 22])).relu()),
    );
  }
}

const scaled = (x: Tensor): Tensor => x.sub(0.1307).div(0.3081).reshape([-1, 1, 28, 28]);
const all = await digits();
const [test, few] = data.split(all, [0.1, 0.1], 1);

const folder = archive("mnist-models-and-pt-safetensors");
const weights = folder && join(folder, "tracel-ai+burn/examples/import-model-weights/weights");
const files = weights
  ? ["mnist.pt", "mnist.safetensors"].map(
      (name) => [name, readFileSync(join(weights, name))] as const,
    )
  : [["made.safetensors", await made()] as const];

for (const [name, bytes] of files) {
  // Its own first values would be overwritten: none are drawn.
  const net = nn.skipInit(() => new Net());
  const { applied } = await loadWeights(net, bytes, { names: "pytorch" });
  net.eval();
  const measure = compile((x: Tensor, y: Tensor) => nn.accuracy(net.forward(scaled(x)), y));
  let right = 0;
  for await (const [x, y] of new data.DataLoader(test!, { batch: 100 }))
    right += y.length * (await (await measure(x, y)).item());
  console.log(
    `${name}: ${applied.length} tensors, test accuracy ${(right / test!.length).toFixed(3)}`,
  );
}

/** A file as PyTorch users have it, of a network that has seen some digits. */
async function made(): Promise<Uint8Array> {
  nn.seed(1);
  const net = new Net();
  const adam = new optim.AdamW(net.parameters(), { lr: 2e-3 });
  const step = compile((x: Tensor, y: Tensor) =>
    adam.step(nn.crossEntropy(net.forward(scaled(x)), y)),
  );
  const loader = new data.DataLoader(few!, { batch: 50, shuffle: true, seed: 1 });
  for (let epoch = 0; epoch < 4; epoch++) for await (const [x, y] of loader) await step(x, y);
  const { tensors } = readSafetensors(await stateBytes(net));
  const theirs = remapTensors(tensors, [
    [/runningMean$/, "running_mean"],
    [/runningVar$/, "running_var"],
  ]);
  return writeSafetensors(theirs);
}
