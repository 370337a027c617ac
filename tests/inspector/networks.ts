/** Programs to inspect: a small network with modules in modules, and one with about a thousand kernels. */
import { compile, nn, optim, type Tensor } from "kiln-ml";

/** A block of ResNet: two or three convolutions with norms, added to what came in. */
class Block extends nn.Module {
  conv1: nn.Conv2d;
  bn1: nn.BatchNorm2d;
  conv2: nn.Conv2d;
  bn2: nn.BatchNorm2d;
  conv3: nn.Conv2d;
  bn3: nn.BatchNorm2d;
  down: nn.Conv2d | undefined;
  constructor(channels: number, width: number, stride: number) {
    super();
    this.conv1 = new nn.Conv2d(channels, width, 1);
    this.bn1 = new nn.BatchNorm2d(width);
    this.conv2 = new nn.Conv2d(width, width, 3, { stride, padding: 1 });
    this.bn2 = new nn.BatchNorm2d(width);
    this.conv3 = new nn.Conv2d(width, 4 * width, 1);
    this.bn3 = new nn.BatchNorm2d(4 * width);
    if (stride !== 1 || channels !== 4 * width)
      this.down = new nn.Conv2d(channels, 4 * width, 1, { stride });
  }
  override forward(x: Tensor): Tensor {
    const y = this.bn1.forward(this.conv1.forward(x)).relu();
    const z = this.bn2.forward(this.conv2.forward(y)).relu();
    const short = this.down?.forward(x) ?? x;
    return this.bn3.forward(this.conv3.forward(z)).add(short).relu();
  }
}

/** ResNet of bottleneck blocks; [3, 4, 6, 3] is ResNet-50. */
export class ResNet extends nn.Module {
  stem: nn.Conv2d;
  stages: nn.Sequential;
  head: nn.Linear;
  constructor(depths: readonly number[], width = 64) {
    super();
    this.stem = new nn.Conv2d(3, width, 7, { stride: 2, padding: 3 });
    let channels = width;
    const blocks = depths.flatMap((depth, i) =>
      Array.from({ length: depth }, (_, j) => {
        const own = width * 2 ** i;
        const block = new Block(channels, own, i > 0 && j === 0 ? 2 : 1);
        channels = 4 * own;
        return block;
      }),
    );
    this.stages = new nn.Sequential(blocks);
    this.head = new nn.Linear(channels, 10);
  }
  override forward(x: Tensor): Tensor {
    const y = this.stages.forward(this.stem.forward(x).relu());
    return this.head.forward(y.mean([2, 3]));
  }
}

/** A training step: loss, gradients, updates. */
export function resnetStep(depths: readonly number[], width: number, target: "js" | "wasm") {
  const net = new ResNet(depths, width);
  const opt = new optim.SGD(net.parameters(), { lr: 0.1 });
  const step = (x: Tensor, y: Tensor): Tensor => {
    const loss = nn.crossEntropy(net.forward(x), y);
    opt.step(loss);
    return loss;
  };
  const inputs = [[2, 3, 32, 32], { shape: [2], dtype: "i32" }] as const;
  return compile(step, { inputs, target, name: "resnet" });
}
