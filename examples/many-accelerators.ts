/**
 * The same training step on one device and on many: a network on the digits, data-parallel over
 * every card that JAX finds, or over devices made of the processor where there is none. Needs
 * Python with jax.
 *
 *     node examples/many-accelerators.ts [--epochs 3] [--devices 8] [--fsdp] [--quick]
 *
 * Without Python it says what is missing and how to get it, and trains on this machine's own
 * target.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { dataParallel, fsdp, mesh, type Xla, xla } from "@kiln-ml/xla";
import { data, nn, optim } from "kiln-ml";
import * as train from "kiln-ml/train";
import { digits, quick } from "./data.ts";

const { values } = parseArgs({
  options: {
    epochs: { type: "string", default: quick ? "1" : "3" },
    devices: { type: "string" },
    fsdp: { type: "boolean", default: false },
  },
  strict: false,
});

/** Cards that JAX finds; 0 where it finds none, or is not there. */
function cards(): number {
  const count = "import jax; print(sum(d.platform != 'cpu' for d in jax.devices()))";
  const found = spawnSync(process.env.KILN_PYTHON ?? "python3", ["-c", count]);
  return Number(found.stdout?.toString().trim().split("\n").at(-1)) || 0;
}

/** The engine, or undefined with what it lacks. */
async function engineHere(): Promise<Xla | undefined> {
  const found = cards();
  const size = Number(values.devices ?? (found || 8));
  const shard = values.fsdp ? fsdp() : dataParallel();
  const engine = xla({ mesh: mesh({ data: size }), shard, virtual: found < size });
  try {
    console.log(`on ${(await engine.open()).name}`);
    return engine;
  } catch (error) {
    console.log(`${(error as Error).message}\nuntil then, on this machine's own target:`);
    return undefined;
  }
}

const engine = await engineHere();
const [learn] = data.split(await digits(), quick ? [0.3, 0.1] : [0.9, 0.1], 1);
// A short batch at the end would not divide over the devices.
const loader = new data.DataLoader(learn!, { batch: 128, shuffle: true, seed: 1, dropLast: true });

nn.seed(1);
const net = new nn.Sequential(
  new nn.Linear(784, 512),
  new nn.ReLU(),
  new nn.Dropout(0.1),
  new nn.Linear(512, 10),
);
const history = await train.fit(net, loader, {
  optimizer: (p) => new optim.AdamW(p, { lr: 1e-3 }),
  loss: nn.crossEntropy,
  metrics: [train.metrics.accuracy()],
  epochs: Number(values.epochs),
  ...(engine ? { engine } : {}),
});
const { loss, accuracy } = history.epochs.at(-1)!.logs;
console.log(`loss ${Number(loss).toFixed(4)}, accuracy ${Number(accuracy).toFixed(3)}`);
engine?.close();
