/**
 * Sounds by kind: WAV files become mel spectrograms within the step, and bands of them are masked
 * so that the network looks everywhere. The sounds are made up, of a fifth of a second at 8 kHz:
 * steady, rising and falling tones and noise that swells, all of them in noise.
 *
 *     node examples/sounds.ts [--epochs 12] [--quick]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readWavFile } from "@kiln-ml/data/node";
import { data, nn, optim, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { normalNumbers, quick, randomNumbers } from "./data.ts";
import { outputs } from "./pictures.ts";

const { values } = parseArgs({
  options: { epochs: { type: "string", default: quick ? "6" : "12" } },
  strict: false,
});
const [rateHz, length, mels] = [8000, 1600, 24];
const count = quick ? 60 : 250;
const kinds = ["steady", "rising", "falling", "noise"] as const;
const { augment } = data;

/** 16-bit PCM of one channel. */
function wavOf(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(44 + 2 * samples.length);
  const view = new DataView(bytes.buffer);
  const text = (at: number, s: string) => bytes.set(new TextEncoder().encode(s), at);
  text(0, "RIFF");
  view.setUint32(4, 36 + 2 * samples.length, true);
  text(8, "WAVEfmt ");
  for (const [at, n] of [
    [16, 16],
    [24, rateHz],
    [28, 2 * rateHz],
    [40, 2 * samples.length],
  ] as const)
    view.setUint32(at, n, true);
  for (const [i, n] of [1, 1].entries()) view.setUint16(20 + 2 * i, n, true);
  for (const [i, n] of [2, 16].entries()) view.setUint16(32 + 2 * i, n, true);
  text(36, "data");
  samples.forEach((v, i) => {
    view.setInt16(44 + 2 * i, 32767 * Math.max(-1, Math.min(1, v)), true);
  });
  return bytes;
}

const [draw, normal] = [randomNumbers(1), normalNumbers(2)];

function sound(kind: (typeof kinds)[number]): Float32Array {
  const [from, slope, loud] = [800 + 1200 * draw(), 700 + 500 * draw(), 0.2 + 0.2 * draw()];
  const direction = { steady: 0, rising: 1, falling: -1, noise: 0 }[kind];
  let phase = 0;
  return Float32Array.from({ length }, (_, t) => {
    const share = t / length;
    phase += (2 * Math.PI * (from + direction * slope * share)) / rateHz;
    const own = kind === "noise" ? share * normal() : Math.sin(phase);
    return loud * own + 0.05 * normal();
  });
}

const folder = join(outputs, "sounds");
mkdirSync(folder, { recursive: true });
const waves = new Float32Array(kinds.length * count * length);
const labels = Int32Array.from({ length: kinds.length * count }, (_, i) => i % kinds.length);
for (const [i, label] of labels.entries()) {
  const path = join(folder, `${kinds[label]}-${i}.wav`);
  writeFileSync(path, wavOf(sound(kinds[label]!)));
  waves.set((await readWavFile(path)).data, i * length);
}
const all = data.fromArrays([waves, labels] as const, [[length], []]);
const [learn, test] = data.split(all, [0.8, 0.2], 1);

nn.seed(1);
const net = new nn.Sequential(
  new nn.Conv2d(1, 8, 3, { padding: 1 }),
  new nn.ReLU(),
  new nn.MaxPool2d(2),
  new nn.Conv2d(8, 16, 3, { padding: 1 }),
  new nn.ReLU(),
  new nn.MaxPool2d(2),
  new nn.Flatten(),
  new nn.Linear(16 * (mels / 4) * 3, kinds.length),
);
const keys = new nn.KeyStream({ seed: 1 });
const spectra = (x: Tensor) => augment.logMel(x, { rateHz, size: 256, hop: 128, mels });
const measured = (x: Tensor, target: Tensor) => {
  const output = net.forward(x.add(3).div(3).expandDims(1));
  return { loss: nn.crossEntropy(output, target), output, target };
};
const metrics = [train.metrics.accuracy()];
await train.fit(net, new data.DataLoader(learn!, { batch: 16, shuffle: true, seed: 1 }), {
  step: (x, y) =>
    measured(augment.maskBands(keys.next(), spectra(x!), { frequency: 4, time: 3 }), y!),
  optimizer: (params) => new optim.Adam(params, { lr: 3e-3 }),
  metrics,
  epochs: Number(values.epochs),
});
const logs = await train.evaluate(net, new data.DataLoader(test!, { batch: 16 }), {
  step: (x, y) => measured(spectra(x!), y!),
  metrics,
});
console.log(`test accuracy ${Number(logs.accuracy).toFixed(3)} on ${test!.length} made-up sounds`);
