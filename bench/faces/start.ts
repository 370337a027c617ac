/**
 * From nothing to the first result of a small model, in fresh processes that take turns: what is
 * loaded, in bytes as a server would send them, and how long it takes by the time of day. Ours is
 * bundled as a page's would be, in parts of which only those count that were asked for.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { runtimeFolders } from "../../tests/support/onnxruntime.ts";
import { relaxedFlag } from "../cpu/columns.ts";
import { installed } from "../cpu/install.ts";
import { timingOf } from "../measure.ts";
import { fileAt, filesOf } from "../onnx/sources.ts";
import { compared, type Row } from "../row.ts";

const folder = resolve("node_modules/.cache/kiln-bench/start");
const processes = 5;
const peer = "onnxruntime-web";

interface Start {
  readonly load: number;
  readonly create: number;
  readonly run: number;
  readonly files: readonly string[];
}

/** Every part of the bundle tells that it was loaded. */
const tell = "(globalThis.loadedFiles??=[]).push(import.meta.url);";

async function bundleFace(): Promise<string> {
  const outdir = join(folder, "kiln");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: { index: "packages/onnxruntime/src/index.ts" },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@kiln-ml/source"],
    external: ["webgpu", "esbuild"],
    banner: { js: tell },
    logLevel: "error",
  });
  return join(outdir, "index.mjs");
}

const gzipped = (path: string | URL): number => gzipSync(readFileSync(path)).length;

/** What a page loads for WebAssembly on the CPU, the smallest of the package's builds. */
function peerFiles(): { readonly entry: string; readonly files: readonly string[] } {
  const home = runtimeFolders.find((f) => installed(f, peer, "1.30.0"))!;
  const dist = join(home, "node_modules", peer, "dist");
  const names = ["ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm"];
  return { entry: join(dist, "ort.node.min.mjs"), files: names.map((name) => join(dist, name)) };
}

function started(entry: string, model: string): Start {
  const script = resolve("bench/faces/start-worker.mjs");
  const args = [...relaxedFlag, script, pathToFileURL(entry).href, model];
  const env = { ...process.env, KILN_CACHE: "off" };
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env }));
}

export async function startRows(): Promise<Row[]> {
  mkdirSync(folder, { recursive: true });
  const model = join(folder, "squeezenet.onnx");
  writeFileSync(
    model,
    fileAt(filesOf({ data: "onnx-backend-tests.tar.gz" }), "light/light_squeezenet.onnx"),
  );
  const face = await bundleFace();
  const other = peerFiles();
  const [own, theirs]: [Start[], Start[]] = [[], []];
  for (let i = 0; i < processes; i++) {
    own.push(started(face, model));
    theirs.push(started(other.entry, model));
  }
  const base = { case: "SqueezeNet (light), from nothing", target: "wasm", peer };
  const ms = (metric: string, of: (s: Start) => number, least?: number): Row => {
    const [a, b] = [own, theirs].map((list) => timingOf(list.map(of)));
    const spread = Math.max(a!.spread, b!.spread);
    const row = { ...base, metric, unit: "ms", spread, value: a!.median, peerValue: b!.median };
    return compared(row, least);
  };
  const sum = (paths: readonly (string | URL)[]): number =>
    paths.reduce((bytes, path) => bytes + gzipped(path), 0);
  return [
    ms("load", (s) => s.load),
    ms("load and create", (s) => s.load + s.create, 1),
    ms("to the first result", (s) => s.load + s.create + s.run),
    compared({
      ...base,
      metric: "over the wire",
      unit: "kB, gzipped",
      value: sum(own[0]!.files.map((url) => new URL(url))) / 1000,
      peerValue: sum(other.files) / 1000,
    }),
  ];
}
