/** A convolutional network that PyTorch trained on MNIST is rebuilt of our layers, and is as good here. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mnistFromIdx } from "@kiln-ml/data";
import { compile, loadWeights, nn, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataFolder, dataTest } from "../support/data.ts";

class Digits extends nn.Module {
  conv1 = new nn.Conv2d(1, 8, 3);
  conv2 = new nn.Conv2d(8, 16, 3);
  conv3 = new nn.Conv2d(16, 24, 3);
  norm1 = new nn.BatchNorm2d(24);
  fc1 = new nn.Linear(24 * 22 * 22, 32);
  fc2 = new nn.Linear(32, 10);
  norm2 = new nn.BatchNorm1d(10);

  override forward(x: Tensor): Tensor {
    const y = this.conv2.forward(this.conv1.forward(x).relu()).relu();
    const z = this.norm1.forward(this.conv3.forward(y).relu());
    const h = this.fc1.forward(z.reshape([-1, 24 * 22 * 22])).relu();
    return this.norm2.forward(this.fc2.forward(h));
  }
}

const models = "mnist-models-and-pt-safetensors";
/** Of the test set. With PyTorch the network of the `.pt` has 991 of them right, that of the safetensors file 990. */
const count = 1000;
const batch = 100;

/** Mean and standard deviation of MNIST's pixels, by which the network was trained. */
const normal = (x: Tensor): Tensor => x.sub(0.1307).div(0.3081).reshape([batch, 1, 28, 28]);

async function testDigits(folder: string) {
  const read = (name: string) => readFileSync(join(folder, name));
  const set = await mnistFromIdx(
    read("t10k-images-idx3-ubyte.gz"),
    read("t10k-labels-idx1-ubyte.gz"),
  );
  const [images, labels] = await set.gather(Array.from({ length: count }, (_, i) => i));
  return { images, labels };
}

/** How many of the digits the network of a file has right. */
async function rightOnes(file: Uint8Array, folder: string, names?: "pytorch"): Promise<number> {
  const net = new Digits().eval();
  const report = await loadWeights(net, file, names ? { names } : {});
  assert.is(report.applied.length, 18);
  const classes = compile((x: Tensor) => net.forward(normal(x)).argMax(-1));
  const { images, labels } = await testDigits(folder);
  let right = 0;
  for (let at = 0; at < count; at += batch) {
    const part = images.subarray(at * 784, (at + batch) * 784);
    const found = await (await classes({ data: part, shape: [batch, 784] })).data();
    for (let i = 0; i < batch; i++) if (found[i] === labels[at + i]) right++;
  }
  return right;
}

dataTest(
  "the trained MNIST network has as many digits right as in PyTorch",
  models,
  async (folder) => {
    const digits = dataFolder("mnist-full") ?? assert.unreachable("no digits");
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const read = (end: string) => readFileSync(join(folder, paths.find((p) => p.endsWith(end))!));
    assert.is(await rightOnes(read("weights/mnist.pt"), digits as string), 991);
    assert.is(await rightOnes(read("weights/mnist.safetensors"), digits as string, "pytorch"), 990);
  },
);

test.run();
