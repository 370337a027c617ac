/**
 * A Wasserstein GAN with a penalty on the critic's gradient: the gradient of a gradient, in one compiled step. Writes a grid of digits that
 * the generator draws.
 *
 *     node examples/wgan.ts [--steps 1500] [--quick]
 *
 * Gulrajani et al. 2017: five steps of the critic for one of the generator, a penalty of 10.
 */
import { parseArgs } from "node:util";
import { compile, data, grad, nn, optim, random, type Tensor } from "kiln-ml";
import { digits, quick } from "./data.ts";
import { writeGrid } from "./pictures.ts";

const { values } = parseArgs({
  options: { steps: { type: "string", default: quick ? "40" : "1500" } },
  strict: false,
});
const [code, batch] = [32, 64];

nn.seed(1);
const generator = new nn.Sequential(
  new nn.Linear(code, 256),
  new nn.ReLU(),
  new nn.Linear(256, 256),
  new nn.ReLU(),
  new nn.Linear(256, 784),
  new nn.Sigmoid(),
);
// No batch normalisation here: the penalty is of each image by itself.
const critic = new nn.Sequential(
  new nn.Linear(784, 256),
  new nn.LeakyReLU(0.2),
  new nn.Linear(256, 256),
  new nn.LeakyReLU(0.2),
  new nn.Linear(256, 1),
);
const keys = new nn.KeyStream({ seed: 1 });
const settings = { lr: 2e-4, betas: [0.5, 0.9] } as const;
const ofCritic = new optim.Adam(critic.parameters(), settings);
const ofGenerator = new optim.Adam(generator.parameters(), settings);

const drawn = (): Tensor => generator.forward(random.normal(keys.next(), [batch, code]));

/** How far the critic tells true from drawn, which estimates the distance of both. */
const trainCritic = compile((real: Tensor) => {
  const made = drawn().stopGradient();
  const distance = critic.forward(real).mean().sub(critic.forward(made).mean());
  // Between a true image and a drawn one, the critic's slope should be 1.
  const share = random.uniform(keys.next(), [batch, 1]);
  const between = real.mul(share).add(made.mul(share.neg().add(1)));
  const slope = grad(critic.forward(between).sum(), [between])[0]!;
  const penalty = slope.square().sum(-1).add(1e-12).sqrt().sub(1).square().mean();
  ofCritic.step(penalty.mul(10).sub(distance));
  return distance;
});
const trainGenerator = compile(() => {
  const loss = critic.forward(drawn()).mean().neg();
  ofGenerator.step(loss);
  return loss;
});

const loader = new data.DataLoader(await digits(), {
  batch,
  shuffle: true,
  seed: 1,
  dropLast: true,
});
const steps = Number(values.steps);
let [done, distance, least] = [0, Number.NaN, Infinity];
for (let critics = 0; done < steps; )
  for await (const [real] of loader) {
    const found = await trainCritic(real);
    if (++critics % 5) continue;
    await trainGenerator();
    if (++done % Math.ceil(steps / 10) === 0) {
      distance = await found.item();
      least = Math.min(least, distance);
      console.log(`step ${done}: distance ${distance.toFixed(2)}`);
    }
    if (done >= steps) break;
  }

const show = compile(() => drawn());
const grid = (await (await show()).data()) as Float32Array;
console.log(`wrote ${await writeGrid("wgan.png", grid, 28, 8)}`);
console.log(`distance ${distance.toFixed(2)}`);
