/**
 * Fits y = 2·x + 1 to four points by gradient descent.
 */
import { compile, nn, optim, type Tensor } from "kiln-ml";

const line = new nn.Linear(1, 1);
const sgd = new optim.SGD(line.parameters(), { lr: 0.1 });
const step = compile((x: Tensor, y: Tensor) => {
  const loss = nn.mse(line.forward(x), y);
  sgd.step(loss);
  return loss;
});

for (let i = 0; i < 200; i++) await step([[-1], [0], [1], [2]], [[-1], [1], [3], [5]]);
const { weight, bias } = line;
console.log(`y = ${(await weight.item()).toFixed(3)}·x + ${(await bias!.item()).toFixed(3)}`);
