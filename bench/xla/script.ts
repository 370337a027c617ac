/** The scripts in Python beside these files, each of which prints a line of JSON at its end. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { XlaOptions } from "@kiln-ml/xla";
import { commandOf } from "../../packages/xla/src/options.ts";

/** What a script says when asked so, with the engine's Python and environment. */
export function runScript(options: XlaOptions, script: string, asked: readonly string[]): unknown {
  const { program, env } = commandOf(options);
  const path = join(process.env.KILN_SCRIPTS ?? import.meta.dirname, script);
  const run = spawnSync(program, [path, ...asked], {
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (run.status !== 0) throw new Error(`${script}: ${run.error ?? run.stderr.slice(-600)}`);
  return JSON.parse(run.stdout.trim().split("\n").at(-1)!);
}
