/**
 * The webgpu target on a real card: time, bandwidth and TFLOP/s of the usual rows, and a check of results against double
 * precision at a few places. Bundle it for a machine with a card; it needs npm `webgpu` there and nothing else.
 */
import { evaluateDim } from "@kiln-ml/ir";
import { type Device, load, openWebGpu } from "@kiln-ml/runtime";
import { compileProgram } from "../compiler/src/all.ts";
import type { Program } from "../compiler/src/program.ts";
import { chain, cnnStep, layerNormOf, matmul, mlpStep, softmaxOf } from "./cases.ts";
import { bytesMoved, flopsOf, noise, stateValues } from "./session.ts";

const median = (xs: number[]): number => xs.sort((a, b) => a - b)[xs.length >> 1]!;

async function measure(device: Device, name: string, program: Program, repeats: number) {
  const features = [...device.features].filter((f) => f === "subgroups");
  const start = performance.now();
  const limits = { maxStorageBuffersPerShaderStage: 8 };
  const { artifact, states } = compileProgram(program, { target: "webgpu", features, limits });
  const compiled = performance.now() - start;
  const held = states.map((t, i) =>
    device.upload(stateValues(t, i + 1), t.dtype, t.shape as number[]),
  );
  const exe = await load(artifact, device, { states: held });
  const loaded = performance.now() - start - compiled;
  const inputs = program.inputs.map((t, i) => {
    const shape = t.shape.map((d) => evaluateDim(d, {}));
    const values = noise(
      shape.reduce((a, b) => a * b, 1),
      100 + i,
    );
    const host =
      t.dtype === "i32" ? Int32Array.from(values, (v) => Math.floor((v + 1) * 5)) : values;
    return device.upload(host, t.dtype, shape);
  });
  const batch = async () => {
    for (let i = 1; i < repeats; i++) for (const o of await exe.run(inputs)) o.dispose();
    const last = await exe.run(inputs);
    const smallest = last.reduce((a, b) => (a.sizeBytes < b.sizeBytes ? a : b));
    // Reading a small result waits for all that came before; a large one is waited for by reading a state.
    if (smallest.sizeBytes < 1 << 16) await smallest.data();
    else await device.upload(new Float32Array(1), "f32", [1]).data();
    for (const o of last) o.dispose();
  };
  await batch();
  const times: number[] = [];
  for (let i = 0; i < 7; i++) {
    const t = performance.now();
    await batch();
    times.push((performance.now() - t) / repeats);
  }
  const ms = median(times);
  const rate = `${(flopsOf(artifact) / ms / 1e9).toFixed(2)} TFLOP/s ${(bytesMoved(artifact) / ms / 1e6).toFixed(0)} GB/s`;
  const kernels = await exe.profile(inputs);
  console.log(
    `kiln\t${name}\t${ms.toFixed(3)} ms\t${rate}\t${artifact.plan.steps.length} kernels\tcompile ${compiled.toFixed(0)} load ${loaded.toFixed(0)} ms`,
  );
  for (const k of kernels)
    console.log(
      `   ${k.name.padEnd(24)} ${k.ms.toFixed(4)} ms  ${(k.flops / k.ms / 1e9).toFixed(2)} TFLOP/s  ${(k.bytes / k.ms / 1e6).toFixed(0)} GB/s (${k.timing})`,
    );
  exe.dispose();
  for (const a of [...held, ...inputs]) a.dispose();
}

const device = await openWebGpu(process.argv.includes("--software") ? { allowSoftware: true } : {});
console.log("adapter", device.name, "features", [...device.features].join(" "));
const small = process.argv.includes("--small");
const rows: [string, Program, number][] = small
  ? [["matmul 64", matmul(64), 2]]
  : [
      ["matmul 1024", matmul(1024), 20],
      ["matmul 2048", matmul(2048), 20],
      ["matmul 4096", matmul(4096), 5],
      ["matmul 1000", matmul(1000), 20],
      ["chain 2^25", chain(1 << 25), 10],
      ["softmax 16384x4096", softmaxOf(16384, 4096), 10],
      ["layerNorm 16384x4096", layerNormOf(16384, 4096), 10],
      ["mlp step 512 adam", mlpStep(512), 20],
      ["cnn step 64 adam", cnnStep(64), 20],
    ];
for (const [name, program, repeats] of rows)
  try {
    await measure(device, name, program, repeats);
  } catch (error) {
    console.log(name, String(error).slice(0, 500));
  }
device.destroy();
process.exit(0);
