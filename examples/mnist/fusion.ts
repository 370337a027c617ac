/**
 * What fusion does for the network of the example: the training step and the inference, each compiled twice and run
 * on a device of its own, so that the peak of memory is that of one program.
 */
import { type Artifact, evaluateSize } from "@kiln-ml/artifact";
import { createCpuDevice, initialStates, load } from "@kiln-ml/runtime";
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { images, labels, Net } from "./net.ts";
import { options } from "./options.ts";

const { batch, runs } = options;

const net = new Net();
const adam = new optim.Adam(net.parameters(), { lr: 0.001 });

const trainingStep = (fusion: boolean) =>
  compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      adam.step(loss);
      return loss;
    },
    { target: "js", fusion, inputs: [images, labels] },
  );

const inference = (fusion: boolean) =>
  compile((x: Tensor) => net.forward(x), { target: "js", fusion, inputs: [images] });

const x = Float32Array.from({ length: batch * 784 }, (_, i) => ((i * 37) % 101) / 101);
const y = Int32Array.from({ length: batch }, (_, i) => i % 10);

async function measure(artifact: Artifact): Promise<string[]> {
  const device = createCpuDevice();
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  const inputs = artifact.signature.inputs.length === 2 ? [x, y] : [x];
  const times: number[] = [];
  for (let i = -2; i < runs; i++) {
    const started = performance.now();
    for (const output of await program.run(inputs)) output.dispose();
    if (i >= 0) times.push(performance.now() - started);
  }
  const dims = { [artifact.signature.dims[0]!.name]: batch };
  const moved = artifact.plan.steps.reduce((sum, s) => sum + evaluateSize(s.bytes, dims), 0);
  const median = times.sort((a, b) => a - b)[runs >> 1]!;
  const megabytes = (n: number) => `${(n / 1e6).toFixed(1)} MB`;
  return [
    `${median.toFixed(1)} ms`,
    `${artifact.plan.steps.length}`,
    megabytes(moved),
    megabytes(device.memory().peak),
  ];
}

const rows = [["", "fusion", "time", "kernels", "bytes moved", "peak memory"]];
for (const [name, program] of [
  ["training step", trainingStep],
  ["inference", inference],
] as const)
  for (const fusion of [true, false])
    rows.push([name, fusion ? "on" : "off", ...(await measure(await program(fusion).artifact()))]);

const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
const line = (row: string[]) =>
  row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  ");
console.log(`\none batch of ${batch}, median of ${runs} runs\n${rows.map(line).join("\n")}`);
