// Two networks play against each other: one paints discs and rings, the other tells them from real ones.
import { compile, full, nn, optim, random, type Tensor } from "kiln-ml";
import { plot, show } from "playground";

const [size, batch, noise] = [16, 64, 16];

/** Real pictures: a disc or a ring somewhere. */
function real(): { data: Float32Array; shape: number[] } {
  const data = new Float32Array(batch * size * size);
  for (let n = 0; n < batch; n++) {
    const [cx, cy] = [6 + 4 * Math.random(), 6 + 4 * Math.random()];
    const r = 2.5 + 2.5 * Math.random();
    const ring = Math.random() < 0.5;
    for (let i = 0; i < size * size; i++) {
      const d = Math.hypot((i % size) - cx, Math.floor(i / size) - cy);
      const inside = ring ? 1.6 - Math.abs(d - r) : r + 0.5 - d;
      data[n * size * size + i] = Math.min(1, Math.max(0, inside));
    }
  }
  return { data, shape: [batch, size * size] };
}

nn.seed(3);
const painter = new nn.Sequential(
  new nn.Linear(noise, 128),
  new nn.BatchNorm1d(128),
  new nn.ReLU(),
  new nn.Linear(128, 256),
  new nn.BatchNorm1d(256),
  new nn.ReLU(),
  new nn.Linear(256, size * size),
  new nn.Sigmoid(),
);
const judge = new nn.Sequential(
  new nn.Linear(size * size, 128),
  new nn.LeakyReLU(0.2),
  new nn.Linear(128, 64),
  new nn.LeakyReLU(0.2),
  new nn.Linear(64, 1),
);
const how: { lr: number; betas: [number, number] } = { lr: 1e-3, betas: [0.5, 0.999] };
const paints = new optim.Adam(painter.parameters(), how);
const judges = new optim.Adam(judge.parameters(), how);
const keys = new nn.KeyStream({ seed: 5 });

const loss = (x: Tensor, label: number) =>
  nn.bceWithLogits(judge.forward(x), full([batch, 1], label));

// Each side's pass, gradients and update are one program.
const judgeStep = compile((x: Tensor) => {
  const painted = painter.forward(random.normal(keys.next(), [batch, noise])).stopGradient();
  const y = loss(x, 0.9).add(loss(painted, 0));
  judges.step(y);
  return y;
});
const paintStep = compile(() => {
  const painted = painter.forward(random.normal(keys.next(), [batch, noise]));
  const y = loss(painted, 1);
  paints.step(y);
  return { y, painted: painted.reshape([batch, size, size]) };
});

await show("real", { ...real(), shape: [batch, size, size] });
for (let i = 1; i <= 1200; i++) {
  const judged = await judgeStep(real());
  const { y, painted } = await paintStep();
  if (i % 20 === 0) plot("judge", await judged.item());
  if (i % 20 === 0) plot("painter", await y.item());
  if (i % 60 === 0) await show("painted", painted);
}
