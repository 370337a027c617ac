/**
 * A function with a backward pass of one's own: rounding to a few levels, whose true slope is 0 everywhere, lets gradients through as if it
 * were not there. So a network is trained whose weights are -1, 0 or 1; forward, backward and rounding are still one program.
 *
 *     node examples/custom-gradient.ts [--quick]
 *
 * Bengio, Léonard & Courville 2013, the straight-through estimator.
 */
import { compile, customVjp, data, nn, optim, type Tensor } from "kiln-ml";
import { digits, quick } from "./data.ts";

/** -1, 0 or 1 times the mean size of a weight; its gradient is that of the identity. */
const ternary = customVjp(
  (w: Tensor) => {
    const scale = w.abs().mean();
    return w.div(scale).round().clamp(-1, 1).mul(scale);
  },
  ([cotangent]) => [cotangent!],
);

class Coarse extends nn.Module {
  first = new nn.Linear(784, 128);
  second = new nn.Linear(128, 10);
  override forward(x: Tensor): Tensor {
    const layer = (y: Tensor, { weight, bias }: nn.Linear) =>
      y.matmul(ternary(weight).transpose()).add(bias!);
    return layer(layer(x, this.first).relu(), this.second);
  }
}

nn.seed(1);
const net = new Coarse();
const adam = new optim.Adam(net.parameters(), { lr: 1e-3 });
const step = compile((x: Tensor, y: Tensor) => {
  const loss = nn.crossEntropy(net.forward(x), y);
  adam.step(loss);
  return loss;
});
const [learn, test] = data.split(await digits(), quick ? [0.3, 0.1] : [0.9, 0.1], 1);
const loader = new data.DataLoader(learn!, { batch: 64, shuffle: true, seed: 1 });
for (let epoch = 1; epoch <= (quick ? 2 : 10); epoch++) {
  let loss = Number.NaN;
  for await (const [x, y] of loader) loss = await (await step(x, y)).item();
  console.log(`epoch ${epoch}: loss ${loss.toFixed(3)}`);
}
const measure = compile((x: Tensor, y: Tensor) => nn.accuracy(net.forward(x), y));
let right = 0;
for await (const [x, y] of new data.DataLoader(test!, { batch: 100 }))
  right += y.length * (await (await measure(x, y)).item());
const levels = new Set(await ternary(net.first.weight).data()).size;
console.log(`test accuracy ${(right / test!.length).toFixed(3)} with weights of ${levels} values`);
