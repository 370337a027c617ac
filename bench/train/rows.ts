/**
 * Rows of training: what the trainer costs over a loop by hand, how fast loaders are with workers,
 * whether a loader keeps up with the step that it feeds, and a ResNet's step beside PyTorch's.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { imageFolder } from "@kiln-ml/data/node";
import { build } from "esbuild";
import { data } from "kiln-ml";
import { adapterEnvironment } from "../onnx/adapter.ts";
import { bounded, compared, type Row } from "../row.ts";
import type { Overhead } from "./overhead.ts";
import { resnetRows } from "./resnet.ts";

const median = (list: readonly number[]): number =>
  [...list].sort((a, b) => a - b)[list.length >> 1]!;

/** Measures in a process of its own, which finds the adapter in software if it is for webgpu. */
async function overheadOf(name: string, target: string, pairs: number): Promise<Overhead> {
  const flags = ["--conditions=@kiln-ml/source", "--import", "tsx", "bench/train/overhead.ts"];
  const env = target === "webgpu" ? await adapterEnvironment() : {};
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, name, String(pairs)], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

const cases = [
  ["MNIST CNN, batch 32", "cnn", "wasm", 250],
  ["MLP of ten launches, batch 32", "launches", "webgpu", 100],
] as const;

/** `metric` by one clock; with a bound where the step is not all trainer. */
function overheadRow(of: Overhead, clock: "cpu" | "wall", name: string, target: string): Row {
  const { fit, bare, over, error } = of[clock];
  const [own, other] = of.launches;
  const note = `± ${error.toFixed(1)} (standard error of ${of.pairs} pairs); fit ${fit.toFixed(3)} ms; launches ${own} and ${other}`;
  const peer = { peer: "loop by hand, ms", peerValue: bare };
  const metric = `trainer over loop, ${clock === "cpu" ? "CPU" : "wall"} time`;
  return bounded({ case: name, target, metric, value: over, unit: "%", ...peer, note }, 2);
}

async function overheadRows(selected: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, key, target, pairs] of cases) {
    if (!selected(name)) continue;
    const found = await overheadOf(key, target, pairs);
    for (const clock of ["cpu", "wall"] as const)
      rows.push(overheadRow(found, clock, name, target));
  }
  return rows;
}

/** PNGs of two classes in a folder. */
async function photos(folder: string): Promise<void> {
  for (const name of ["a", "b"]) {
    mkdirSync(join(folder, name), { recursive: true });
    for (let i = 0; i < 96; i++) {
      const pixels = Uint8Array.from({ length: 128 * 128 * 3 }, (_, k) => (k * (i + 3)) % 251);
      writeFileSync(
        join(folder, name, `${i}.png`),
        await data.encodePng({ data: pixels, shape: [128, 128, 3] }),
      );
    }
  }
}

const worker = "worker.mjs";

/** The worker as one module: threads load no TypeScript. */
const bundleWorker = (folder: string) =>
  build({
    entryPoints: ["bench/train/worker.ts"],
    outfile: join(folder, worker),
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@kiln-ml/source"],
    logLevel: "error",
  });

/**
 * Pictures a second that a loader gives, nothing else being done; the time of day, since workers
 * are to share the work.
 */
async function speedOf(folder: string, count: number): Promise<number> {
  const set = await imageFolder(folder, { size: 64 });
  const start = () => new Worker(join(folder, worker), { workerData: folder, execArgv: [] });
  const loader = new data.DataLoader(set, {
    batch: 16,
    ...(count ? { workers: { count, start } } : {}),
  });
  const seconds: number[] = [];
  for (let epoch = 0; epoch < 4; epoch++) {
    const from = performance.now();
    for await (const _ of loader);
    seconds.push((performance.now() - from) / 1000);
  }
  // Workers start in the first epoch.
  return set.length / median(seconds.slice(1));
}

/**
 * What the loader of the MNIST example takes for a batch, beside what its step takes: the step
 * never waits for it.
 */
async function digitsRow(stepMs: number | undefined): Promise<Row> {
  const [count, batch] = [10_000, 32];
  const images = new Float32Array(count * 784);
  const set = data.fromArrays([images, new Int32Array(count)] as const, [[784], []]);
  const loader = new data.DataLoader(set, { batch, shuffle: true });
  const ms: number[] = [];
  for (let epoch = 0; epoch < 9; epoch++) {
    const from = process.cpuUsage();
    for await (const _ of loader);
    const { user, system } = process.cpuUsage(from);
    ms.push((user + system) / 1000 / loader.length);
  }
  const value = median(ms.slice(1));
  const row = { case: "loader of digits, batch 32", target: "node", metric: "time", unit: "ms" };
  if (stepMs === undefined) return { ...row, value };
  const peer = { peer: "step of the CNN, ms", peerValue: stepMs };
  return compared({ ...row, ...peer, value }, 1);
}

export async function trainRows(selected: (name: string) => boolean): Promise<Row[]> {
  const rows = await overheadRows(selected);
  const step = rows.find((r) => r.target === "wasm" && r.metric.endsWith("CPU time"))?.peerValue;
  if (selected("loader of digits")) rows.push(await digitsRow(step));
  rows.push(...(await resnetRows(selected)));
  if (!selected("loader of PNGs")) return rows;
  const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));
  try {
    await photos(folder);
    await bundleWorker(folder);
    for (const count of [0, 1, 2])
      rows.push({
        case: `loader of PNGs, ${count} workers`,
        target: "node",
        metric: "speed",
        value: await speedOf(folder, count),
        unit: "pictures/s",
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}
