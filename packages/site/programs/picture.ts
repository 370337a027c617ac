// A network learns a picture: from the place of a pixel, as waves, to its colour.
import { compile, concat, nn, optim, type Tensor } from "kiln-ml";
import { plot, show } from "playground";

const size = 64;
const colour = (x: number, y: number) => {
  const r = Math.hypot(x, y);
  const petal = 0.5 + 0.25 * Math.cos(5 * Math.atan2(y, x));
  if (r < 0.16) return [0.95, 0.75, 0.2];
  if (r < petal) return [0.85 - 0.5 * r, 0.25 + 0.3 * r, 0.55 + 0.3 * r];
  return [0.1 + 0.1 * y, 0.16 + 0.1 * x, 0.28 + 0.12 * y];
};
const places = Array.from({ length: size * size }, (_, i) => [
  ((i % size) + 0.5) / (size / 2) - 1,
  (Math.floor(i / size) + 0.5) / (size / 2) - 1,
]);
const colours = places.map(([x, y]) => colour(x!, y!));

nn.seed(2);
const net = new nn.Sequential(
  new nn.Linear(24, 64),
  new nn.GELU(),
  new nn.Linear(64, 64),
  new nn.GELU(),
  new nn.Linear(64, 3),
);
const opt = new optim.AdamW(net.parameters(), { lr: optim.schedule.cosine(0.01, 200, 1e-4) });
const waves = (x: Tensor) =>
  concat(
    [1, 2, 4, 8, 16, 32].flatMap((k) => [x.mul(k).sin(), x.mul(k).cos()]),
    1,
  );
const paint = (x: Tensor) => net.forward(waves(x)).sigmoid();

const step = compile((x: Tensor, y: Tensor) => {
  const painted = paint(x);
  const loss = painted.sub(y).square().mean();
  opt.step(loss);
  return { loss, painted: painted.reshape([size, size, 3]) };
});

await show("the picture", { data: colours.flat(), shape: [size, size, 3] });
for (let i = 1; i <= 200; i++) {
  const { loss, painted } = await step(places, colours);
  if (i % 5 === 0) plot("loss", await loss.item());
  if (i % 20 === 0) await show("what is learnt", painted);
}
