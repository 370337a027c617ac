/** Times of kernels beside what the machine could do at most. */
import type { Artifact } from "@kiln-ml/artifact";
import { secondsOf } from "@kiln-ml/compiler/program";
import type { InspectedKernel, Profile, ProfileRow } from "@kiln-ml/inspector";
import type { KernelTiming } from "@kiln-ml/runtime/loader";
import { adapterKind } from "../devices/placement.ts";
import { type Session, threadsHere } from "../devices/session.ts";
import { costs } from "../devices/target-costs.ts";

/** Bytes and operations a second. */
export interface Limits {
  readonly bytes: number;
  readonly flops: number;
}

/**
 * What the table of costs says of a session's target: a machine in the middle, and not this one.
 */
export function nominalLimits({ target, device }: Session): Limits & { readonly from: string } {
  const second = ({ bytes, flops }: Limits) => ({ bytes: bytes * 1e3, flops: flops * 1e3 });
  if (target === "js") return { ...second(costs.js), from: "Kiln's costs of js" };
  if (target === "wasm") {
    const threads = threadsHere();
    const { bytes, flops, memoryThreads } = costs.wasm;
    const all = { bytes: bytes * Math.min(threads, memoryThreads), flops: flops * threads };
    return { ...second(all), from: `Kiln's costs of wasm with ${threads} threads` };
  }
  const kind = adapterKind(device.name) === "discrete" ? "discrete" : "integrated";
  return { ...second(costs.webgpu[kind]), from: `Kiln's costs of an adapter that is ${kind}` };
}

/** Rows of several runs' times, the most costly first. */
export function profileOf(
  runs: readonly (readonly KernelTiming[])[],
  { plan, kernels: texts }: Artifact,
  kernels: readonly InspectedKernel[],
  device: string,
  limits: Limits & { readonly from: string },
): Profile {
  const inOrder = runs.every(({ length }) => length === plan.steps.length);
  const first = new Map<string, number>();
  for (const [i, { kernel }] of plan.steps.entries()) {
    const { name } = texts[kernel]!;
    if (!first.has(name)) first.set(name, i);
  }
  const stepOf = (t: KernelTiming, i: number): number => (inOrder ? i : (first.get(t.name) ?? 0));
  const sums = runs.map((timings) => {
    const rows = new Map<number, { ms: number; bytes: number; flops: number }>();
    for (const [i, t] of timings.entries()) {
      const row = rows.get(stepOf(t, i)) ?? { ms: 0, bytes: 0, flops: 0 };
      row.ms += t.ms;
      row.bytes += t.bytes;
      row.flops += t.flops;
      rows.set(stepOf(t, i), row);
    }
    return rows;
  });
  const rows = [...(sums[0] ?? [])].map(([kernel, { bytes, flops }]) =>
    rowOf(kernel, median(sums.map((s) => s.get(kernel)?.ms ?? 0)), bytes, flops, limits),
  );
  rows.sort((a, b) => b.ms - a.ms || a.kernel - b.kernel);
  const totals = sums.map((s) => [...s.values()].reduce((n, { ms }) => n + ms, 0));
  return {
    timing: runs[0]?.[0]?.timing ?? "clock",
    device,
    runs: runs.length,
    ms: median(totals),
    limits,
    rows: rows.filter((r) => r.kernel < kernels.length),
  };
}

function rowOf(
  kernel: number,
  ms: number,
  bytes: number,
  flops: number,
  limits: Limits,
): ProfileRow {
  const [memory, arithmetic] = [bytes / limits.bytes, flops / limits.flops];
  const least = secondsOf({ bytes, flops }, limits);
  return {
    kernel,
    ms,
    bytes,
    flops,
    fraction: ms > 0 ? (least * 1e3) / ms : 0,
    bound: memory >= arithmetic ? "memory" : "arithmetic",
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
