/**
 * Runs what train.ts wrote, in a process without a compiler: predicts the test digits, trains a few steps further, and
 * fails unless both agree with the process that compiled them. Imports the runtime and artifacts only.
 *
 * On js and wasm they agree to the bit. For webgpu an artifact keeps to the limits that every adapter has, where the
 * process before used those of its own: its sums are in another order.
 */
import { readFile } from "node:fs/promises";
import { readSafetensors } from "@kiln-ml/artifact";
import { readArtifact } from "@kiln-ml/artifact/node";
import { initialStates, load } from "@kiln-ml/runtime";
import { openDevice } from "./device.ts";
import { foreignModules } from "./loaded-modules.ts";
import { options } from "./options.ts";

const read = (name: string) => readArtifact(`${options.out}/${name}`);
const artifacts = {
  infer: await read("mnist-infer.kiln"),
  step: await read("mnist-step.kiln"),
};
const device = await openDevice(artifacts.infer.target);

async function open(name: keyof typeof artifacts) {
  const artifact = artifacts[name];
  return load(artifact, device, { states: initialStates(artifact, device) });
}

const file = await readFile(`${options.out}/mnist-check.safetensors`);
const { tensors } = readSafetensors(file);
const floats = (name: string) => new Float32Array(tensors[name]!.data.slice().buffer);
const integers = (name: string) => new Int32Array(tensors[name]!.data.slice().buffer);

const exact = device.target !== "webgpu";
const differ = exact ? "differ in any bit" : "differ by more than 1e-4";

/** As bits, so that −0 is not 0 and a NaN is itself. */
function differences(a: Float32Array, b: Float32Array): number {
  const [x, y] = [new Uint32Array(a.buffer), new Uint32Array(b.buffer)];
  const apart = (i: number) => (exact ? x[i] !== y[i] : !(Math.abs(a[i]! - b[i]!) <= 1e-4));
  return a.filter((_, i) => apart(i)).length + Math.abs(a.length - b.length);
}

const infer = await open("infer");
const labels = integers("test.labels");
const started = performance.now();
const [scores, digits] = await infer.run([floats("test.images")]);
const elapsed = performance.now() - started;
const guesses = await digits!.data();
const right = labels.filter((digit, i) => digit === guesses[i]).length;
const scoresApart = differences((await scores!.data()) as Float32Array, floats("test.scores"));
console.log(
  `\nmnist-infer.kiln, runtime alone on ${device.name}: ${right} of ${labels.length} right in ${elapsed.toFixed(0)} ms, ${scoresApart} of ${scores!.shape.join("×")} scores ${differ}`,
);

const step = await open("step");
const [images, targets] = [floats("next.images"), integers("next.labels")];
const [steps, batch] = tensors["next.labels"]!.shape as [number, number];
const losses = new Float32Array(steps);
for (let i = 0; i < steps; i++) {
  const x = images.subarray(i * batch * 784, (i + 1) * batch * 784);
  const [loss] = await step.run([x, targets.subarray(i * batch, (i + 1) * batch)]);
  losses[i] = await loss!.item();
}
const lossesApart = differences(losses, floats("next.losses"));
console.log(
  `mnist-step.kiln, runtime alone: ${steps} more steps, loss ${[...losses].map((l) => l.toFixed(4)).join(" ")}, ${lossesApart} ${differ}`,
);

const { counts, foreign } = foreignModules();
console.log(`modules loaded: ${counts}; of the compiler: ${foreign.length || "none"}`);

if (scoresApart || lossesApart || foreign.length) {
  const why = foreign.length ? `loaded ${foreign.join(", ")}` : "results differ between processes";
  console.error(`deploy: ${why}`);
  process.exitCode = 1;
}
