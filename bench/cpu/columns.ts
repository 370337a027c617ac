/**
 * The columns of the CPU table: who is measured, by which process, and what a ratio may be taken
 * to.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { bundleAdapter, installPeers } from "./install.ts";
import { type Command, Peer } from "./peer.ts";

export interface Column {
  readonly name: string;
  /** Web peers are what npm offers for the same engine; native ones are machine code of their own. */
  readonly kind: "ours" | "web" | "native";
  readonly threaded: boolean;
}

export const ours: Column = { name: "kiln", kind: "ours", threaded: true };

/** Beside native code: what a machine without a compiler takes. */
const ourWasm: Column = { name: "kiln wasm", kind: "web", threaded: true };

export const peers: readonly Column[] = [
  ourWasm,
  { name: "jax-js", kind: "web", threaded: true },
  { name: "tfjs wasm", kind: "web", threaded: true },
  { name: "tfjs cpu", kind: "web", threaded: false },
  { name: "ORT web", kind: "web", threaded: true },
  { name: "ORT native", kind: "native", threaded: true },
  { name: "PyTorch", kind: "native", threaded: true },
];

/** Engines before V8 12 have relaxed SIMD behind a flag, later ones without, and refuse the flag. */
export const relaxedFlag: readonly string[] =
  Number(process.versions.v8.split(".")[0]) < 12 ? ["--experimental-wasm-relaxed-simd"] : [];

function node(args: readonly string[], env: Readonly<Record<string, string>>): Command {
  return { file: process.execPath, args: ["--expose-gc", ...args], env };
}

/** Ours runs from source, as the tests do. */
export const ourCommand = (target: string, threads: number): Command =>
  node(
    [
      ...relaxedFlag,
      "--conditions=@kiln-ml/source",
      "--import",
      "tsx",
      "bench/cpu/adapters/kiln.ts",
    ],
    { TARGET: target, THREADS: `${threads}` },
  );

const adapters: Readonly<Record<string, readonly [bundle: string, env?: Record<string, string>]>> =
  {
    "jax-js": ["jax"],
    "tfjs wasm": ["tfjs", { BACKEND: "wasm" }],
    "tfjs cpu": ["tfjs", { BACKEND: "cpu" }],
    "ORT web": ["ort", { KIND: "web" }],
    "ORT native": ["ort", { KIND: "node" }],
  };

/** A Python that has PyTorch; $PYTHON is tried first. */
export function pythonWithTorch(): string | undefined {
  const candidates = [process.env.PYTHON, "python3", "/usr/bin/python3"];
  return candidates.find((python) => {
    if (!python) return false;
    try {
      execFileSync(python, ["-c", "import torch"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
}

/** Left to itself, Debian's OpenBLAS takes its AVX2 kernels on virtual machines with AVX-512, and half the time more. */
function coreType(): Record<string, string> {
  if (process.env.OPENBLAS_CORETYPE || process.platform !== "linux") return {};
  const wide = readFileSync("/proc/cpuinfo", "utf8").includes("avx512bw");
  return wide ? { OPENBLAS_CORETYPE: "SKYLAKEX" } : {};
}

function torchCommand(python: string, threads: number): Command {
  const limits = { OPENBLAS_NUM_THREADS: `${threads}`, OMP_NUM_THREADS: `${threads}` };
  const env = { THREADS: `${threads}`, ...limits, ...coreType() };
  return { file: python, args: ["bench/cpu/adapters/pytorch.py"], env };
}

/** Peers that are asked for and that this machine does not have, with the reason. */
export const absentPeers = (withPeers: boolean): readonly (readonly [string, string])[] =>
  withPeers && !pythonWithTorch() ? [["PyTorch", "no Python here has torch"]] : [];

/** Processes of ours and, if asked, of every peer that this machine has. None is started. */
export async function peersFor(
  target: string,
  threads: readonly number[],
  withPeers: boolean,
): Promise<Peer[]> {
  const list = threads.map((count) => new Peer(ours.name, count, ourCommand(target, count)));
  if (target === "native")
    list.push(...threads.map((n) => new Peer(ourWasm.name, n, ourCommand("wasm", n))));
  if (!withPeers) return list;
  installPeers();
  const python = pythonWithTorch();
  for (const { name, threaded } of peers.filter((p) => p !== ourWasm)) {
    const counts = threaded ? threads : [1];
    const adapter = adapters[name];
    if (!adapter) {
      if (python)
        list.push(...counts.map((count) => new Peer(name, count, torchCommand(python, count))));
      continue;
    }
    const [bundle, env = {}] = adapter;
    const path = await bundleAdapter(bundle);
    const flags = name === "jax-js" ? relaxedFlag : [];
    for (const count of counts)
      list.push(new Peer(name, count, node([...flags, path], { ...env, THREADS: `${count}` })));
  }
  return list;
}
