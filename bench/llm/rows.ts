/**
 * `bench --llm`: prefill, decode, the first token, loading, memory, kernels and bytes of language
 * models of several shapes in f32, f16, int8 and int4, each in a process of its own on one thread
 * of js or wasm, in CPU time. `--slow` adds 1B; `--peers` puts llama.cpp, transformers.js and
 * wllama beside them (wllama by its own clock); `--quick` takes 25M in f32 and int4 alone. `--quick
 * --target wasm` with peers takes two to three minutes, all but 1B about twenty.
 */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { buildDefine } from "../../packages/tools/src/build-hash.ts";
import { relaxedFlag } from "../cpu/columns.ts";
import type { Row } from "../row.ts";
import { type Format, formats } from "./gguf-file.ts";
import { peers as allPeers, askPeer, besideOf, ggufOf, type Outcome } from "./peers.ts";
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
export function rowsOf(name: string, target: string, found: Measured | Outcome): Row[] {
  if ("failure" in found)
    return [{ case: name, target, metric: "decode", value: null, unit: "", note: found.failure }];
  const row = (metric: string, value: number | undefined, unit: string, note?: string): Row[] =>
    value === undefined ? [] : [{ case: name, target, metric, value, unit, ...(note && { note }) }];
  const { spread } = found;
  const told = spread === undefined ? {} : { spread };
  return [
    ...row("decode", found.decodeTokensPerSecond, "tokens/s").map((r) => ({ ...r, ...told })),
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
  /** llama.cpp, transformers.js and wllama too. */
  readonly peers?: boolean;
  /** One shape in two formats. */
  readonly quick?: boolean;
}

/** Formats that are measured of a shape. */
function formatsOf(shape: string, { slow, quick }: LlmOptions): readonly Format[] {
  if (quick) return shape === "25M" ? ["F32", "Q4_0"] : [];
  // Four gigabytes of floats are more than wasm's memory holds.
  if (shape === "1B") return slow ? formats.filter((f) => f !== "F32") : [];
  return formats;
}

export async function llmRows(selected: Selected, options: LlmOptions): Promise<Row[]> {
  const { targets, peers = false } = options;
  const odd = targets.filter((t) => t !== "js" && t !== "wasm");
  if (odd.length) throw new RangeError(`bench: --llm is for js and wasm, got ${odd.join(", ")}`);
  const script = await bundle();
  const rows: Row[] = [];
  for (const shape of Object.keys(shapes))
    for (const format of formatsOf(shape, options)) {
      const weights = weightsOf[format];
      const name = `${shape} ${weights}`;
      const chosen = targets.filter((target) => selected(`${name} ${target}`));
      if (!chosen.length) continue;
      const theirs = peers ? await beside(shape, format) : [];
      for (const target of chosen) {
        const file = format === "F32" || format === "F16" ? [] : [ggufOf(shape, format)];
        const args = [shape, weights, target, ...file];
        const own = rowsOf(name, target, await measured(script, args));
        rows.push(...withPeers(own, format, theirs));
      }
      for (const [peer, found] of theirs)
        if ("failure" in found)
          rows.push(...rowsOf(name, `${peer.name} ${peer.label(format)}`, found));
    }
  return rows;
}

type Beside = readonly (readonly [(typeof allPeers)[number], Outcome])[];

/** What each peer measured that has the format. */
async function beside(shape: string, format: Format): Promise<Beside> {
  const found: [(typeof allPeers)[number], Outcome][] = [];
  for (const peer of allPeers)
    if (peer.label(format) !== undefined) found.push([peer, await askPeer(peer, shape, format)]);
  return found;
}

/** Our rows beside the first peer; of the others those that they tell too. */
function withPeers(own: readonly Row[], format: Format, theirs: Beside): Row[] {
  const told = theirs.flatMap(([peer, found]) =>
    "failure" in found ? [] : [besideOf(own, peer, format, found)],
  );
  const [first = own, ...others] = told;
  return [...first, ...others.flat().filter((row) => row.peer !== undefined)];
}

/** What we keep weights as for what a file has. */
const weightsOf: Readonly<Record<Format, string>> = {
  F32: "f32",
  F16: "f16",
  Q8_0: "int8",
  Q4_0: "int4",
};
