/**
 * A U-Net learns to tell things from the ground they stand on, and marks them in the picture it is
 * given.
 */
import { compile, concat, nn, optim, type Tensor } from "kiln-ml";
import { type Sample, scene } from "./scenes.ts";
import { serveLab } from "./serve.ts";
import type { Held, Scene, Segmented } from "./views.ts";

const [side, batch, held] = [48, 8, 6];

/** Planes of three colours from −1 to 1, one after the other. */
function planes(pictures: readonly Uint8ClampedArray[], of: number) {
  const data = new Float32Array(pictures.length * 3 * of * of);
  let at = 0;
  for (const rgba of pictures)
    for (let c = 0; c < 3; c++)
      for (let i = 0; i < of * of; i++) data[at++] = rgba[4 * i + c]! / 127.5 - 1;
  return { data, shape: [pictures.length, 3, of, of] };
}

/** 1 where a thing is. */
function masks(samples: readonly Sample[]) {
  const data = new Float32Array(samples.length * side * side);
  samples.forEach(({ mask }, n) => {
    for (let i = 0; i < side * side; i++) data[n * side * side + i] = mask[4 * i + 3]! / 255;
  });
  return { data, shape: [samples.length, 1, side, side] };
}

const twice = (from: number, to: number) =>
  new nn.Sequential(
    new nn.Conv2d(from, to, 3, { padding: 1, bias: false }),
    new nn.BatchNorm2d(to),
    new nn.ReLU(),
    new nn.Conv2d(to, to, 3, { padding: 1, bias: false }),
    new nn.BatchNorm2d(to),
    new nn.ReLU(),
  );

/**
 * x: f32[N, 3, H, W], of multiples of 4 → scores f32[N, 1, H, W]. Ronneberger et al. 2015, with 8
 * channels where there are 64.
 */
class UNet extends nn.Module {
  readonly down = [twice(3, 8), twice(8, 16)];
  readonly bottom = twice(16, 32);
  readonly up = [
    new nn.ConvTranspose2d(16, 8, 2, { stride: 2 }),
    new nn.ConvTranspose2d(32, 16, 2, { stride: 2 }),
  ];
  readonly join = [twice(16, 8), twice(32, 16)];
  readonly pool = new nn.MaxPool2d(2);
  readonly head = new nn.Conv2d(8, 1, 1);

  override forward(x: Tensor): Tensor {
    const fine = this.down[0]!.forward(x);
    const coarse = this.down[1]!.forward(this.pool.forward(fine));
    const deep = this.bottom.forward(this.pool.forward(coarse));
    const raised = this.join[1]!.forward(concat([coarse, this.up[1]!.forward(deep)], 1));
    return this.head.forward(this.join[0]!.forward(concat([fine, this.up[0]!.forward(raised)], 1)));
  }
}

function programs(steps: number) {
  nn.seed(1);
  const net = new UNet();
  const opt = new optim.AdamW(net.parameters(), { lr: optim.schedule.cosine(4e-3, steps, 1e-4) });
  const step = compile(
    (x: Tensor, mask: Tensor) => {
      const scores = net.train().forward(x);
      const loss = nn.bceWithLogits(scores, mask).add(nn.dice(scores.sigmoid(), mask));
      opt.step(loss);
      return loss;
    },
    { name: "step" },
  );
  const segment = compile((x: Tensor) => net.eval().forward(x).sigmoid(), { name: "segment" });
  return { step, segment };
}

serveLab<undefined, Held, Scene, Segmented>(240, (_, steps) => {
  const { step, segment } = programs(steps);
  const kept = Array.from({ length: held }, () => scene(side));
  const right = masks(kept).data;

  const overlap = (found: Float32Array): number => {
    const [both, either] = found.reduce(
      ([a, b], share, i) => {
        const [is, seen] = [right[i]! > 0.5, share > 0.5];
        return [a + Number(is && seen), b + Number(is || seen)];
      },
      [0, 0],
    );
    return either ? both / either : 1;
  };

  return {
    steps,
    every: 20,
    inspect: () => step.inspect(),
    async step() {
      const samples = Array.from({ length: batch }, () => scene(side));
      const x = planes(
        samples.map(({ rgba }) => rgba),
        side,
      );
      return { loss: await (await step(x, masks(samples))).item() };
    },
    async view() {
      const pictures = kept.map(({ rgba }) => rgba);
      const found = (await (await segment(planes(pictures, side))).data()) as Float32Array;
      const size = side * side;
      const scenes = pictures.map((rgba, n) => ({
        side,
        rgba,
        mask: found.slice(n * size, (n + 1) * size),
      }));
      return { scenes, overlap: overlap(found) };
    },
    async ask({ side: of, rgba }) {
      const found = await segment(planes([rgba], of));
      return { side: of, rgba, mask: (await found.data()) as Float32Array };
    },
  };
});
