/**
 * A small run in a process of its own, to be killed and resumed: dropout, a schedule, accumulation, metrics and a shuffled loader
 * whose last batch is smaller. Prints the bits of everything in the end.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readSafetensors } from "@kiln-ml/artifact";
import { data, nn, optim, setDefaultTarget } from "kiln-ml";
import * as train from "kiln-ml/train";

const [folder = "", target = "js", dieAt = "0", delayMs = "0"] = process.argv.slice(2);
setDefaultTarget(target as "js" | "wasm");
nn.seed(7);
const samples = 42;
const x = Float32Array.from({ length: 4 * samples }, (_, i) => Math.sin(i * 1.7));
const y = Int32Array.from({ length: samples }, (_, i) => (x[4 * i]! + x[4 * i + 1]! > 0 ? 1 : 0));
const set = data.fromArrays([x, y], [[4], []]);
const net = new nn.Sequential(new nn.Linear(4, 8), new nn.Dropout(0.3), new nn.Linear(8, 2));
const die: train.Callback = {
  name: "die",
  onStepEnd(run) {
    // What a power cut does: no handler runs. With a delay it comes while something else is done, such as a write.
    if (run.step !== Number(dieAt)) return;
    if (delayMs === "0") process.kill(process.pid, "SIGKILL");
    setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(delayMs));
  },
};
const history = await train.fit(net, new data.DataLoader(set, { batch: 8, shuffle: true }), {
  optimizer: (params) => new optim.Adam(params, { lr: optim.schedule.cosine(0.05, 24) }),
  loss: nn.crossEntropy,
  metrics: [train.metrics.accuracy()],
  validation: new data.DataLoader(set, { batch: 16 }),
  epochs: 4,
  accumulate: 2,
  callbacks: [
    die,
    train.checkpoint(folder, { keep: 2, every: 1, best: "val.loss" }),
    train.earlyStopping({ patience: 10 }),
  ],
  resume: folder,
  renderer: false,
});
const { tensors } = readSafetensors(readFileSync(`${folder}/step-00000024.safetensors`));
const hash = createHash("sha256");
for (const name of Object.keys(tensors).sort()) hash.update(name).update(tensors[name]!.data);
for (const { logs } of history.epochs) hash.update(JSON.stringify(logs));
console.log(hash.digest("hex"), Object.keys(tensors).length, history.epochs.length);
