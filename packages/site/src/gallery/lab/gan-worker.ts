/**
 * Two networks play against each other: one paints discs and rings, the other tells them from real
 * ones.
 */
import { compile, full, nn, optim, random, type Tensor } from "kiln-ml";
import { serveLab } from "./serve.ts";
import { type Painted, paintedGrid, paintedSide } from "./views.ts";

const [size, batch, noise] = [paintedSide, 64, 16];

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

const layer = (from: number, to: number) => [
  new nn.Linear(from, to),
  new nn.BatchNorm1d(to),
  new nn.ReLU(),
];

function networks() {
  nn.seed(3);
  const painter = new nn.Sequential(
    ...layer(noise, 128),
    ...layer(128, 256),
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
  return { painter, judge };
}

/** Each side's pass, gradients and update are one program. */
function programs() {
  const { painter, judge } = networks();
  const how: { lr: number; betas: [number, number] } = { lr: 1e-3, betas: [0.5, 0.999] };
  const paints = new optim.Adam(painter.parameters(), how);
  const judges = new optim.Adam(judge.parameters(), how);
  const keys = new nn.KeyStream({ seed: 5 });
  const loss = (x: Tensor, label: number) =>
    nn.bceWithLogits(judge.forward(x), full([batch, 1], label));
  const paint = () => painter.forward(random.normal(keys.next(), [batch, noise]));
  const judgeStep = compile(
    (x: Tensor) => {
      const y = loss(x, 0.9).add(loss(paint().stopGradient(), 0));
      judges.step(y);
      return y;
    },
    { name: "judge step" },
  );
  const paintStep = compile(
    () => {
      const y = loss(paint(), 1);
      paints.step(y);
      return y;
    },
    { name: "painter step" },
  );
  const show = compile((z: Tensor) => painter.forward(z), { name: "paint" });
  return { judgeStep, paintStep, show };
}

/** From −1 to 1 in `noise` numbers, of a bell's shape. */
const normal = (): number =>
  Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());

serveLab<undefined, Painted, undefined, Painted>(1200, (_, steps) => {
  const { judgeStep, paintStep, show } = programs();
  const count = paintedGrid * paintedGrid;
  let z = Float32Array.from({ length: count * noise }, normal);
  const view = async (): Promise<Painted> => {
    const painted = await show({ data: z, shape: [count, noise] });
    return { painted: (await painted.data()) as Float32Array, real: real().data };
  };
  return {
    steps,
    every: 20,
    view,
    inspect: () => paintStep.inspect(),
    async step() {
      const judged = await judgeStep(real());
      const painted = await paintStep();
      return { judge: await judged.item(), painter: await painted.item() };
    },
    ask() {
      z = Float32Array.from({ length: count * noise }, normal);
      return view();
    },
  };
});
