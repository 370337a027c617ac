/**
 * What the trainer costs over a loop by hand, in a process of its own: `train-overhead.ts
 * wasm|webgpu ROUNDS` prints one line of JSON, an `Overhead`. Epochs of both loops take turns in
 * CPU time, so that what else the machine does meets both, and the costs of both are compared epoch
 * by epoch.
 */
import { compile, data, nn, optim, setThreads, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { settings } from "../packages/kiln/src/devices/settings.ts";

export interface Overhead {
  /** CPU milliseconds a step: medians. */
  readonly fit: number;
  readonly bare: number;
  /** The median, over pairs of epochs, of how much longer the trainer's took, in %. */
  readonly over: number;
  /** Kernels of a step of the trainer, and of the loop by hand. */
  readonly launches: readonly [number, number];
}

type Case = Readonly<{ net: () => nn.Sequential; features: number; steps: number }>;

const cases: Readonly<Record<string, Case>> = {
  /** Two convolutions and a linear layer: that of the MNIST example. */
  wasm: {
    net: () =>
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
      ),
    features: 784,
    steps: 120,
  },
  /** Ten launches, small enough that what a step costs the CPU is much of it. */
  webgpu: {
    net: () =>
      new nn.Sequential(
        new nn.Linear(64, 64),
        new nn.ReLU(),
        new nn.Linear(64, 64),
        new nn.ReLU(),
        new nn.Linear(64, 10),
      ),
    features: 64,
    steps: 30,
  },
};

const batch = 32;
const median = (list: readonly number[]): number =>
  [...list].sort((a, b) => a - b)[list.length >> 1]!;

function loader({ features, steps }: Case) {
  const rows = steps * batch;
  const images = Float32Array.from({ length: rows * features }, (_, i) => (i % 97) / 97);
  const labels = Int32Array.from({ length: rows }, (_, i) => i % 10);
  const set = data.fromArrays([images, labels] as const, [[features], []]);
  return new data.DataLoader(set, { batch, shuffle: true });
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** An epoch of a loop by hand over the same model. */
function loopByHand(of: Case, target: "wasm" | "webgpu"): () => Promise<void> {
  const [own, batches] = [of.net(), loader(of)];
  const adam = new optim.Adam(own.parameters(), { lr: 1e-3 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(own.forward(x), y);
      adam.step(loss);
      return loss;
    },
    {
      name: "byHand",
      target,
      inputs: [[batch, of.features], { shape: [batch], dtype: "i32" }],
    },
  );
  return async () => {
    let loss: Tensor | undefined;
    for await (const [x, y] of batches) loss = await step(x, y);
    await loss!.item();
  };
}

/** Runs `work` and gives the number of kernels of each program that ran. */
async function launchesOf(work: () => Promise<unknown>): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  settings.profile = (program, timings) => {
    counts.set(program, timings.length);
  };
  await work();
  delete settings.profile;
  return counts;
}

async function overhead(target: "wasm" | "webgpu", rounds: number): Promise<Overhead> {
  const of = cases[target]!;
  const byHand = loopByHand(of, target);
  const fit = (epochs: number, callbacks: train.Callback[]) =>
    train.fit(of.net(), loader(of), {
      optimizer: (params) => new optim.Adam(params, { lr: 1e-3 }),
      loss: nn.crossEntropy,
      target,
      epochs,
      renderer: false,
      callbacks,
    });
  const counts = await launchesOf(async () => {
    await byHand();
    await fit(1, []);
  });
  const launches = [counts.get("train") ?? 0, counts.get("byHand") ?? 0] as const;
  const [own, bare]: [number[], number[]] = [[], []];
  let since = 0;
  const turns: train.Callback = {
    name: "bench",
    async onEpochEnd() {
      own.push((cpuMs() - since) / of.steps);
      const start = cpuMs();
      await byHand();
      bare.push((cpuMs() - start) / of.steps);
      since = cpuMs();
    },
  };
  await fit(rounds + 3, [turns]);
  // The first epochs compile and warm up.
  const pairs = own.map((ms, i) => [ms, bare[i]!] as const).slice(3);
  return {
    fit: median(pairs.map(([ms]) => ms)),
    bare: median(pairs.map(([, ms]) => ms)),
    over: 100 * (median(pairs.map(([a, b]) => a / b)) - 1),
    launches,
  };
}

const [target = "wasm", rounds = "15"] = process.argv.slice(2);
settings.softwareAdapter = true;
setThreads(1);
console.log(JSON.stringify(await overhead(target as "wasm" | "webgpu", Number(rounds))));
process.exit(0);
