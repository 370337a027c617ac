/**
 * A notebook as a script: editors that know `// %%` run it cell by cell, and `node
 * examples/notebook.ts` runs it whole. Nothing is compiled by hand in the first cells: a tensor is
 * computed when its value is asked for.
 */
import { compile, grad, nn, optim, type Tensor, tensor } from "kiln-ml";

// %% Tensors: shapes are known at once, values when somebody looks.
const x = tensor([
  [1, 2],
  [3, 4],
]);
console.log(`${x.shape} times its transpose:`, (await x.matmul(x.transpose()).data()).join(" "));

// %% Gradients are graph too, of any order.
const t = tensor(2);
const cube = t.mul(t).mul(t);
const [slope] = grad(cube, [t]);
console.log(`the slope of t³ at 2 is ${await slope!.item()}`);

// %% A line through points, by a step that is one program.
nn.seed(1);
const line = new nn.Linear(1, 1);
const adam = new optim.Adam(line.parameters(), { lr: 0.1 });
const step = compile((a: Tensor, b: Tensor) => {
  const loss = nn.mse(line.forward(a), b);
  adam.step(loss);
  return loss;
});
const points = Array.from({ length: 20 }, (_, i) => [i / 10 - 1]);
for (let i = 0; i < 300; i++)
  await step(
    points,
    points.map(([a]) => [3 * a! + 1]),
  );

// %% What it learnt.
const [weight, bias] = [await line.weight.item(), await line.bias!.item()];
console.log(`slope ${weight.toFixed(3)}, intercept ${bias.toFixed(3)}`);
