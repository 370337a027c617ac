/**
 * llama.cpp beside `bench --llm --peers`, by node-llama-cpp: installed at the first use beside the
 * peers of the other tables, pinned and without scripts, with its build for this machine's CPU
 * alone. It reads the same shapes from GGUF files, on one thread, in a process of its own.
 */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { decoderConfig } from "@kiln-ml/llm";
import { installInto } from "../cpu/install.ts";
import type { Row } from "../row.ts";
import { type Format, writeShape } from "./gguf-file.ts";
import { lengths, type Measured, shapes } from "./shapes.ts";

const run = promisify(execFile);
const version = "3.22.1";
const folder = resolve("node_modules/.cache/kiln-bench/llm/peers");

/** Its packages of binaries: the others are for cards. */
const binaries: Readonly<Record<string, string>> = {
  "linux x64": "linux-x64",
  "linux arm64": "linux-arm64",
  "darwin x64": "mac-x64",
  "darwin arm64": "mac-arm64-metal",
  "win32 x64": "win-x64",
};

function install(): string {
  const built = binaries[`${process.platform} ${process.arch}`];
  if (!built)
    throw new Error(`node-llama-cpp has no build for ${process.platform} ${process.arch}`);
  installInto(folder, { "node-llama-cpp": version, [`@node-llama-cpp/${built}`]: version }, [
    "--omit=optional",
  ]);
  const script = join(folder, "llama-cpp.mjs");
  copyFileSync("bench/llm/llama-cpp.mjs", script);
  return script;
}

/** The file of a shape, written once. */
function fileOf(shape: string, format: Format): string {
  const path = join(folder, `${shape}-${format}.gguf`);
  if (existsSync(path)) return path;
  // Half a file must not be found later.
  writeShape(`${path}.part`, shape, format);
  renameSync(`${path}.part`, path);
  return path;
}

export async function llamaCpp(
  shape: string,
  format: Format,
): Promise<Measured | { readonly failure: string }> {
  try {
    const script = install();
    const { vocabulary } = decoderConfig(shapes[shape]);
    const given = JSON.stringify({ ...lengths, vocabulary });
    const { stdout } = await run(process.execPath, [script, fileOf(shape, format), given]);
    return JSON.parse(stdout.trim().split("\n").at(-1)!);
  } catch (error) {
    return { failure: (error as Error).message.split("\n")[0]!.slice(0, 160) };
  }
}

/** The least of the peer's rate, where there is a goal. */
const goals: Readonly<Record<string, number>> = { "25M f32 wasm decode": 1 };

/** Rows with a rate beside that of the peer: more is better. */
export function besideOf(rows: readonly Row[], format: Format, theirs: Measured): Row[] {
  const rates: Readonly<Record<string, number>> = {
    decode: theirs.decodeTokensPerSecond,
    prefill: theirs.prefillTokensPerSecond,
  };
  const times: Readonly<Record<string, number>> = {
    load: theirs.loadMs,
    "first token, again": theirs.nextFirstTokenMs,
    "peak memory": theirs.peakMiB,
  };
  return rows.map((row) => {
    const { value, metric } = row;
    const peer = `llama.cpp ${format}`;
    const [rate, time] = [rates[metric], times[metric]];
    if (!value || (rate === undefined && time === undefined)) return row;
    if (rate === undefined) return { ...row, peer, peerValue: time!, ratio: time! / value };
    const ratio = value / rate;
    const least = goals[`${row.case} ${row.target} ${metric}`];
    const goal = least === undefined ? {} : { goal: `≥ ${least}×`, met: ratio >= least };
    return { ...row, peer, peerValue: rate, ratio, ...goal };
  });
}
