/**
 * Runs scripts of the repository as a user does, each in a process of its own, and collects what they print.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExampleTarget, preloadOf } from "../../packages/tools/src/examples/run.ts";

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export type { ExampleTarget };

const source = ["--conditions=@kiln-ml/source", "--import", "tsx"];

/**
 * Runs `node script args`, TypeScript from source. `watch` sees the process and all it printed, at each print. What
 * names no target runs on `target`.
 */
export function runScript(
  script: string,
  args: readonly string[] = [],
  watch?: (out: string, child: ChildProcess) => void,
  target?: ExampleTarget,
): Promise<Outcome> {
  const flags = script.endsWith(".ts") ? [...source] : [];
  if (target) flags.push("--import", preloadOf(target));
  const child = spawn(process.execPath, [...flags, script, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that a test may interrupt it and its children as a terminal does.
    detached: true,
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    out += text;
    watch?.(out, child);
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    err += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

/** Calls `work` with a folder that is gone afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-example-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
