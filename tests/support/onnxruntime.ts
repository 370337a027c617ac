/**
 * ONNX Runtime as a reference, where `.ci/run` or an earlier `npm run conformance`, `models` or `bench` has installed it: it takes
 * 290 MB, so tests install nothing. Without it a test is a counted skip, and in CI a failure.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "uvu";
import { missing } from "./skip.ts";

/** As much of onnxruntime-node as is used here. */
export interface OrtTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: ArrayLike<number | bigint | string>;
}

export interface OrtSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Readonly<Record<string, OrtTensor>>): Promise<Record<string, OrtTensor>>;
  release(): Promise<void>;
}

export interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: Uint8Array, options?: object): Promise<OrtSession>;
  };
  readonly Tensor: new (type: string, data: unknown, dims: readonly number[]) => OrtTensor;
  readonly env: { wasm: { numThreads?: number }; logLevel?: string };
}

export type RuntimeName = "onnxruntime-node" | "onnxruntime-web";

/** Folders of the cache that hold the packages, the first that has one wins. */
export const runtimeFolders = ["onnx", "cpu"].map((name) =>
  resolve("node_modules/.cache/kiln-bench", name),
);

/** The module, or undefined where it is not installed. */
export function onnxRuntime(name: RuntimeName = "onnxruntime-node"): OnnxRuntime | undefined {
  const folder = runtimeFolders.find((f) => existsSync(join(f, "node_modules", name)));
  if (folder === undefined) return undefined;
  return createRequire(join(folder, "package.json"))(name) as OnnxRuntime;
}

/** Registers a test that needs onnxruntime-node. */
export function runtimeTest(name: string, body: (ort: OnnxRuntime) => Promise<void>): void {
  const ort = onnxRuntime();
  if (ort) test(name, () => body(ort));
  else missing(name, "onnxruntime-node is not installed: npm run peer installs it");
}
