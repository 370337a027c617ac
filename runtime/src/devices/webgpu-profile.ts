/**
 * Times launches one by one: by timestamp queries around a pass of each, or, where the adapter has
 * none, by submitting each alone and waiting for it, which adds the cost of a submit to every
 * figure.
 */
import type { KernelTiming } from "../device.ts";
import { type BoundLaunch, encodePass } from "./encode.ts";
import { createGpuBuffer, usage } from "./gpu-buffer.ts";

/** A query set holds at most 4096 queries (WebGPU §20.1), and a launch takes two. */
const launchesPerSet = 2048;

export async function timeByQueries(
  device: GPUDevice,
  launches: readonly BoundLaunch[],
): Promise<KernelTiming[]> {
  const timings: KernelTiming[] = [];
  for (let i = 0; i < launches.length; i += launchesPerSet)
    timings.push(...(await timeSet(device, launches.slice(i, i + launchesPerSet))));
  return timings;
}

async function timeSet(
  device: GPUDevice,
  launches: readonly BoundLaunch[],
): Promise<KernelTiming[]> {
  const count = 2 * launches.length;
  const querySet = device.createQuerySet({ type: "timestamp", count });
  const resolved = createGpuBuffer(device, 8 * count, usage.queryResolve | usage.copyFrom).gpu;
  const mapped = createGpuBuffer(device, 8 * count, usage.mapRead | usage.copyTo).gpu;
  const encoder = device.createCommandEncoder();
  launches.forEach((launch, i) => {
    const [beginningOfPassWriteIndex, endOfPassWriteIndex] = [2 * i, 2 * i + 1];
    const timestampWrites = { querySet, beginningOfPassWriteIndex, endOfPassWriteIndex };
    encodePass(encoder, [launch], { timestampWrites });
  });
  encoder.resolveQuerySet(querySet, 0, count, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, mapped, 0, 8 * count);
  device.queue.submit([encoder.finish()]);
  await mapped.mapAsync(usage.mapModeRead);
  const times = new BigInt64Array(mapped.getMappedRange().slice(0));
  for (const resource of [querySet, resolved, mapped]) resource.destroy();
  return launches.map((launch, i) => {
    const ns = Number(times[2 * i + 1]! - times[2 * i]!);
    return timing(launch, Math.max(0, ns) / 1e6, "timestamp");
  });
}

export async function timeBySubmits(
  device: GPUDevice,
  launches: readonly BoundLaunch[],
): Promise<KernelTiming[]> {
  const timings: KernelTiming[] = [];
  await device.queue.onSubmittedWorkDone();
  for (const launch of launches) {
    const start = performance.now();
    const encoder = device.createCommandEncoder();
    encodePass(encoder, [launch]);
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    timings.push(timing(launch, performance.now() - start, "submit"));
  }
  return timings;
}

const timing = (
  { name, launch: { bytes, flops } }: BoundLaunch,
  ms: number,
  how: KernelTiming["timing"],
): KernelTiming => ({ name, ms, bytes, flops, timing: how });
