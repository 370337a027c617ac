/**
 * The webgpu target on a real card beside its peers, in two tables: kernels (medians of 7, bytes,
 * bandwidth or TFLOP/s, and the fraction of a copy measured in the same run) and whole networks.
 * `npm run bench -- --gpu FOLDER/bench.mjs` bundles it for a machine with a card, and the scripts
 * of TensorFlow.js, jax-js and PyTorch beside it; there, with npm `webgpu` and the peers' packages
 * in FOLDER/node_modules, `KILN_PEERS=FOLDER node FOLDER/bench.mjs` measures all of them. The last
 * line is both tables as JSON. `--part=rows` and `--part=networks` print one of them,
 * `--only=REGEX` picks rows, `--kernels` lists kernels, `--strict` fails where a goal is missed,
 * `--small --software` tries it all without a card.
 */
import { type Device, openWebGpu } from "@kiln-ml/runtime";
import { loadTarget } from "../compiler/src/targets/index.ts";
import { type GpuRow, gpuRows, smallRows } from "./gpu-cases.ts";
import { Copies, type CopyRates } from "./gpu-copy.ts";
import { halfRows, smallHalves } from "./gpu-halves.ts";
import { networkRows, smallNetworks } from "./gpu-network-cases.ts";
import { cardOf, measureNetwork, networksTable, withPeers } from "./gpu-networks.ts";
import { networkTimes, peerTimes, timesOf } from "./gpu-peers.ts";
import { featuresOf, open, round, timed } from "./gpu-session.ts";
import { gpuTable } from "./gpu-table.ts";
import { bytesMoved, flopsOf } from "./session.ts";

const flag = (name: string): boolean => process.argv.includes(`--${name}`);

async function measure(device: Device, row: GpuRow, copy: CopyRates) {
  const start = performance.now();
  const { artifact, exe, inputs, dispose } = await open(device, row.build(), {
    features: featuresOf(device, row.features ?? []),
  });
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
const part = process.argv.find((a) => a.startsWith("--part="))?.slice(7);
const has = (row: GpuRow): boolean =>
  (row.features ?? []).every((name) => [...device.features].some((f) => f.startsWith(name)));

/** What a measurement gives for each of some rows; one that fails says so and gives nothing. */
async function each<R extends { readonly name: string }, T>(
  rows: readonly R[],
  measured: (row: R) => Promise<T>,
): Promise<{ row: R; result: T }[]> {
  const out: { row: R; result: T }[] = [];
  for (const row of rows)
    try {
      out.push({ row, result: await measured(row) });
    } catch (error) {
      console.log(row.name, String(error).slice(0, 500));
    }
  return out;
}

const small = flag("small");
const all = small ? [...smallRows, ...smallHalves] : [...gpuRows, ...halfRows];
const selected = part === "networks" ? [] : all.filter((row) => only.test(row.name) && has(row));
const results = await each(selected, (row) => measure(device, row, copy));
const networks = (part === "rows" ? [] : small ? smallNetworks : networkRows).filter(
  (row) => only.test(row.name) && (!row.half || device.features.has("shader-f16")),
);
const found = await each(networks, (row) =>
  measureNetwork(device, row, copy.wide, () => copies.warmUp()),
);
copies.destroy();
device.destroy();
const folder = process.env.KILN_PEERS;
const peers = selected.length ? peerTimes(folder, selected, !small) : [];
const measured = results.map(({ row, result }) => {
  const times = timesOf(peers, row).map((p) => [p.peer, p.ms]);
  return { goal: row.goal, result: { ...result, peers: Object.fromEntries(times) } };
});
let missed = 0;
function show(table: { readonly text: string; readonly missed: number }): void {
  console.log(`\n${table.text}\n\n${table.missed} goals missed\n`);
  missed += table.missed;
}
if (measured.length) show(gpuTable(measured.map(({ goal, result }) => ({ ...result, goal }))));
const whole = withPeers(
  found.map(({ result }) => result),
  networks.length ? networkTimes(folder, networks) : [],
);
if (whole.length) show(networksTable(networks, whole));
const rows = measured.map(({ result }) => result);
const head = {
  ...cardOf(),
  adapter: device.name,
  copy: { wide: round(copy.wide), scalar: round(copy.scalar) },
};
console.log(JSON.stringify({ ...head, rows, networks: whole }));
process.exit(flag("strict") && missed > 0 ? 1 : 0);
