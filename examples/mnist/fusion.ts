/**
 * What fusion does for the network of the example: the training step and the inference, each compiled twice and run
 * on a device of its own, so that the peak of memory is that of one program.
 */
import { type Artifact, evaluateSize } from "@kiln-ml/artifact";
import { initialStates, load } from "@kiln-ml/runtime";
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { openDevice } from "./device.ts";
import { images, labels, Net } from "./net.ts";
import { options } from "./options.ts";

const { batch, runs, target } = options;

const net = new Net();
const adam = new optim.Adam(net.parameters(), { lr: 0.001 });

const trainingStep = (fusion: boolean) =>
  compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      adam.step(loss);
      return loss;
    },
    { target, fusion, inputs: [images, labels] },
  );

const inference = (fusion: boolean) =>
  compile((x: Tensor) => net.forward(x), { target, fusion, inputs: [images] });

const x = Float32Array.from({ length: batch * 784 }, (_, i) => ((i * 37) % 101) / 101);
const y = Int32Array.from({ length: batch }, (_, i) => i % 10);

/** A program on a device of its own, and the fastest of its runs. */
async function prepare(artifact: Artifact) {
  const device = await openDevice(artifact.target);
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  const inputs = artifact.signature.inputs.length === 2 ? [x, y] : [x];
  let fastest = Number.POSITIVE_INFINITY;
  const run = async () => {
    const started = performance.now();
    for (const output of await program.run(inputs)) output.dispose();
    fastest = Math.min(fastest, performance.now() - started);
  };
  const dims = { [artifact.signature.dims[0]!.name]: batch };
  const moved = artifact.plan.steps.reduce((sum, s) => sum + evaluateSize(s.bytes, dims), 0);
  const megabytes = (n: number) => `${(n / 1e6).toFixed(1)} MB`;
  const row = () => [
    `${fastest.toFixed(1)} ms`,
    `${artifact.plan.steps.length}`,
    megabytes(moved),
    megabytes(device.memory().peak),
  ];
  return { run, row, close: () => device.destroy() };
}

const rows = [["", "fusion", "time", "kernels", "bytes moved", "peak memory"]];
for (const [name, program] of [
  ["training step", trainingStep],
  ["inference", inference],
] as const) {
  const on = await prepare(await program(true).artifact());
  const off = await prepare(await program(false).artifact());
  // In turns, so that whatever else the machine does slows both.
  for (let i = 0; i < runs; i++) for (const { run } of [on, off]) await run();
  rows.push([name, "on", ...on.row()], [name, "off", ...off.row()]);
  for (const { close } of [on, off]) close();
}

const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
const line = (row: string[]) =>
  row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  ");
console.log(`\none batch of ${batch}, the fastest of ${runs} runs\n${rows.map(line).join("\n")}`);
