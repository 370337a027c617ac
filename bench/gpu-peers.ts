/**
 * The peers on the same card in the same session: TensorFlow.js, jax-js and PyTorch, in scripts
 * that print `peer⇥work⇥time ms⇥…` a row. The baselines `peers.mjs` and `torch_ref.py` do their own
 * fixed works; our own scripts do what the rows of the table say. All lie in the folder that
 * `KILN_PEERS` names. One that is missing, fails or takes too long gives the rows it had, and says
 * so.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GpuRow } from "./gpu-cases.ts";
import type { NetworkRow } from "./gpu-network-cases.ts";
import type { Work } from "./gpu-peers/clock.ts";

export interface PeerTime {
  readonly peer: string;
  readonly work: string;
  readonly ms: number;
}

/**
 * Our own scripts: the source beside this file's folder of the same name, and the file it becomes.
 */
export const ownScripts = [
  { from: "tfjs.mjs", file: "gpu-tfjs.mjs" },
  { from: "jax.mjs", file: "gpu-jax.mjs" },
  { from: "pytorch.py", file: "gpu-pytorch.py" },
] as const;
/** PyTorch's networks, whose compiling takes minutes. */
export const networkScript = { from: "networks.py", file: "gpu-networks.py" };

interface Script {
  readonly file: string;
  readonly args: readonly string[];
  readonly limitMs: number;
}

const baselines: readonly Script[] = [
  { file: "peers.mjs", args: ["tfjs"], limitMs: 40_000 },
  { file: "peers.mjs", args: ["jax"], limitMs: 40_000 },
  { file: "torch_ref.py", args: [], limitMs: 40_000 },
];
const own = (works: readonly Work[]): Script[] =>
  ownScripts.map(({ file }) => ({ file, args: [JSON.stringify(works)], limitMs: 60_000 }));

/** Of all together; the last is what is cut. */
const allMs = 170_000;
const networksMs = 330_000;

/**
 * Rows by what the peers of the web lack most memory for come last, since a card that is lost takes
 * what follows with it.
 */
export function worksOf(rows: readonly GpuRow[]): Work[] {
  const works = rows.flatMap(({ name, work, repeats }) =>
    work ? [{ name, kind: work[0], extents: work.slice(1) as number[], repeats }] : [],
  );
  const isLast = ({ kind }: Work): boolean => kind === "attentionStep";
  return [...works.filter((w) => !isLast(w)), ...works.filter(isLast)];
}

function rowsOf(
  { file, args }: Omit<Script, "limitMs">,
  folder: string,
  limitMs: number,
): PeerTime[] {
  const path = join(folder, file);
  if (!existsSync(path)) {
    console.log(`no ${path}`);
    return [];
  }
  const command = file.endsWith(".py") ? "python3" : process.execPath;
  const start = performance.now();
  const { stdout, stderr, signal } = spawnSync(command, [path, ...args], {
    encoding: "utf8",
    timeout: limitMs,
    killSignal: "SIGKILL",
    // Dawn repeats what it refuses at every call.
    maxBuffer: 1 << 28,
  });
  const seconds = ((performance.now() - start) / 1e3).toFixed(0);
  const found = parsed(stdout ?? "");
  const end = signal ? ", stopped" : "";
  console.log(`${file}\t${found.length} rows in ${seconds} s${end}`);
  for (const line of (stdout ?? "").split("\n")) if (line.split("\t").length > 2) console.log(line);
  if (found.length === 0) console.log((stderr ?? "").slice(-300));
  return found;
}

/** What the peers take for `rows`, and for the baselines' own works if they are asked for. */
export function peerTimes(
  folder: string | undefined,
  rows: readonly GpuRow[],
  withBaselines: boolean,
): PeerTime[] {
  if (!folder) return [];
  const until = performance.now() + allMs;
  return [...(withBaselines ? baselines : []), ...own(worksOf(rows))].flatMap((script) => {
    const left = Math.min(script.limitMs, until - performance.now());
    if (left > 1000) return rowsOf(script, folder, Math.floor(left));
    console.log(`${script.file}: the time was over`);
    return [];
  });
}

/** What PyTorch takes for whole networks, eager and compiled. */
export function networkTimes(
  folder: string | undefined,
  rows: readonly Pick<NetworkRow, "name" | "work" | "half">[],
): PeerTime[] {
  if (!folder) return [];
  const works = rows.map(({ name, work: [kind, ...extents], half }) => ({
    name,
    kind,
    extents,
    half: half ?? false,
  }));
  return rowsOf({ file: networkScript.file, args: [JSON.stringify(works)] }, folder, networksMs);
}

/** The rows among a script's lines. */
export const parsed = (text: string): PeerTime[] =>
  text.split("\n").flatMap((line) => {
    const [peer, work, time] = line.split("\t");
    const ms = Number.parseFloat(time ?? "");
    return peer && work && Number.isFinite(ms)
      ? [{ peer, work: work.replace("matmul f32", "matmul"), ms }]
      : [];
  });

/** The peers' times for a row: what its own work took, and what the baselines call the same. */
export const timesOf = (
  all: readonly PeerTime[],
  row: Pick<GpuRow, "name" | "work" | "peer">,
): PeerTime[] =>
  all.filter(
    ({ work }) =>
      (row.work !== undefined && work === row.name) ||
      (row.peer !== undefined && work === row.peer),
  );
