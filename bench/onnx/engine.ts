/**
 * What runs models: ours on a target, or ONNX Runtime.
 */
import type { Tensors, Value } from "./values.ts";

export interface ModelFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Files beside the model, by name. */
  readonly beside: ReadonlyMap<string, Uint8Array>;
  /** What is known of symbols in declared shapes, such as `{ H: "32*h" }`. */
  readonly dims?: Readonly<Record<string, number | string>>;
}

export interface Opened {
  readonly run: (inputs: Tensors) => Promise<Record<string, Value>>;
  readonly close: () => Promise<void>;
  /** Programs compiled so far; ours only. */
  readonly compiles?: () => number;
  /** Kernels of one run; ours only. */
  readonly kernels?: (inputs: Tensors) => Promise<number>;
}

export interface Engine {
  readonly name: string;
  readonly open: (file: ModelFile) => Promise<Opened>;
}

export const targetNames = ["wasm", "native", "js", "webgpu"] as const;
export type OurTarget = (typeof targetNames)[number];
/** A target of ours, or a package of ONNX Runtime. */
export type EngineName = OurTarget | "onnxruntime-node" | "onnxruntime-web";

/** Interfaces of others that Kiln has: our targets may be asked through one. */
export const faceNames = ["onnxruntime"] as const;
export type Face = (typeof faceNames)[number];

/** The engine, with only its own modules loaded, on so many threads. */
export async function openEngine(name: EngineName, face?: Face, threads = 1): Promise<Engine> {
  if (name === "onnxruntime-node" || name === "onnxruntime-web")
    return (await import("./runtimes.ts")).runtimeEngine(name, threads);
  if (face) return (await import("./face.ts")).faceEngine(name, threads);
  return (await import("./kiln.ts")).kilnEngine(name, threads);
}
