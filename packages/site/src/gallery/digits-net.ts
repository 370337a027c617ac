/** The network of the digits page and its training step. */
import { compile, nn, optim, type Tensor } from "kiln-ml";

/** Two convolutions and a linear layer: x f32[N,784] from 0 to 1 → scores f32[N,10]. */
class Digits extends nn.Module {
  conv1 = new nn.Conv2d(1, 8, 3, { padding: 1 });
  conv2 = new nn.Conv2d(8, 16, 3, { padding: 1 });
  pool = new nn.MaxPool2d(2);
  linear = new nn.Linear(16 * 7 * 7, 10);

  override forward(x: Tensor): Tensor {
    const images = x.sub(0.1307).div(0.3081).reshape([-1, 1, 28, 28]);
    const low = this.pool.forward(this.conv1.forward(images).relu());
    const high = this.pool.forward(this.conv2.forward(low).relu());
    return this.linear.forward(high.flatten(1));
  }
}

export function digitsNet(steps: number) {
  nn.seed(1);
  const net = new Digits();
  const opt = new optim.AdamW(net.parameters(), { lr: optim.schedule.cosine(4e-3, steps, 1e-4) });
  const step = compile(
    function step(x: Tensor, y: Tensor) {
      const loss = nn.crossEntropy(net.forward(x), y);
      opt.step(loss);
      return loss;
    },
    { name: "step" },
  );
  const classify = compile((x: Tensor) => net.forward(x).softmax(-1), { name: "classify" });
  return { step, classify };
}
