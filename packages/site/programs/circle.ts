// Points of a square, told apart by whether they lie in a ring: a network learns its edge.
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { plot, show } from "playground";

nn.seed(1);
const net = new nn.Sequential(
  new nn.Linear(2, 32),
  new nn.Tanh(),
  new nn.Linear(32, 32),
  new nn.Tanh(),
  new nn.Linear(32, 1),
);
const opt = new optim.Adam(net.parameters(), { lr: 0.01 });

// Forward pass, gradients and Adam's update are one program.
const step = compile((x: Tensor, y: Tensor) => {
  const loss = nn.bceWithLogits(net.forward(x), y);
  opt.step(loss);
  return loss;
});
const look = compile((x: Tensor) => net.forward(x).sigmoid().reshape([96, 96]));

const points = (n: number) =>
  Array.from({ length: n }, () => [2 * Math.random() - 1, 2 * Math.random() - 1]);
const inRing = ([x, y]: number[]) => {
  const r = Math.hypot(x!, y!);
  return [Number(r > 0.35 && r < 0.8)];
};
const pixels = Array.from({ length: 96 * 96 }, (_, i) => [
  (i % 96) / 48 - 1,
  Math.floor(i / 96) / 48 - 1,
]);

for (let i = 0; i <= 400; i++) {
  const x = points(256);
  const loss = await step(x, x.map(inRing));
  if (i % 10 === 0) plot("loss", await loss.item());
  if (i % 50 === 0) await show("where it says ring", await look(pixels));
}
console.log("one step is one program: see its kernels beside");
