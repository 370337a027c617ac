/**
 * The peers on the same card in the same session: TensorFlow.js, jax-js and PyTorch, each a script of its own in the folder that
 * `KILN_PEERS` names, which prints `peer⇥work⇥time ms⇥…`. A script that is missing or fails gives no rows, and says so.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface PeerTime {
  readonly peer: string;
  readonly work: string;
  readonly ms: number;
}

const scripts: readonly (readonly [string, ...string[]])[] = [
  [process.execPath, "peers.mjs", "tfjs"],
  [process.execPath, "peers.mjs", "jax"],
  ["python3", "torch_ref.py"],
];

export function peerTimes(folder: string | undefined): PeerTime[] {
  if (!folder) return [];
  return scripts.flatMap(([command, script, ...args]) => {
    const path = join(folder, script!);
    if (!existsSync(path)) {
      console.log(`no ${path}`);
      return [];
    }
    const { stdout, stderr } = spawnSync(command, [path, ...args], {
      encoding: "utf8",
      timeout: 100_000,
    });
    const rows = parsed(stdout ?? "");
    if (rows.length === 0)
      console.log(`${script} ${args.join(" ")}: ${(stderr ?? "").slice(-300)}`);
    return rows;
  });
}

const parsed = (text: string): PeerTime[] =>
  text.split("\n").flatMap((line) => {
    const [peer, work, time] = line.split("\t");
    const ms = Number.parseFloat(time ?? "");
    return peer && work && Number.isFinite(ms) ? [{ peer, work, ms }] : [];
  });

/** The peers' times for the same work, f32 alone. */
export const timesOf = (all: readonly PeerTime[], work: string | undefined): PeerTime[] =>
  all.filter(({ work: w }) => {
    const name = w.replace("matmul f32", "matmul");
    return (
      work !== undefined && !name.includes("f16") && (name === work || name.startsWith(`${work} `))
    );
  });
