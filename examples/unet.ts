/**
 * Membranes of neurons in electron micrographs: a U-Net with a loss of overlap, on the 30 slices of ISBI 2012, of which 6 are held back.
 * Writes a picture in which what it found lies over the slice: right in green, missed in red, found where there is none in blue.
 *
 *     node examples/unet.ts [--steps 300] [--quick]
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compile, concat, data, nn, optim, random, type Tensor } from "kiln-ml";
import * as vision from "kiln-ml/vision";
import { archive, quick, randomNumbers } from "./data.ts";
import { writePicture } from "./pictures.ts";

const { values } = parseArgs({
  options: { steps: { type: "string", default: quick ? "60" : "300" } },
  strict: false,
});
const [steps, crop, size] = [Number(values.steps), quick ? 32 : 128, quick ? 64 : 512];

const folder = archive("isbi-membrane");
const slices = folder
  ? await Promise.all(Array.from({ length: 30 }, (_, i) => slice(folder, i)))
  : Array.from({ length: 10 }, (_, i) => cells(i));
const held = slices.splice(0, slices.length / 5);

interface Slice {
  /** u8[size, size]. */
  readonly image: Uint8Array;
  /** 255 within cells, 0 on membranes. */
  readonly label: Uint8Array;
}

async function slice(root: string, at: number): Promise<Slice> {
  const read = async (what: string) => {
    const path = join(root, "zhixuhao+unet/data/membrane/train", what, `${at}.png`);
    return (await data.decodeImage(readFileSync(path), { name: path, channels: 1 })).data;
  };
  return { image: await read("image"), label: await read("label") };
}

const flat = (key: "image" | "label", from: readonly Slice[]): Uint8Array => {
  const all = new Uint8Array(from.length * size * size);
  from.forEach((s, i) => {
    all.set(s[key], i * size * size);
  });
  return all;
};
const setOf = (from: readonly Slice[]) =>
  data.fromArrays([flat("image", from), flat("label", from)] as const, [
    [size, size, 1],
    [size, size, 1],
  ]);

nn.seed(1);
const net = vision.unet({ channels: 1, width: quick ? 8 : 16, depth: 3 });
const adam = new optim.AdamW(net.parameters(), { lr: optim.schedule.cosine(3e-3, steps) });
const keys = new nn.KeyStream({ seed: 1 });

/** Scores against a mask: cross-entropy sees each pixel, Dice the region. */
const lossOf = (scores: Tensor, mask: Tensor): Tensor =>
  nn.bceWithLogits(scores, mask).add(nn.dice(scores.sigmoid(), mask));

// Image and mask go through one crop and one flip: they are two channels of one picture.
const train = compile((images: Tensor, labels: Tensor) => {
  const both = data.augment.fromBytes(concat([images, labels], 3));
  const cut = data.augment.randomCrop(keys.next(), both, { size: crop });
  const [flipKey, turnKey] = random.split(keys.next()) as [Tensor, Tensor];
  const sideways = data.augment.flip(flipKey, cut);
  const [image, mask] = data.augment.flip(turnKey, sideways, { axis: "height" }).split(2, 1);
  const loss = lossOf(net.forward(image!), mask!.greater(0.5).convert("f32"));
  adam.step(loss);
  return loss;
});

const loader = new data.DataLoader(setOf(slices), { batch: 4, shuffle: true, seed: 1 });
for (let done = 0; done < steps; )
  for await (const [images, labels] of loader) {
    const loss = await train(images, labels);
    if (++done % Math.ceil(steps / 8) === 0)
      console.log(`step ${done}: loss ${(await loss.item()).toFixed(3)}`);
    if (done >= steps) break;
  }

// Whole slices, one at a time: the network has no size of its own.
net.eval();
const predict = compile((images: Tensor) => net.forward(images).sigmoid());
const found: Float32Array[] = [];
for await (const [image] of new data.DataLoader(setOf(held), { batch: 1 }))
  found.push((await (await predict(image)).data()) as Float32Array);

let [both, sum] = [0, 0];
held.forEach(({ label }, i) => {
  for (let at = 0; at < label.length; at++) {
    const [is, seen] = [label[at]! > 127, found[i]![at]! > 0.5];
    both += Number(is && seen);
    sum += Number(is) + Number(seen);
  }
});
const path = await writePicture("membranes.png", overlay(held[0]!, found[0]!));
console.log(`wrote ${path}`);
console.log(`Dice on ${held.length} slices ${((2 * both) / sum).toFixed(3)}`);

/** The slice in grey; membranes in green where both say so, red where missed, blue where there are none. */
function overlay({ image, label }: Slice, cell: Float32Array): data.Picture {
  const pixels = new Uint8Array(3 * size * size);
  for (let at = 0; at < size * size; at++) {
    const [is, seen] = [label[at]! <= 127, cell[at]! <= 0.5];
    const tint = is && seen ? [0, 255, 0] : is ? [255, 0, 0] : seen ? [0, 0, 255] : undefined;
    for (let c = 0; c < 3; c++)
      pixels[3 * at + c] = tint ? 0.6 * image[at]! + 0.4 * tint[c]! : image[at]!;
  }
  return { data: pixels, shape: [size, size, 3] };
}

/** A made-up slice: cells around points, with dark membranes where two are as near, in noise. */
function cells(seed: number): Slice {
  const draw = randomNumbers(seed + 1);
  const centres = Array.from({ length: 12 }, () => [size * draw(), size * draw()] as const);
  const [image, label] = [new Uint8Array(size * size), new Uint8Array(size * size)];
  for (let at = 0; at < size * size; at++) {
    const [y, x] = [Math.floor(at / size), at % size];
    const [first, second] = centres.map(([a, b]) => Math.hypot(y - a, x - b)).sort((a, b) => a - b);
    const inside = second! - first! > 4;
    label[at] = inside ? 255 : 0;
    image[at] = (inside ? 150 : 70) + 60 * (draw() - 0.5);
  }
  return { image, label };
}
