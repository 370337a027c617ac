/**
 * A training step of a ResNet on images of CIFAR's size, in a process of its own on one thread:
 * `resnet-step.ts resnet20|resnet18 BATCH`. Reads a number of steps a line, answers with a line of
 * JSON. `resnet.py` is the same in PyTorch.
 */
import { createInterface } from "node:readline";
import { compile, nn, optim, setThreads, type Tensor, tensor } from "kiln-ml";
import * as vision from "kiln-ml/vision";

const [name = "resnet20", count = "32"] = process.argv.slice(2);
const batch = Number(count);
setThreads(1);
nn.seed(1);

const conv = (inputs: number, outputs: number, stride: number, kernel = 3) =>
  new nn.Conv2d(inputs, outputs, kernel, { stride, padding: (kernel - 1) / 2, bias: false });

class Block extends nn.Module {
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly conv2: nn.Conv2d;
  readonly bn2: nn.BatchNorm2d;
  readonly down: nn.Sequential | undefined;

  constructor(inputs: number, width: number, stride: number) {
    super();
    this.conv1 = conv(inputs, width, stride);
    this.bn1 = new nn.BatchNorm2d(width);
    this.conv2 = conv(width, width, 1);
    this.bn2 = new nn.BatchNorm2d(width);
    if (stride > 1 || inputs !== width)
      this.down = new nn.Sequential(conv(inputs, width, stride, 1), new nn.BatchNorm2d(width));
  }

  override forward(x: Tensor): Tensor {
    const y = this.bn2.forward(this.conv2.forward(this.bn1.forward(this.conv1.forward(x)).relu()));
    return y.add(this.down?.forward(x) ?? x).relu();
  }
}

/** He et al. 2016, section 4.2: three stages of three blocks, 20 layers with weights. */
const resnet20 = () =>
  new nn.Sequential(
    conv(3, 16, 1),
    new nn.BatchNorm2d(16),
    new nn.ReLU(),
    ...[0, 1, 2].flatMap((stage) =>
      [0, 1, 2].map((i) => {
        const first = stage > 0 && i === 0;
        return new Block((first ? 8 : 16) << stage, 16 << stage, first ? 2 : 1);
      }),
    ),
    (x: Tensor) => x.mean([2, 3]),
    new nn.Linear(64, 10),
  );

const net = name === "resnet20" ? resnet20() : vision.resnet18({ classes: 10, smallImages: true });
const sgd = new optim.SGD(net.parameters(), { lr: 0.05, momentum: 0.9 });
const step = compile(
  (x: Tensor, y: Tensor) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    sgd.step(loss);
    return loss;
  },
  { target: "wasm" },
);
const images = tensor(
  Float32Array.from({ length: batch * 3 * 32 * 32 }, (_, i) => Math.sin(i * 1.7)),
  { shape: [batch, 3, 32, 32] },
);
const labels = tensor(
  Int32Array.from({ length: batch }, (_, i) => i % 10),
  { dtype: "i32" },
);

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

console.log(JSON.stringify({ about: "kiln" }));
for await (const line of createInterface({ input: process.stdin })) {
  const [steps, cpu, wall] = [Number(line), cpuMs(), performance.now()];
  let loss = Number.NaN;
  for (let i = 0; i < steps; i++) {
    const found = await step(images, labels);
    if (i === steps - 1) loss = await found.item();
  }
  const ms = { cpu: (cpuMs() - cpu) / steps, wall: (performance.now() - wall) / steps };
  console.log(JSON.stringify({ ...ms, loss }));
}
process.exit(0);
