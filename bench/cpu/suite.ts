/**
 * `bench --cpu [--peers]`: starts the processes, measures workload by workload, prints the table
 * and gives the rows. Peers are only loaded where asked for.
 */
import { cpus, loadavg } from "node:os";
import type { Row } from "../row.ts";
import { againstRows, sidesFor } from "./against.ts";
import { absentPeers, peersFor, relaxedFlag } from "./columns.ts";
import { measure } from "./measure.ts";
import type { Peer } from "./peer.ts";
import { absentRows, type Result, rowsOf, summaryRows } from "./rows.ts";
import { cpuSummary, cpuTable, cpuTroubles, mismatch, progress } from "./table.ts";
import { workloads } from "./workloads.ts";

export interface CpuOptions {
  readonly target: string;
  readonly threads: readonly number[];
  readonly samples: number;
  readonly withPeers: boolean;
  /** An earlier commit to measure beside this tree, instead of peers. */
  readonly against?: string;
  /** Workloads by name; all if empty. */
  readonly only: readonly string[];
}

const startMs = 15_000;
/** The threads of tfjs sometimes wait for each other at the start and never end that. */
const attempts = 3;

function header({ target, samples }: CpuOptions, running: readonly Peer[]): string {
  const cores = cpus();
  const simd = relaxedFlag.length
    ? `kiln and jax-js run with ${relaxedFlag[0]}`
    : "relaxed SIMD is on for all";
  return [
    `${cores[0]?.model}, ${cores.length} cores, load ${loadavg()[0]!.toFixed(1)}; Node ${process.version}, ${simd}`,
    `target ${target}, medians of ${samples} interleaved samples; running: ${[...new Set(running.map((p) => p.about))].join("; ")}`,
  ].join("\n");
}

async function started(peers: readonly Peer[]): Promise<Peer[]> {
  const running: Peer[] = [];
  for (const peer of peers) {
    let ready = false;
    for (let i = 0; i < attempts && !ready; i++) ready = await peer.start(startMs);
    if (ready) running.push(peer);
    else console.error(`bench: ${peer.name} with ${peer.threads} threads does not start`);
  }
  return running;
}

/** Names in `only` that are no workloads. */
export const unknownWorkloads = (only: readonly string[]): string[] =>
  only.filter((name) => !workloads.some((w) => w.name === name));

export async function cpuRows(options: CpuOptions): Promise<Row[]> {
  const { target, threads, samples, withPeers, only, against } = options;
  const unknown = unknownWorkloads(only);
  if (unknown.length) throw new RangeError(`bench: no workload ${unknown.join(", ")}`);
  const running = await started(
    against === undefined
      ? await peersFor(target, threads, withPeers)
      : await sidesFor(against, target, threads),
  );
  console.log(header(options, running));
  const results: Result[] = [];
  for (const workload of workloads.filter(({ name }) => !only.length || only.includes(name))) {
    const measured = await measure(workload, running, samples);
    results.push({ workload, measured });
    console.error(progress({ workload, measured }));
  }
  for (const peer of running) await peer.stop();
  if (against !== undefined)
    return results.flatMap((r) => againstRows(r.workload.name, target, r.measured));
  const rows = results.flatMap((r) => rowsOf(r, target));
  const differing = rows.filter((r) => r.metric === "difference" && r.met === false);
  const absent = absentPeers(withPeers);
  console.log(`\n${cpuTable(results, threads, target)}\n`);
  for (const [name, why] of absent) console.log(`${name} is not measured: ${why}`);
  const troubles = differing.map((r) => mismatch(r.case, r.value, r.note));
  for (const text of [
    ...cpuSummary(results, threads, target),
    ...cpuTroubles(results),
    ...troubles,
  ])
    console.log(text);
  // A time of another computation is no time, goals or not.
  if (differing.length) process.exitCode = 1;
  return [...rows, ...absentRows(absent), ...summaryRows(results, target, threads)];
}
