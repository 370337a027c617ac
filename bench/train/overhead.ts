/**
 * What the trainer costs over a loop by hand, in a process of its own: `overhead.ts CASE
 * PAIRS` prints one line of JSON, an `Overhead`. Both loops run at once and pass a baton every few
 * steps, so that whatever else the machine does meets both alike; each block of the trainer is held
 * against the mean of the two blocks of the other loop beside it, which takes out a drift, and the
 * median of many such ratios takes out what hits one block alone.
 */
import { compile, data, nn, optim, setThreads, type Tensor, tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { settings } from "../../packages/kiln/src/devices/settings.ts";

/** Of one clock: milliseconds a step, medians, and how much longer the trainer's is. */
export interface Clock {
  readonly fit: number;
  readonly bare: number;
  /** The median ratio of neighbouring blocks less 1, in %. */
  readonly over: number;
  /** The standard error of that median, in %, from the quartiles of the ratios. */
  readonly error: number;
}

export interface Overhead {
  /** CPU time of the process, threads of the device included. */
  readonly cpu: Clock;
  readonly wall: Clock;
  readonly pairs: number;
  /** Kernels of a step of the trainer, and of the loop by hand. */
  readonly launches: readonly [number, number];
}

interface Case {
  readonly target: "js" | "wasm" | "webgpu";
  readonly net: () => nn.Sequential;
  readonly features: number;
  readonly batch: number;
  /** Steps of an epoch, and of a block: the first is a multiple of the second. */
  readonly steps: number;
  readonly block: number;
}

const mlp = (sizes: readonly number[]) =>
  new nn.Sequential(
    ...sizes
      .slice(1)
      .flatMap((to, i) => [
        new nn.Linear(sizes[i]!, to),
        ...(i < sizes.length - 2 ? [new nn.ReLU()] : []),
      ]),
  );

const cases: Readonly<Record<string, Case>> = {
  /** Two convolutions and a linear layer: that of the MNIST example. */
  cnn: {
    target: "wasm",
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
    batch: 32,
    steps: 120,
    block: 4,
  },
  /** Ten launches, small enough that what a step costs the CPU is much of it. */
  launches: {
    target: "webgpu",
    net: () => mlp([64, 64, 64, 10]),
    features: 64,
    batch: 32,
    steps: 120,
    block: 3,
  },
};

const median = (list: readonly number[]): number =>
  [...list].sort((a, b) => a - b)[list.length >> 1]!;

/** The distance between the quartiles. */
function quartiles(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.floor(0.75 * sorted.length)]! - sorted[Math.floor(0.25 * sorted.length)]!;
}

type Side = "fit" | "bare";
type Times = { readonly cpu: number; readonly wall: number };

const now = (): Times => {
  const { user, system } = process.cpuUsage();
  return { cpu: (user + system) / 1000, wall: performance.now() };
};

/** Lets one of two loops run at a time, a block of steps each, and notes what blocks took. */
class Baton {
  readonly blocks: Record<Side, Times[]> = { fit: [], bare: [] };
  readonly #waiting: Partial<Record<Side, () => void>> = {};
  readonly #idle: () => Promise<unknown>;
  #since: Times | undefined;
  #over = false;

  /** `idle` resolves once the device has done all that it was asked for. */
  constructor(idle: () => Promise<unknown>) {
    this.#idle = idle;
  }

  /** Ends the block of `side`, and resolves when its next one begins. */
  async pass(side: Side): Promise<void> {
    if (this.#over) return;
    await this.#idle();
    const end = now();
    if (this.#since)
      this.blocks[side].push({
        cpu: end.cpu - this.#since.cpu,
        wall: end.wall - this.#since.wall,
      });
    const other = side === "fit" ? "bare" : "fit";
    const next = this.#waiting[other];
    delete this.#waiting[other];
    const turn = new Promise<void>((resolve) => {
      this.#waiting[side] = resolve;
    });
    next?.();
    await turn;
    this.#since = now();
  }

  /** Both run to their ends. */
  end(): void {
    this.#over = true;
    for (const resume of Object.values(this.#waiting)) resume();
  }
}

function loader({ features, steps, batch }: Case) {
  const rows = steps * batch;
  const images = Float32Array.from({ length: rows * features }, (_, i) => (i % 97) / 97);
  const labels = Int32Array.from({ length: rows }, (_, i) => i % 2);
  const set = data.fromArrays([images, labels] as const, [[features], []]);
  return new data.DataLoader(set, { batch, shuffle: true });
}

/** The same batches, with a turn of the baton before each block. */
function inTurns(of: Case, turn: () => Promise<void>): train.Batches {
  const inner = loader(of);
  return {
    dataset: inner.dataset,
    options: inner.options,
    length: inner.length,
    async *[Symbol.asyncIterator]() {
      let n = 0;
      for await (const batch of inner) {
        if (n++ % of.block === 0) await turn();
        yield batch;
      }
    },
  };
}

/** Epochs of a loop by hand over the same model. */
function loopByHand(of: Case): (batches: train.Batches) => Promise<void> {
  const own = of.net();
  const adam = new optim.Adam(own.parameters(), { lr: 1e-3 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(own.forward(x), y);
      adam.step(loss);
      return loss;
    },
    {
      name: "byHand",
      target: of.target,
      inputs: [[of.batch, of.features], { shape: [of.batch], dtype: "i32" }],
    },
  );
  return async (batches) => {
    let loss: Tensor | undefined;
    for await (const [x, y] of batches) loss = await step(x as never, y as never);
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

const few = (of: Case): Case => ({ ...of, steps: of.block });

/** Compares blocks of one clock: each of the trainer's with its two neighbours. */
function compare({ block }: Case, { blocks }: Baton, clock: keyof Times, skip: number): Clock {
  const [own, bare] = [blocks.fit, blocks.bare].map((list) => list.map((t) => t[clock] / block));
  const ratios = own!
    .slice(0, bare!.length)
    .map((ms, i) => (i ? (2 * ms) / (bare![i - 1]! + bare![i]!) : 1))
    .slice(skip);
  return {
    fit: median(own!.slice(skip)),
    bare: median(bare!.slice(skip)),
    over: 100 * (median(ratios) - 1),
    // Of a normal law the quartiles are 1.35 σ apart, and a median's error is 1.25 σ / √n.
    error: (100 * 1.25 * (quartiles(ratios) / 1.35)) / Math.sqrt(ratios.length),
  };
}

async function overhead(of: Case, pairs: number): Promise<Overhead> {
  const fit = (batches: train.Batches, epochs: number) =>
    train.fit(of.net(), batches, {
      optimizer: (params) => new optim.Adam(params, { lr: 1e-3 }),
      loss: nn.crossEntropy,
      target: of.target,
      epochs,
      renderer: false,
    });
  const byHand = loopByHand(of);
  const counts = await launchesOf(async () => {
    await byHand(loader(few(of)));
    await fit(loader(few(of)), 1);
  });
  const launches = [counts.get("train") ?? 0, counts.get("byHand") ?? 0] as const;
  const one = tensor([1]);
  const probe = compile((x: Tensor) => x.add(1), { target: of.target });
  const baton = new Baton(async () => (await probe(one)).data());
  // The first epochs compile and warm up.
  const skip = Math.ceil((2 * of.steps) / of.block);
  const epochs = Math.ceil(((skip + pairs) * of.block) / of.steps) + 1;
  let left = skip + pairs + 1;
  const stop = new AbortController();
  const trainer = fit(
    inTurns(of, async () => {
      if (left-- === 0) {
        baton.end();
        stop.abort();
      }
      await baton.pass("fit");
    }),
    epochs,
  );
  const hand = async () => {
    const batches = inTurns(of, () => baton.pass("bare"));
    for (let epoch = 0; epoch < epochs; epoch++) await byHand(batches);
  };
  await Promise.all([trainer, hand()]);
  const [cpu, wall] = (["cpu", "wall"] as const).map((clock) => compare(of, baton, clock, skip));
  return { cpu: cpu!, wall: wall!, pairs, launches };
}

const [name = "cnn", pairs = "100"] = process.argv.slice(2);
settings.softwareAdapter = true;
setThreads(1);
console.log(JSON.stringify(await overhead(cases[name]!, Number(pairs))));
process.exit(0);
