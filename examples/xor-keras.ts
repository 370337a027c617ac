/**
 * Learns XOR with layers in a row, in the habit of Keras: each layer finds its input size from the one before it.
 */
import { compile, nn, optim, type Tensor } from "kiln-ml";

nn.seed(1);
const model = new nn.Sequential();
model.add(new nn.Input([2]));
model.add(new nn.Dense(8, { activation: "tanh" }));
model.add(new nn.Dense(1, { activation: "sigmoid" }));

const x = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
];
const y = [[0], [1], [1], [0]];

const adam = new optim.Adam(model.parameters(), { lr: 0.05 });
const train = compile((x: Tensor, y: Tensor) => {
  const loss = nn.bce(model.forward(x), y);
  adam.step(loss);
  return loss;
});
const predict = compile((x: Tensor) => model.forward(x));

for (let i = 0; i < 300; i++) await train(x, y);
const guesses = await (await predict(x)).data();
for (const [i, [a, b]] of x.entries()) console.log(`${a} xor ${b} = ${guesses[i]!.toFixed(3)}`);
