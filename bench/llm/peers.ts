/**
 * Peers of `bench --llm --peers`, installed at the first use beside those of the other tables,
 * pinned and without scripts: llama.cpp by node-llama-cpp with its build for this machine's CPU,
 * `@huggingface/transformers` on ONNX Runtime, and `@wllama/wllama`, llama.cpp as wasm, in a
 * headless Chromium. All have the same shapes on one thread, in a process of their own.
 */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { decoderConfig } from "@kiln-ml/llm";
import { build } from "esbuild";
import { installInto } from "../cpu/install.ts";
import { adapterEnvironment } from "../onnx/adapter.ts";
import type { Row } from "../row.ts";
import { type Format, writeShape } from "./gguf-file.ts";
import { type Bits, dtypeOf, writeOnnxShape } from "./onnx-file.ts";
import { lengths, type Measured, shapes } from "./shapes.ts";

const run = promisify(execFile);
const cache = resolve("node_modules/.cache/kiln-bench/llm");

/** What a peer measured: it may not tell all. */
export type Theirs = Partial<Measured> &
  Pick<Measured, "decodeTokensPerSecond" | "prefillTokensPerSecond">;
export type Outcome = Theirs | { readonly failure: string };

export interface Peer {
  readonly name: string;
  /** What it calls a format; undefined for what it has not. */
  label(format: Format): string | undefined;
  measure(shape: string, format: Format): Promise<Theirs>;
}

/** Its packages of binaries: the others are for cards. */
const binaries: Readonly<Record<string, string>> = {
  "linux x64": "linux-x64",
  "linux arm64": "linux-arm64",
  "darwin x64": "mac-x64",
  "darwin arm64": "mac-arm64-metal",
  "win32 x64": "win-x64",
};

/** Installs packages into a folder of the cache, with our scripts beside them. */
function installed(
  name: string,
  packages: Readonly<Record<string, string>>,
  script: string,
  more: readonly string[] = [],
): string {
  const folder = join(cache, name);
  installInto(folder, packages, more);
  for (const file of [script, "rates.mjs"]) copyFileSync(`bench/llm/${file}`, join(folder, file));
  return join(folder, script);
}

/** The GGUF file of a shape, written once; half a file must not be found later. */
export function ggufOf(shape: string, format: Format): string {
  const path = join(cache, "files", `${shape}-${format}.gguf`);
  if (existsSync(path)) return path;
  mkdirSync(join(cache, "files"), { recursive: true });
  writeShape(`${path}.part`, shape, format);
  renameSync(`${path}.part`, path);
  return path;
}

const givenTo = (shape: string): string =>
  JSON.stringify({ ...lengths, vocabulary: decoderConfig(shapes[shape]).vocabulary });

async function answerOf(script: string, args: readonly string[]): Promise<Theirs> {
  const { stdout } = await run(process.execPath, [script, ...args]);
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

const llamaVersion = "3.22.1";
const llamaCpp: Peer = {
  name: "llama.cpp",
  label: (format) => format,
  async measure(shape, format) {
    const built = binaries[`${process.platform} ${process.arch}`];
    if (!built)
      throw new Error(`node-llama-cpp has no build for ${process.platform} ${process.arch}`);
    const packages = {
      "node-llama-cpp": llamaVersion,
      [`@node-llama-cpp/${built}`]: llamaVersion,
    };
    const script = installed("peers", packages, "llama-cpp.mjs", ["--omit=optional"]);
    return answerOf(script, [ggufOf(shape, format), givenTo(shape)]);
  },
};

const bitsOf: Readonly<Partial<Record<Format, Bits>>> = { F32: 32, Q8_0: 8, Q4_0: 4 };
const transformers: Peer = {
  name: "transformers.js",
  label: (format) => bitsOf[format] && dtypeOf[bitsOf[format]],
  async measure(shape, format) {
    const bits = bitsOf[format]!;
    // A message of protobuf has 2 GiB at most.
    if (shape === "1B" && bits === 32) throw new Error("an ONNX file of 1B floats is beyond 2 GiB");
    const packages = { "@huggingface/transformers": "4.3.2" };
    const script = installed("transformers", packages, "transformers.mjs");
    const folder = join(cache, "files", `${shape}-${dtypeOf[bits]}`);
    if (!existsSync(folder)) {
      rmSync(`${folder}.part`, { recursive: true, force: true });
      writeOnnxShape(`${folder}.part`, shape, bits);
      renameSync(`${folder}.part`, folder);
    }
    return answerOf(script, [folder, dtypeOf[bits], givenTo(shape)]);
  },
};

const wllama: Peer = {
  name: "wllama",
  label: (format) => format,
  async measure(shape, format) {
    // A shape of 1B is more than a page is served here.
    if (shape === "1B") throw new Error("not measured: a file of gigabytes in a page");
    const script = installed("wllama", { "@wllama/wllama": "3.13.0" }, "wllama-page.mjs");
    const bundled = await build({
      entryPoints: [script],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
      logLevel: "error",
    });
    Object.assign(process.env, await adapterEnvironment());
    // It looks for the browser when it is loaded.
    const { isolated, resultOf, withPage } = await import("../../tests/support/browser.ts");
    const wasm = join(cache, "wllama/node_modules/@wllama/wllama/esm/wasm/wllama.wasm");
    const html = `<!doctype html><meta charset="utf-8"><script id="lengths" type="application/json">${JSON.stringify(lengths)}</script><script type="module" src="/main.js"></script>`;
    const files = {
      "/index.html": html,
      "/main.js": bundled.outputFiles[0]!.text,
      "/wllama.wasm": readFileSync(wasm),
      "/model.gguf": readFileSync(ggufOf(shape, format)),
    };
    const result = await withPage({ files, headers: { "*": isolated } }, (page) => resultOf(page));
    const found = result as Outcome;
    if ("failure" in found) throw new Error(found.failure);
    return found;
  },
};

export const peers: readonly Peer[] = [llamaCpp, transformers, wllama];

/** A peer's rates, or why there are none. */
export async function askPeer(peer: Peer, shape: string, format: Format): Promise<Outcome> {
  try {
    return await peer.measure(shape, format);
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    const line = stderr.split("\n").find((l) => /Error/.test(l)) ?? message.split("\n")[0]!;
    return { failure: line.slice(0, 160) };
  }
}

/** The least of a peer's rate, where there is a goal. */
const goals: Readonly<Record<string, number>> = {
  "25M f32 wasm decode llama.cpp": 1,
  "25M int4 wasm decode llama.cpp": 0.5,
  "25M int4 wasm decode wllama": 2,
  "110M int4 wasm decode llama.cpp": 0.5,
  "110M int4 wasm decode wllama": 2,
};

/** Rows with a rate beside that of a peer: more is better. Those that it does not tell stay. */
export function besideOf(
  rows: readonly Row[],
  { name, label }: Peer,
  format: Format,
  theirs: Theirs,
): Row[] {
  const rates: Readonly<Record<string, number>> = {
    decode: theirs.decodeTokensPerSecond,
    prefill: theirs.prefillTokensPerSecond,
  };
  const times: Readonly<Record<string, number | undefined>> = {
    load: theirs.loadMs,
    "first token, again": theirs.nextFirstTokenMs,
    "peak memory": theirs.peakMiB,
  };
  return rows.map((row) => {
    const { value, metric } = row;
    const peer = `${name} ${label(format)}`;
    const [rate, time] = [rates[metric], times[metric]];
    if (!value || (rate === undefined && time === undefined)) return row;
    if (rate === undefined) return { ...row, peer, peerValue: time!, ratio: time! / value };
    const ratio = value / rate;
    const least = goals[`${row.case} ${row.target} ${metric} ${name}`];
    const goal = least === undefined ? {} : { goal: `≥ ${least}×`, met: ratio >= least };
    return { ...row, peer, peerValue: rate, ratio, ...goal };
  });
}
