/**
 * Pictures in a folder for each class: decoded as they are asked for, and flipped and cropped
 * within the step. With the archive it is a part of CIFAR-10 as JPEGs, 500 pictures a class to
 * learn and 100 to test; without, stripes and checks that it draws into PNGs.
 *
 *     node examples/images.ts [--epochs 15] [--quick]
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { imageFolder } from "@kiln-ml/data/node";
import { data, nn, optim, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { archive, quick, randomNumbers } from "./data.ts";
import { outputs } from "./pictures.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "4" : "15" } },
  strict: false,
});
const { augment } = data;

/** The folder with `train` and `test`, each with a folder a class. */
function unpacked(root: string): string {
  if (!existsSync(join(root, "train")))
    execFileSync("tar", ["xf", join(root, "cifar10-jpg-subset.tar"), "-C", root]);
  return root;
}

/** Four kinds of pattern, of colours and phases that differ. */
const kinds: Readonly<Record<string, (x: number, y: number) => boolean>> = {
  checks: (x, y) => (Math.floor(x / 3) + Math.floor(y / 3)) % 2 === 0,
  columns: (x) => x % 6 < 3,
  rings: (x, y) => Math.hypot(x - 12, y - 12) % 6 < 3,
  rows: (_, y) => y % 6 < 3,
};

async function drawn(): Promise<string> {
  const [root, draw, side] = [join(outputs, "patterns"), randomNumbers(1), 16];
  for (const [part, count] of [
    ["train", 80],
    ["test", 20],
  ] as const)
    for (const [name, isLight] of Object.entries(kinds)) {
      mkdirSync(join(root, part, name), { recursive: true });
      for (let i = 0; i < count; i++) {
        const [dx, dy, light, dark] = [8 * draw(), 8 * draw(), 120 + 135 * draw(), 90 * draw()];
        const pixels = Uint8Array.from({ length: side * side * 3 }, (_, at) => {
          const [x, y] = [Math.floor(at / 3) % side, Math.floor(at / 3 / side)];
          return (isLight(x + dx, y + dy) ? light : dark) * (0.8 + 0.2 * draw());
        });
        const picture = { data: pixels, shape: [side, side, 3] as const };
        writeFileSync(join(root, part, name, `${i}.png`), await data.encodePng(picture));
      }
    }
  return root;
}

const found = archive("cifar10-jpg-subset");
const root = found ? unpacked(found) : await drawn();
const learn = await imageFolder(join(root, "train"));
const test = await imageFolder(join(root, "test"), { classes: learn.classes });

const block = (from: number, to: number) => [
  new nn.Conv2d(from, to, 3, { padding: 1, bias: false }),
  new nn.BatchNorm2d(to),
  new nn.ReLU(),
  new nn.MaxPool2d(2),
];
nn.seed(1);
const net = new nn.Sequential(
  ...block(3, 16),
  ...block(16, 32),
  ...block(32, 64),
  new nn.GlobalAvgPool(),
  new nn.Linear(64, learn.classes.length),
);
const keys = new nn.KeyStream({ seed: 1 });

/** Bytes to pictures, every time others. */
function changed(bytes: Tensor): Tensor {
  const flipped = augment.flip(keys.next(), augment.fromBytes(bytes));
  return augment.randomCrop(keys.next(), flipped, { padding: 2 });
}
const measured = (pictures: Tensor, target: Tensor) => {
  const output = net.forward(pictures.sub(0.47).div(0.25));
  return { loss: nn.crossEntropy(output, target), output, target };
};
const validationStep = (x: Tensor, y: Tensor) => measured(augment.fromBytes(x), y);
const metrics = [train.metrics.accuracy()];
const validation = new data.DataLoader(test, { batch: 80 });
const epochs = Number(values.epochs);
await train.fit(net, new data.DataLoader(learn, { batch: 32, shuffle: true, seed: 1 }), {
  step: (x, y) => measured(changed(x!), y!),
  validationStep,
  optimizer: (params) => new optim.AdamW(params, { lr: 3e-3, weightDecay: 0.01 }),
  metrics,
  validation,
  epochs,
});
const logs = await train.evaluate(net, validation, {
  step: (x, y) => validationStep(x!, y!),
  metrics,
});
console.log(
  `test accuracy ${Number(logs.accuracy).toFixed(3)} over ${learn.classes.length} classes, ${learn.length} pictures learnt`,
);
