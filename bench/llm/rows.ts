/**
 * `bench --llm`: prefill, decode, the first token, loading, memory, kernels and bytes of language
 * models of several shapes, each in a process of its own on one thread of js or wasm, in CPU time.
 * `--slow` adds 1B, `--peers` llama.cpp's rates of the same shapes.
 */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { buildDefine } from "../../packages/tools/src/build-hash.ts";
import { relaxedFlag } from "../cpu/columns.ts";
import type { Row } from "../row.ts";
import { type Format, formats } from "./gguf-file.ts";
import { besideOf, llamaCpp } from "./peers.ts";
import { lengths, type Measured, shapes } from "./shapes.ts";

const run = promisify(execFile);
const folder = resolve("node_modules/.cache/kiln-bench/llm");

async function bundle(): Promise<string> {
  const outfile = join(folder, "kiln.mjs");
  await build({
    entryPoints: ["bench/llm/kiln.ts"],
    outfile,
    bundle: true,
    conditions: ["@kiln-ml/source"],
    external: ["webgpu", "esbuild", "@huggingface/*"],
    format: "esm",
    platform: "node",
    target: "node20",
    define: buildDefine("."),
    logLevel: "error",
  });
  return outfile;
}

type Selected = (name: string) => boolean;

async function measured(
  script: string,
  args: readonly string[],
): Promise<Measured | { readonly failure: string }> {
  try {
    const env = { ...process.env, KILN_CACHE: "off" };
    const { stdout } = await run(process.execPath, [...relaxedFlag, script, ...args], { env });
    return JSON.parse(stdout.trim().split("\n").at(-1)!);
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    return {
      failure: (
        stderr
          .trim()
          .split("\n")
          .find((l) => /Error/.test(l)) ?? message
      ).slice(0, 160),
    };
  }
}

/** Rows of one model; those without a value say why. */
export function rowsOf(
  name: string,
  target: string,
  found: Measured | { readonly failure: string },
): Row[] {
  if ("failure" in found)
    return [{ case: name, target, metric: "decode", value: null, unit: "", note: found.failure }];
  const row = (metric: string, value: number | undefined, unit: string, note?: string): Row[] =>
    value === undefined ? [] : [{ case: name, target, metric, value, unit, ...(note && { note }) }];
  const { spread } = found;
  return [
    ...row("decode", found.decodeTokensPerSecond, "tokens/s").map((r) => ({ ...r, spread })),
    ...row("prefill", found.prefillTokensPerSecond, "tokens/s", `${lengths.prompt} tokens`),
    ...row("first token", found.firstTokenMs, "ms", `${lengths.first} tokens, compiles`),
    ...row("first token, again", found.nextFirstTokenMs, "ms"),
    ...row("load", found.loadMs, "ms"),
    ...row("peak memory", found.peakMiB, "MiB"),
    ...row("kernels a token", found.kernels, ""),
    ...row("moved a token", found.bytes && found.bytes / 2 ** 20, "MiB"),
  ];
}

export interface LlmOptions {
  readonly targets: readonly string[];
  /** 1B too. */
  readonly slow: boolean;
  /** llama.cpp too. */
  readonly peers?: boolean;
}

export async function llmRows(
  selected: Selected,
  { targets, slow, peers = false }: LlmOptions,
): Promise<Row[]> {
  const odd = targets.filter((t) => t !== "js" && t !== "wasm");
  if (odd.length) throw new RangeError(`bench: --llm is for js and wasm, got ${odd.join(", ")}`);
  const script = await bundle();
  const rows: Row[] = [];
  for (const [shape] of Object.entries(shapes).filter(([s]) => slow || s !== "1B"))
    for (const format of peers ? formats : formats.slice(0, 2)) {
      const weights = weightsOf[format];
      const ours = weights ? targets : [];
      const name = `${shape} ${weights ?? format}`;
      const chosen = ours.filter((target) => selected(`${name} ${target}`));
      if (!chosen.length && (weights || !selected(`${name} llama.cpp`))) continue;
      const theirs = peers ? await llamaCpp(shape, format) : undefined;
      for (const target of chosen) {
        const own = rowsOf(name, target, await measured(script, [shape, weights!, target]));
        rows.push(...(theirs && !("failure" in theirs) ? besideOf(own, format, theirs) : own));
      }
      if (theirs && (!weights || "failure" in theirs))
        rows.push(...rowsOf(name, "llama.cpp", theirs));
    }
  return rows;
}

/** What we keep weights as for what a file has; the others are the peer's alone. */
const weightsOf: Readonly<Partial<Record<Format, "f32" | "f16">>> = { F32: "f32", F16: "f16" };
