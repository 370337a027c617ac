/**
 * Digits without labels: an encoder learns that two distorted views of one image belong together and those of others do not. Then a linear
 * classifier on what it found, from 100 labelled digits, is held against one on pixels.
 *
 *     node examples/contrastive.ts [--epochs 15] [--quick]
 *
 * Chen et al. 2020 (SimCLR): the loss is InfoNCE over the batch, in both directions.
 */
import { parseArgs } from "node:util";
import { compile, data, nn, optim, random, type Tensor } from "kiln-ml";
import { digits, quick } from "./data.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "2" : "15" } },
  strict: false,
});
const batch = 128;

class Encoder extends nn.Module {
  conv1 = new nn.Conv2d(1, 16, 3, { stride: 2, padding: 1 });
  norm1 = new nn.BatchNorm2d(16);
  conv2 = new nn.Conv2d(16, 32, 3, { stride: 2, padding: 1 });
  norm2 = new nn.BatchNorm2d(32);
  features = new nn.Linear(32 * 7 * 7, 64);
  // What the loss sees is thrown away afterwards: features before it keep more.
  head = new nn.Sequential(new nn.Linear(64, 64), new nn.ReLU(), new nn.Linear(64, 32));

  override forward(images: Tensor): Tensor {
    const low = this.norm1.forward(this.conv1.forward(images)).relu();
    const high = this.norm2.forward(this.conv2.forward(low)).relu();
    return this.features.forward(high.reshape([-1, 32 * 7 * 7])).relu();
  }
}

nn.seed(1);
const encoder = new Encoder();
const keys = new nn.KeyStream({ seed: 1 });
const adam = new optim.AdamW(encoder.parameters(), { lr: 2e-3 });

/** Moved, turned, scaled, with a part cut out: anew for each image and call. */
function view(images: Tensor): Tensor {
  const [place, hole] = random.split(keys.next()) as [Tensor, Tensor];
  const moved = data.augment.affine(place, images, {
    degrees: 20,
    translate: 0.1,
    scale: [0.8, 1.2],
  });
  return data.augment.cutout(hole, moved, { size: 8 });
}

const step = compile((x: Tensor) => {
  const images = x.reshape([batch, 1, 28, 28]);
  const [a, b] = [view(images), view(images)].map((v) => encoder.head.forward(encoder.forward(v)));
  const loss = nn.infoNce(a!, b!, { temperature: 0.2, symmetric: true });
  adam.step(loss);
  return loss;
});

const [learn, few, test] = data.split(
  await digits(),
  quick ? [0.2, 0.01, 0.1] : [0.85, 0.01, 0.1],
  1,
);
const loader = new data.DataLoader(learn!, { batch, shuffle: true, seed: 1, dropLast: true });
for (let epoch = 1; epoch <= Number(values.epochs); epoch++) {
  let loss = Number.NaN;
  for await (const [x] of loader) loss = await (await step(x)).item();
  console.log(`epoch ${epoch}: loss ${loss.toFixed(3)}`);
}
encoder.eval();

/** The accuracy of a linear classifier on what `see` makes of images, from few labels. */
async function probe(width: number, see: (x: Tensor) => Tensor): Promise<number> {
  nn.seed(1);
  const linear = new nn.Linear(width, 10);
  const opt = new optim.AdamW(linear.parameters(), { lr: 0.01, weightDecay: 0.01 });
  const scores = (x: Tensor) => linear.forward(see(x).stopGradient());
  const train = compile((x: Tensor, y: Tensor) => opt.step(nn.crossEntropy(scores(x), y)));
  const measure = compile((x: Tensor, y: Tensor) => nn.accuracy(scores(x), y));
  const all = (set: typeof few) => [...Array(set!.length).keys()];
  const [x, y] = await few!.gather(all(few));
  const shaped = (pixels: Float32Array) => ({ data: pixels, shape: [pixels.length / 784, 784] });
  for (let i = 0; i < 200; i++) await train(shaped(x as Float32Array), y);
  const [u, v] = await test!.gather(all(test));
  return (await measure(shaped(u as Float32Array), v)).item();
}

const pixels = await probe(784, (x) => x);
const found = await probe(64, (x) => encoder.forward(x.reshape([-1, 1, 28, 28])));
console.log(
  `from ${few!.length} labels: pixels ${pixels.toFixed(3)}, features ${found.toFixed(3)}`,
);
