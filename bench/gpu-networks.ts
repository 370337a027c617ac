/**
 * Whole networks on a card beside PyTorch: milliseconds of a step, its launches and what each
 * launch reached of what limits it, bytes at the rate of a copy or operations at the card's. Rows
 * and peers are elsewhere.
 */
import { spawnSync } from "node:child_process";
import type { Artifact } from "@kiln-ml/artifact";
import type { Device } from "@kiln-ml/runtime";
import { type NetworkRow, ofFull } from "./gpu-network-cases.ts";
import type { PeerTime } from "./gpu-peers.ts";
import { median, open, round, timed } from "./gpu-session.ts";

/** Operations a second at most, by vendors' data sheets: sums in f32, and of halves by units. */
const peaks: readonly { readonly name: RegExp; readonly f32: number; readonly units: number }[] = [
  { name: /H100|H200/, f32: 66.9e12, units: 989e12 },
];

/** What the driver calls the card, and itself: Dawn gives the driver's version for a name. */
export function cardOf(): { readonly card: string; readonly driver: string } | undefined {
  const { stdout } = spawnSync(
    "nvidia-smi",
    ["--query-gpu=name,driver_version", "--format=csv,noheader"],
    { encoding: "utf8" },
  );
  const [card, driver] = (stdout ?? "").trim().split(", ");
  return card && driver ? { card, driver } : undefined;
}

export interface Launch {
  readonly kernel: string;
  readonly launches: number;
  readonly ms: number;
  readonly tflopPerS: number;
  readonly gbPerS: number;
  /** Least time by bytes or operations, over the time it took. */
  readonly ofLimit: number;
}

export interface NetworkResult {
  readonly case: string;
  readonly ms: number;
  /** Of all kernels, each timed alone. */
  readonly kernelMs: number;
  /** Distinct kernels, and launches of a step. */
  readonly kernels: number;
  readonly launches: number;
  readonly cpuMicroseconds: number;
  /** Least time of all launches together, by bytes or operations, over theirs. */
  readonly ofLimit: number;
  readonly slotMiB: number;
  readonly top: readonly Launch[];
  readonly peers: Readonly<Record<string, number>>;
}

interface Timing {
  readonly name: string;
  readonly ms: number;
  readonly bytes: number;
  readonly flops: number;
}

interface Limit {
  readonly copyGbPerS: number;
  readonly peak: { readonly f32: number; readonly units: number } | undefined;
  /** Kernels of which matrix units do the products. */
  readonly byUnits: ReadonlySet<string>;
}

const leastMs = ({ name, bytes, flops }: Timing, limit: Limit): number => {
  const rate = limit.byUnits.has(name) ? limit.peak?.units : limit.peak?.f32;
  return Math.max(bytes / limit.copyGbPerS / 1e6, rate ? (flops / rate) * 1e3 : 0);
};

/** Launches by kernel, those that take longest first. */
export function launchesOf(timings: readonly Timing[], limit: Limit): Launch[] {
  const by = new Map<string, Timing[]>();
  for (const t of timings) by.set(t.name, [...(by.get(t.name) ?? []), t]);
  const sum = (all: readonly Timing[], of: (t: Timing) => number): number =>
    all.reduce((total, t) => total + of(t), 0);
  return [...by]
    .map(([kernel, all]) => {
      const ms = sum(all, (t) => t.ms);
      return {
        kernel,
        launches: all.length,
        ms: round(ms),
        tflopPerS: round(sum(all, (t) => t.flops) / ms / 1e9),
        gbPerS: round(sum(all, (t) => t.bytes) / ms / 1e6),
        ofLimit: round(sum(all, (t) => leastMs(t, limit)) / ms),
      };
    })
    .sort((a, b) => b.ms - a.ms);
}

const byUnitsIn = (artifact: Artifact): Set<string> =>
  new Set(
    artifact.kernels.filter((k) => k.text.includes("subgroup_matrix")).map(({ name }) => name),
  );

const slotBytesOf = (artifact: Artifact): number =>
  artifact.plan.slots.reduce((sum, { sizes }) => sum + Math.max(0, ...sizes.map(Number)), 0);

/** So long is measured at a time. */
const sampleMs = 150;
const shownLaunches = 12;

/** One network, without its peers. */
export async function measureNetwork(
  device: Device,
  row: NetworkRow,
  copyGbPerS: number,
  warmUp: () => Promise<void>,
): Promise<NetworkResult> {
  const start = performance.now();
  const features = [...device.features];
  const { artifact, exe, inputs, dispose } = await open(device, row.build(), {
    features,
    classes: row.classes,
    drawn: true,
  });
  const ready = performance.now() - start;
  await warmUp();
  const once = (await timed(device, exe, inputs, 1)).ms;
  const repeats = Math.max(1, Math.min(20, Math.round(sampleMs / once)));
  const { ms, cpu } = await timed(device, exe, inputs, repeats);
  const timings = await fastest(async () => exe.profile(inputs));
  const card = cardOf()?.card ?? device.name;
  const peak = peaks.find(({ name }) => name.test(card));
  const limit: Limit = { copyGbPerS, peak, byUnits: byUnitsIn(artifact) };
  const busy = timings.reduce((sum, k) => sum + k.ms, 0);
  const least = timings.reduce((sum, k) => sum + leastMs(k, limit), 0);
  const result: NetworkResult = {
    case: row.name,
    ms: round(ms),
    kernelMs: round(busy),
    kernels: new Set(timings.map((t) => t.name)).size,
    launches: timings.length,
    cpuMicroseconds: round(cpu),
    ofLimit: round(least / busy),
    slotMiB: round(slotBytesOf(artifact) / 2 ** 20),
    top: launchesOf(timings, limit).slice(0, shownLaunches),
    peers: {},
  };
  dispose();
  console.log(`kiln\t${row.name}\t${ms.toFixed(4)} ms\tready in ${ready.toFixed(0)} ms`);
  return result;
}

/** Launch by launch, the middle of three profiles: what else the card does meets single ones. */
async function fastest(profile: () => Promise<Timing[]>): Promise<Timing[]> {
  const runs = [await profile(), await profile(), await profile()];
  return runs[0]!.map((t, i) => ({ ...t, ms: median(runs.map((r) => r[i]!.ms)) }));
}

export interface NetworksTable {
  readonly text: string;
  readonly missed: number;
}

const better = (peers: Readonly<Record<string, number>>): number | undefined => {
  const times = Object.values(peers);
  return times.length ? Math.min(...times) : undefined;
};

interface Check {
  readonly text: string;
  readonly met: boolean;
}

function checksOf(row: NetworkRow, r: NetworkResult, all: readonly NetworkResult[]): Check[] {
  const checks: Check[] = [];
  const check = (what: string, value: number | undefined, wanted: number): void => {
    if (value !== undefined)
      checks.push({ text: `${what} ${value.toFixed(2)} ≥ ${wanted}`, met: value >= wanted });
  };
  const torch = better(r.peers);
  check("of torch", torch && torch / r.ms, row.goal);
  const full = all.find((other) => other.case === row.full);
  check("of f32", full && full.ms / r.ms, ofFull);
  return checks;
}

/** A row a network, then its longest launches; rows without a result are left out. */
export function networksTable(
  rows: readonly NetworkRow[],
  results: readonly NetworkResult[],
): NetworksTable {
  const head = ["network", "ms", "in kernels", "launches", "kernels", "of limit", "cpu µs"];
  const peers = [...new Set(results.flatMap((r) => Object.keys(r.peers)))];
  let missed = 0;
  const lines = results.map((r) => {
    const row = rows.find(({ name }) => name === r.case)!;
    const checks = checksOf(row, r, results);
    missed += checks.filter((c) => !c.met).length;
    const numbers = [r.ms, r.kernelMs, r.launches, r.kernels, r.ofLimit, r.cpuMicroseconds];
    return [
      r.case,
      ...numbers.map((n) => String(Number(n.toPrecision(3)))),
      ...peers.map((p) => r.peers[p]?.toPrecision(4) ?? ""),
      checks.map((c) => `${c.text} ${c.met ? "met" : "MISSED"}`).join(", "),
    ];
  });
  const table = aligned([[...head, ...peers.map((p) => `${p} ms`), "goals"], ...lines]);
  return { text: [table, ...results.map(profileText)].join("\n\n"), missed };
}

function profileText(r: NetworkResult): string {
  const head = ["launch", "times", "ms", "TFLOP/s", "GB/s", "of limit"];
  const lines = r.top.map((k) => [
    k.kernel,
    String(k.launches),
    k.ms.toFixed(3),
    k.tflopPerS.toFixed(1),
    k.gbPerS.toFixed(0),
    k.ofLimit.toFixed(2),
  ]);
  return `${r.case}\n${aligned([head, ...lines])}`;
}

function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((l) => l[i]!.length)));
  const cells = (l: readonly string[]): string => l.map((x, i) => x.padEnd(widths[i]!)).join("  ");
  return lines.map((l) => cells(l).trimEnd()).join("\n");
}

/** The results with what the peers took. */
export const withPeers = (
  results: readonly NetworkResult[],
  times: readonly PeerTime[],
): NetworkResult[] =>
  results.map((r) => ({
    ...r,
    peers: Object.fromEntries(times.flatMap((t) => (t.work === r.case ? [[t.peer, t.ms]] : []))),
  }));
