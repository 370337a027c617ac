/**
 * The webgpu target on a real card beside its peers: medians of 7, kernels, bytes, bandwidth or TFLOP/s, and the fraction of a copy
 * measured in the same run. `npm run bench -- --gpu FOLDER/bench.mjs` bundles it for a machine with a card, and the scripts of
 * TensorFlow.js, jax-js and PyTorch beside it; there, with npm `webgpu` and the peers' packages in FOLDER/node_modules,
 * `KILN_PEERS=FOLDER node FOLDER/bench.mjs` measures all of them. The last line is the table as JSON. `--only=REGEX` picks rows,
 * `--kernels` lists kernels, `--strict` fails where a goal is missed, `--small --software` tries it all without a card.
 */
import { evaluateDim } from "@kiln-ml/ir";
import { type Device, type Executable, load, openWebGpu } from "@kiln-ml/runtime";
import { compileProgram } from "../compiler/src/all.ts";
import type { Program } from "../compiler/src/program.ts";
import { loadTarget } from "../compiler/src/targets/index.ts";
import { type GpuRow, gpuRows, smallRows } from "./gpu-cases.ts";
import { Copies, type CopyRates } from "./gpu-copy.ts";
import { halfRows, smallHalves } from "./gpu-halves.ts";
import { peerTimes, timesOf } from "./gpu-peers.ts";
import { gpuTable } from "./gpu-table.ts";
import { classesOf, inputHalves, inputValues } from "./noise.ts";
import { bytesMoved, flopsOf, stateValues } from "./session.ts";

const flag = (name: string): boolean => process.argv.includes(`--${name}`);
const median = (xs: readonly number[]): number => [...xs].sort((a, b) => a - b)[xs.length >> 1]!;
const round = (x: number): number => Number(x.toPrecision(4));

/** The compiled program with its inputs on the device. */
async function open(device: Device, program: Program, more: readonly string[]) {
  const features = [...device.features].filter(
    (f) => f === "subgroups" || more.some((name) => f.startsWith(name)),
  );
  const { limits } = device;
  const { artifact, states } = compileProgram(program, { target: "webgpu", features, limits });
  const held = states.map((t, i) =>
    device.upload(stateValues(t, i + 1), t.dtype, t.shape as number[]),
  );
  const exe = await load(artifact, device, { states: held });
  const inputs = program.inputs.map((t, i) => {
    const shape = t.shape.map((d) => evaluateDim(d, {}));
    if (t.dtype === "f16") return device.upload(inputHalves(t.dtype, i, shape), t.dtype, shape);
    const values = inputValues(i, shape);
    const host = t.dtype === "i32" ? classesOf(values) : values;
    return device.upload(host, t.dtype, shape);
  });
  const dispose = (): void => {
    exe.dispose();
    for (const a of [...held, ...inputs]) a.dispose();
  };
  return { artifact, exe, inputs, dispose };
}

type Inputs = Parameters<Executable["run"]>[0];

/** Reading a number waits for all that came before. */
async function settled(device: Device): Promise<void> {
  const probe = device.upload(new Float32Array(1), "f32", [1]);
  await probe.data();
  // Or it would keep the memory that the next run's result had before.
  probe.dispose();
}

/** Milliseconds of a run in a loop, and microseconds until a run gives the thread back, as the mean of a loop: some submit for others. */
async function timed(device: Device, exe: Executable, inputs: Inputs, repeats: number) {
  const [times, calls]: [number[], number[]] = [[], []];
  for (let i = 0; i < 9; i++) {
    let own = 0;
    const start = performance.now();
    for (let j = 0; j < repeats; j++) {
      const before = performance.now();
      const run = exe.run(inputs);
      own += performance.now() - before;
      for (const o of await run) o.dispose();
    }
    await settled(device);
    if (i < 2) continue;
    times.push((performance.now() - start) / repeats);
    calls.push((own * 1e3) / repeats);
  }
  return { ms: median(times), cpu: median(calls) };
}

async function measure(device: Device, row: GpuRow, copy: CopyRates) {
  const start = performance.now();
  const { artifact, exe, inputs, dispose } = await open(device, row.build(), row.features ?? []);
  const ready = performance.now() - start;
  await copies.warmUp();
  const { ms, cpu } = await timed(device, exe, inputs, row.repeats);
  const [bytes, flops] = [bytesMoved(artifact), row.flops ?? flopsOf(artifact)];
  await copies.warmUp();
  const kernels = await exe.profile(inputs);
  const busy = kernels.reduce((sum, k) => sum + k.ms, 0);
  const rate = bytes / ms / 1e6;
  console.log(
    `kiln\t${row.name}\t${ms.toFixed(4)} ms\t${busy.toFixed(4)} ms in kernels\t${(flops / ms / 1e9).toFixed(2)} TFLOP/s\t${rate.toFixed(0)} GB/s` +
      `${row.memory ? ` (${(rate / copy.wide).toFixed(2)} of copy)` : ""}\t${artifact.plan.steps.length} kernels\tcpu ${cpu.toFixed(0)} µs\tready in ${ready.toFixed(0)} ms`,
  );
  if (flag("kernels"))
    for (const k of kernels)
      console.log(
        `   ${k.name.padEnd(24)} ${k.ms.toFixed(4)} ms  ${(k.flops / k.ms / 1e9).toFixed(2)} TFLOP/s  ${(k.bytes / k.ms / 1e6).toFixed(0)} GB/s (${k.timing})`,
      );
  dispose();
  return {
    case: row.name,
    ms: round(ms),
    kernelMs: round(busy),
    kernels: artifact.plan.steps.length,
    bytes,
    gbPerS: round(rate),
    tflopPerS: round(flops / ms / 1e9),
    cpuMicroseconds: round(cpu),
    ...(row.memory ? { ofCopy: round(rate / copy.wide) } : {}),
  };
}

await loadTarget("webgpu");
// Matrix units are among what Dawn calls unsafe: experimental, that is.
const { create, globals } = await import("webgpu");
Object.assign(globalThis, globals);
const gpu = create([
  "enable-dawn-features=vulkan_enable_f16_on_nvidia,allow_unsafe_apis",
  "disable-dawn-features=timestamp_quantization",
]);
const device = await openWebGpu({ gpu, allowSoftware: flag("software") });
const raw = (device.driver as unknown as { device: GPUDevice }).device;
console.log("adapter", device.name, "features", [...device.features].join(" "));
const copies = new Copies(raw, flag("small") ? 1 << 16 : undefined);
const copy = await copies.rates();
console.log(`copy\t${copy.wide.toFixed(0)} GB/s by four, ${copy.scalar.toFixed(0)} GB/s by one`);
const only = new RegExp(process.argv.find((a) => a.startsWith("--only="))?.slice(7) ?? "");
const results = [];
const has = (row: GpuRow): boolean =>
  (row.features ?? []).every((name) => [...device.features].some((f) => f.startsWith(name)));
const all = flag("small") ? [...smallRows, ...smallHalves] : [...gpuRows, ...halfRows];
const selected = all.filter((row) => only.test(row.name) && has(row));
for (const row of selected)
  try {
    results.push({ row, result: await measure(device, row, copy) });
  } catch (error) {
    console.log(row.name, String(error).slice(0, 500));
  }
copies.destroy();
device.destroy();
const peers = peerTimes(process.env.KILN_PEERS, selected, !flag("small"));
const measured = results.map(({ row, result }) => {
  const times = timesOf(peers, row).map((p) => [p.peer, p.ms]);
  return { goal: row.goal, result: { ...result, peers: Object.fromEntries(times) } };
});
const { text, missed } = gpuTable(measured.map(({ goal, result }) => ({ ...result, goal })));
console.log(`\n${text}\n\n${missed} goals missed\n`);
const rows = measured.map(({ result }) => result);
const head = { adapter: device.name, copy: { wide: round(copy.wide), scalar: round(copy.scalar) } };
console.log(JSON.stringify({ ...head, rows }));
process.exit(flag("strict") && missed > 0 ? 1 : 0);
