/**
 * Rows of training: what the trainer costs over a loop by hand, and how fast loaders are with workers. Epochs of both loops take turns, in
 * CPU time, so that what else the machine does meets both.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { imageFolder } from "@kiln-ml/data/node";
import { build } from "esbuild";
import { compile, data, nn, optim, setThreads, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { bounded, type Row } from "./row.ts";

/** Two convolutions and a linear layer: that of the MNIST example. */
const network = () =>
  new nn.Sequential(
    (x) => x.reshape([-1, 1, 28, 28]),
    new nn.Conv2d(1, 8, 3),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Conv2d(8, 16, 3),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Flatten(),
    new nn.Linear(400, 10),
  );

const steps = 60;
const batch = 32;

function loader() {
  const images = Float32Array.from({ length: steps * batch * 784 }, (_, i) => (i % 97) / 97);
  const labels = Int32Array.from({ length: steps * batch }, (_, i) => i % 10);
  const set = data.fromArrays([images, labels] as const, [[784], []]);
  return new data.DataLoader(set, { batch, shuffle: true });
}

const median = (list: readonly number[]): number =>
  [...list].sort((a, b) => a - b)[list.length >> 1]!;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** CPU milliseconds a step of `fit` and of a loop by hand, an epoch of each in turn. */
async function overhead(rounds: number): Promise<readonly [number, number]> {
  const [own, batches] = [network(), loader()];
  const adam = new optim.Adam(own.parameters(), { lr: 1e-3 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(own.forward(x), y);
      adam.step(loss);
      return loss;
    },
    { target: "wasm", inputs: [[batch, 784], { shape: [batch], dtype: "i32" }] },
  );
  const byHand = async (): Promise<void> => {
    let loss: Tensor | undefined;
    for await (const [x, y] of batches) loss = await step(x, y);
    await loss!.item();
  };
  for (let i = 0; i < 3; i++) await byHand();
  const times: [number[], number[]] = [[], []];
  let since = 0;
  await train.fit(network(), loader(), {
    optimizer: (params) => new optim.Adam(params, { lr: 1e-3 }),
    loss: nn.crossEntropy,
    target: "wasm",
    epochs: rounds + 3,
    renderer: false,
    callbacks: [
      {
        name: "bench",
        async onEpochEnd() {
          times[0].push(cpuMs() - since);
          const start = cpuMs();
          await byHand();
          times[1].push(cpuMs() - start);
          since = cpuMs();
        },
      },
    ],
  });
  // The first epochs compile and warm up.
  return times.map((list) => median(list.slice(3)) / steps) as unknown as readonly [number, number];
}

/** PNGs of two classes in a folder. */
async function photos(folder: string): Promise<void> {
  for (const name of ["a", "b"]) {
    mkdirSync(join(folder, name), { recursive: true });
    for (let i = 0; i < 96; i++) {
      const pixels = Uint8Array.from({ length: 128 * 128 * 3 }, (_, k) => (k * (i + 3)) % 251);
      writeFileSync(
        join(folder, name, `${i}.png`),
        await data.encodePng({ data: pixels, shape: [128, 128, 3] }),
      );
    }
  }
}

const worker = "worker.mjs";

/** The worker as one module: threads load no TypeScript. */
const bundleWorker = (folder: string) =>
  build({
    entryPoints: ["bench/train-worker.ts"],
    outfile: join(folder, worker),
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@kiln-ml/source"],
    logLevel: "error",
  });

/** Pictures a second that a loader gives, nothing else being done; the time of day, since workers are to share the work. */
async function speedOf(folder: string, count: number): Promise<number> {
  const set = await imageFolder(folder, { size: 64 });
  const start = () => new Worker(join(folder, worker), { workerData: folder, execArgv: [] });
  const loader = new data.DataLoader(set, {
    batch: 16,
    ...(count ? { workers: { count, start } } : {}),
  });
  const seconds: number[] = [];
  for (let epoch = 0; epoch < 4; epoch++) {
    const from = performance.now();
    for await (const _ of loader);
    seconds.push((performance.now() - from) / 1000);
  }
  // Workers start in the first epoch.
  return set.length / median(seconds.slice(1));
}

export async function trainRows(selected: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  if (selected("MNIST CNN")) {
    setThreads(1);
    const [fit, bare] = await overhead(15);
    const row = { case: "MNIST CNN, batch 32", target: "wasm", peer: "loop by hand, ms" };
    const value = 100 * (fit / bare - 1);
    const note = `fit ${fit.toFixed(2)} ms of CPU a step`;
    rows.push(
      bounded({ ...row, metric: "trainer over loop", value, unit: "%", peerValue: bare, note }, 2),
    );
  }
  if (!selected("loader")) return rows;
  const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));
  try {
    await photos(folder);
    await bundleWorker(folder);
    for (const count of [0, 1, 2])
      rows.push({
        case: `loader of PNGs, ${count} workers`,
        target: "node",
        metric: "speed",
        value: await speedOf(folder, count),
        unit: "pictures/s",
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}
