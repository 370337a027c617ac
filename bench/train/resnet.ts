/**
 * The step of a ResNet on images of CIFAR's size beside PyTorch's, on one thread each. Both
 * processes live at once and take turns, a few steps each, and the CPU time of each is compared:
 * the time of day would measure what else the machine does.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { pythonWithTorch, relaxedFlag } from "../cpu/columns.ts";
import { timingOf, worse } from "../measure.ts";
import { compared, type Row } from "../row.ts";

const cases = [
  { name: "ResNet-20 on 32×32, batch 32", net: "resnet20", batch: 32, rounds: 9, steps: 2 },
  { name: "ResNet-18 on 32×32, batch 8", net: "resnet18", batch: 8, rounds: 5, steps: 1 },
] as const;

interface Answer {
  /** CPU milliseconds a step. */
  readonly cpu: number;
  readonly loss: number;
}

/** A process that answers a number of steps, a line, with what they took. */
class Stepper {
  /** What it says it is. */
  readonly about: Promise<string>;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(file: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(file, args, { env, stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.about = this.#line<{ about: string }>().then(({ about }) => about);
  }

  async #line<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the process of a ResNet's step ended");
    return JSON.parse(value) as T;
  }

  step(count: number): Promise<Answer> {
    this.#child.stdin.write(`${count}\n`);
    return this.#line<Answer>();
  }

  end(): void {
    this.#child.kill();
  }
}

function ours(net: string, batch: number): Stepper {
  const source = ["--conditions=@kiln-ml/source", "--import", "tsx"];
  const args = [...relaxedFlag, ...source, "bench/train/resnet-step.ts", net, String(batch)];
  return new Stepper(process.execPath, args, process.env);
}

function torch(python: string, net: string, batch: number): Stepper {
  // What is set for old builds of OpenBLAS slows others.
  const { OPENBLAS_CORETYPE: _core, OPENBLAS_L2_SIZE: _size, ...rest } = process.env;
  const env = { ...rest, OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1" };
  return new Stepper(python, ["bench/train/resnet.py", net, String(batch)], env);
}

async function resnetRow(
  { name, net, batch, rounds, steps }: (typeof cases)[number],
  python: string | undefined,
): Promise<Row> {
  const both = [ours(net, batch), ...(python ? [torch(python, net, batch)] : [])];
  try {
    const cpu = both.map((): number[] => []);
    const losses: number[] = [];
    for (let round = -1; round < rounds; round++)
      for (const [i, process] of both.entries()) {
        const found = await process.step(steps);
        losses[i] = found.loss;
        // The first steps compile and warm up.
        if (round >= 0) cpu[i]!.push(found.cpu);
      }
    const [own, peer] = cpu.map(timingOf);
    const metric = "CPU time a step, one thread";
    const row = { case: name, target: "wasm", metric, value: own!.median, unit: "ms" };
    if (!peer) return { ...row, spread: own!.spread, note: "no PyTorch on this machine" };
    const note = `losses after ${(rounds + 1) * steps} steps ${losses.map((x) => x.toFixed(2)).join(" and ")}`;
    const spread = worse(own!, peer);
    const against = { peer: `${await both[1]!.about}, ms`, peerValue: peer.median };
    return { ...compared({ ...row, ...against }, 1 / 3), goal: "≤ 3× its time", spread, note };
  } finally {
    for (const process of both) process.end();
  }
}

export async function resnetRows(selected: (name: string) => boolean): Promise<Row[]> {
  const chosen = cases.filter(({ name }) => selected(name));
  const python = chosen.length ? pythonWithTorch() : undefined;
  const rows: Row[] = [];
  for (const one of chosen) rows.push(await resnetRow(one, python));
  return rows;
}
