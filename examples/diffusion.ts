/**
 * Denoising diffusion of digits, halved to 14×14: a network learns to tell the noise in an image, and images are made by taking it out step
 * by step. Writes a grid of what it makes; the loop over steps is a `scan` within one program.
 *
 *     node examples/diffusion.ts [--epochs 30] [--quick]
 *
 * Ho, Jain & Abbeel 2020, algorithms 1 and 2, with the schedule of Nichol & Dhariwal 2021.
 */
import { parseArgs } from "node:util";
import {
  arange,
  compile,
  concat,
  data,
  nn,
  optim,
  random,
  scan,
  type Tensor,
  tensor,
} from "kiln-ml";
import { digits, quick } from "./data.ts";
import { writeGrid } from "./pictures.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "3" : "30" } },
  strict: false,
});
const [times, side, batch] = [quick ? 50 : 200, 14, 128];
const pixels = side * side;

/** How much of the image is left after each step, ᾱ: a cosine. */
const left = Float32Array.from({ length: times }, (_, t) => {
  const at = (s: number) => Math.cos(((s / times + 0.008) / 1.008) * (Math.PI / 2)) ** 2;
  return Math.max(1e-4, at(t + 1) / at(0));
});
const kept = tensor(left);

class Denoiser extends nn.Module {
  place = new nn.Embedding(times, 128);
  enter = new nn.Linear(pixels, 512);
  blocks = Array.from({ length: 3 }, () => ({
    norm: new nn.LayerNorm(512),
    time: new nn.Linear(128, 512),
    wide: new nn.Linear(512, 512),
    back: new nn.Linear(512, 512),
  }));
  leave = new nn.Linear(512, pixels);

  /** x: f32[N, pixels] with noise, t: i32[N] → the noise. */
  override forward(x: Tensor, t: Tensor): Tensor {
    const when = this.place.forward(t).silu();
    let h = this.enter.forward(x);
    for (const { norm, time, wide, back } of this.blocks)
      h = h.add(back.forward(wide.forward(norm.forward(h)).add(time.forward(when)).silu()));
    return this.leave.forward(h);
  }
}

nn.seed(1);
const net = new Denoiser();
// Images are drawn by an average of weights, which the last steps shake less.
const smooth = new Denoiser();
const keys = new nn.KeyStream({ seed: 1 });
const adam = new optim.AdamW(net.parameters(), { lr: 1e-3, clipNorm: 1 });
const averaged = compile(() => optim.polyak(smooth, net, 1));
await averaged();

const step = compile((x: Tensor) => {
  const small = x.reshape([batch, side, 2, side, 2]).mean([2, 4]).reshape([batch, pixels]);
  const t = random.randint(keys.next(), [batch], 0, times);
  const noise = random.normal(keys.next(), [batch, pixels]);
  const share = kept.take(t).expandDims(1);
  const noisy = small
    .mul(2)
    .sub(1)
    .mul(share.sqrt())
    .add(noise.mul(share.neg().add(1).sqrt()));
  const loss = nn.mse(net.forward(noisy, t), noise);
  adam.step(loss);
  optim.polyak(smooth, net, 0.005);
  return loss;
});

const loader = new data.DataLoader(await digits(), {
  batch,
  shuffle: true,
  seed: 1,
  dropLast: true,
});
const epochs = Number(values.epochs);
let loss = Number.NaN;
for (let epoch = 1; epoch <= epochs; epoch++) {
  let sum = 0;
  let count = 0;
  for await (const [x] of loader) {
    const found = await step(x);
    if (count++ % 10 === 0) sum += await found.item();
  }
  loss = sum / Math.ceil(count / 10);
  if (epoch % Math.ceil(epochs / 10) === 0) console.log(`epoch ${epoch}: loss ${loss.toFixed(4)}`);
}

/** From noise to images: 64 of them at once. */
const make = compile((seed: Tensor) => {
  const [first, rest] = random.split(random.key(seed)) as [Tensor, Tensor];
  const downwards = arange(times)
    .neg()
    .add(times - 1);
  const before = concat([tensor([1]), kept.slice([0], [times - 1])]);
  const { carry } = scan([random.normal(first, [64, pixels])], [downwards], ([x], [t]) => {
    const [all, earlier] = [kept.take(t!), before.take(t!)];
    const noise = smooth.forward(x!, t!.broadcastTo([64]));
    const clean = x!
      .sub(noise.mul(all.neg().add(1).sqrt()))
      .div(all.sqrt())
      .clamp(-1, 1);
    // The mean of the step before, given the image that is guessed, and its variance.
    const share = all.div(earlier);
    const toClean = earlier.sqrt().mul(share.neg().add(1)).div(all.neg().add(1));
    const toNow = share.sqrt().mul(earlier.neg().add(1)).div(all.neg().add(1));
    const variance = share.neg().add(1).mul(earlier.neg().add(1)).div(all.neg().add(1));
    const drawn = random.normal(random.fold(rest, t!), [64, pixels]);
    return {
      carry: [clean.mul(toClean).add(x!.mul(toNow)).add(drawn.mul(variance.sqrt()))],
      ys: [],
    };
  });
  return carry[0]!.add(1).div(2).clamp(0, 1);
});
const grid = (await (await make(3)).data()) as Float32Array;
console.log(`wrote ${await writeGrid("diffusion.png", grid, side, 8)}`);
console.log(`loss ${loss.toFixed(4)}`);
