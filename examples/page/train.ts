/**
 * A page that reads what is drawn on it: a network learns digits here, in Node, and the page has
 * the artifact, the runtime and no compiler. Everything lies in one folder, to be served from
 * anywhere.
 *
 *     node examples/page/train.ts [--epochs 3] [--samples 10000] [--out runs/page] [--quick]
 *     npx serve runs/page
 */
import { copyFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { compile, data, defaultTarget, nn, optim, type Tensor } from "kiln-ml";
import { writeArtifact } from "kiln-ml/node";
import * as train from "kiln-ml/train";
import { digits, quick } from "../data.ts";

const { values } = parseArgs({
  options: {
    epochs: { type: "string", default: quick ? "1" : "3" },
    out: { type: "string", default: "runs/page" },
  },
  strict: false,
});
const out = String(values.out);

nn.seed(1);
const net = new nn.Sequential(
  (x: Tensor) => x.sub(0.1307).div(0.3081).reshape([-1, 1, 28, 28]),
  new nn.Conv2d(1, 8, 3),
  new nn.ReLU(),
  new nn.MaxPool2d(2),
  new nn.Conv2d(8, 16, 3),
  new nn.ReLU(),
  new nn.MaxPool2d(2),
  new nn.Flatten(),
  new nn.Linear(400, 10),
);
const [learn, test] = data.split(await digits(), [0.9, 0.1], 1);
await train.fit(net, new data.DataLoader(learn!, { batch: 32, shuffle: true, seed: 1 }), {
  optimizer: optim.adamW({ lr: 2e-3 }),
  loss: nn.crossEntropy,
  epochs: Number(values.epochs),
});
const { accuracy } = await train.evaluate(net, new data.DataLoader(test!, { batch: 100 }), {
  loss: nn.crossEntropy,
  metrics: [train.metrics.accuracy()],
});

// What the page loads: chances of the ten digits, for any number of images.
const read = compile(
  ({ images }: { images: Tensor }) => ({ chances: net.forward(images).softmax(-1) }),
  {
    inputs: [{ images: ["N", 784] }],
  },
);
mkdirSync(out, { recursive: true });
// Trained where the process is told to; a page has wasm wherever its policy allows it.
const target = defaultTarget() === "js" ? "js" : "wasm";
await writeArtifact(join(out, "digits.kiln"), await read.artifact({ target }));

// Ten digits that were not learnt, with what this process says of them: the page says the same.
const [images, labels] = (await test!.gather(Array.from({ length: 10 }, (_, i) => i))) as [
  Float32Array,
  Int32Array,
];
const { chances } = await read({ images: { data: images, shape: [10, 784] } });
const samples = {
  images: Array.from(images, (x) => Math.round(255 * x)),
  labels: [...labels],
  chances: Array.from(await chances.data(), (p) => Number(p.toFixed(4))),
};
writeFileSync(join(out, "samples.json"), JSON.stringify(samples));

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
copyFileSync(beside("index.html"), join(out, "index.html"));
const { metafile } = await build({
  entryPoints: [beside("main.ts")],
  outdir: out,
  bundle: true,
  // What opens other models stays in files that this page never asks for.
  splitting: true,
  metafile: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  // What this process was told: from source in the repository, built packages elsewhere.
  conditions: process.execArgv.flatMap((flag) => flag.match(/^--conditions=(.+)/)?.[1] ?? []),
  external: ["webgpu"],
  logLevel: "error",
});

/** The bytes of a file of the page and of what it imports before it runs. */
function bytesOf(path: string, seen = new Set<string>()): number {
  if (seen.has(path)) return 0;
  seen.add(path);
  const { bytes, imports } = metafile.outputs[path]!;
  const first = imports.filter(({ kind, external }) => kind === "import-statement" && !external);
  return first.reduce((sum, next) => sum + bytesOf(next.path, seen), bytes);
}

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1000)} kB`;
const main = Object.keys(metafile.outputs).find((path) => path.endsWith("main.js"))!;
const model = kilobytes(statSync(join(out, "digits.kiln")).size);
console.log(
  `wrote ${join(out, "index.html")}: program ${kilobytes(bytesOf(main))}, model ${model}`,
);
console.log(`test accuracy ${Number(accuracy).toFixed(3)}`);
