/**
 * A variational autoencoder of digits: a code of 8 normal numbers for each image, drawn in the step from a key that is state. Writes a grid
 * of digits that nobody has written, from codes drawn afterwards.
 *
 *     node examples/vae.ts [--epochs 20] [--quick]
 *
 * Kingma & Welling 2014: the loss is −ELBO in nats, a reconstruction and the distance of the codes from a standard normal.
 */
import { parseArgs } from "node:util";
import { compile, data, nn, optim, random, type Tensor } from "kiln-ml";
import { digits, quick } from "./data.ts";
import { writeGrid } from "./pictures.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "2" : "20" } },
  strict: false,
});
const code = 8;

class Vae extends nn.Module {
  encoder = new nn.Sequential(new nn.Linear(784, 256), new nn.ReLU(), new nn.Linear(256, 2 * code));
  decoder = new nn.Sequential(new nn.Linear(code, 256), new nn.ReLU(), new nn.Linear(256, 784));
  keys = new nn.KeyStream({ seed: 1 });

  /** x: f32[N, 784] → scores of pixels, means and logarithms of variances of codes. */
  override forward(x: Tensor) {
    const [mean, logVariance] = this.encoder.forward(x).split(2, -1) as [Tensor, Tensor];
    // The draw is outside of what has a gradient: mean and deviation scale it.
    const drawn = random.normal(this.keys.next(), mean.shape);
    const z = mean.add(logVariance.mul(0.5).exp().mul(drawn));
    return { scores: this.decoder.forward(z), mean, logVariance };
  }
}

/** −ELBO of a batch, in nats an image. */
function bound(vae: Vae, x: Tensor): Tensor {
  const { scores, mean, logVariance } = vae.forward(x);
  const pixels = nn.bceWithLogits(scores, x, { reduction: "none" }).sum(-1);
  const distance = mean.square().add(logVariance.exp()).sub(1).sub(logVariance).sum(-1).mul(0.5);
  return pixels.add(distance).mean();
}

nn.seed(1);
const vae = new Vae();
const adam = new optim.Adam(vae.parameters(), { lr: 1e-3 });
const step = compile((x: Tensor) => {
  const loss = bound(vae, x);
  adam.step(loss);
  return loss;
});
const measure = compile((x: Tensor) => bound(vae, x));

const [learn, test] = data.split(await digits(), quick ? [0.2, 0.05] : [0.9, 0.1], 1);
const loader = new data.DataLoader(learn!, { batch: 100, shuffle: true, seed: 1 });
for (let epoch = 1; epoch <= Number(values.epochs); epoch++) {
  let loss = Number.NaN;
  for await (const [x] of loader) loss = await (await step(x)).item();
  console.log(`epoch ${epoch}: ${loss.toFixed(1)} nats`);
}

let [sum, count] = [0, 0];
for await (const [x] of new data.DataLoader(test!, { batch: 100 })) {
  sum += await (await measure(x)).item();
  count++;
}
const draw = compile((seed: Tensor) =>
  vae.decoder.forward(random.normal(random.key(seed), [64, code])).sigmoid(),
);
const grid = (await (await draw(7)).data()) as Float32Array;
console.log(`wrote ${await writeGrid("vae.png", grid, 28, 8)}`);
console.log(`test bound ${(sum / count).toFixed(1)} nats`);
