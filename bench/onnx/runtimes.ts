/**
 * ONNX Runtime for the benchmarks: installed at first use, pinned, and put behind the same
 * interface as ours. Opens one model at a time on so many threads.
 */
import type { ElementType, TensorData } from "../../packages/onnx/src/proto/model.ts";
import {
  type OnnxRuntime,
  type OrtTensor,
  onnxRuntime,
  type RuntimeName,
  runtimeFolders,
} from "../../tests/support/onnxruntime.ts";
import { installed, installInto } from "../cpu/install.ts";
import type { Engine, Opened } from "./engine.ts";
import type { Value } from "./values.ts";

const version = "1.30.0";

/**
 * Installs a package of ONNX Runtime, and `others` with it, unless the peers of the CPU table have
 * brought it.
 */
export function installRuntime(
  name: RuntimeName,
  others: readonly RuntimeName[] = ["onnxruntime-node", "onnxruntime-web"],
): void {
  if (runtimeFolders.some((folder) => installed(folder, name, version))) return;
  installInto(
    runtimeFolders[0]!,
    Object.fromEntries([name, ...others].map((each) => [each, version])),
  );
}

function toOrt(ort: OnnxRuntime, name: string, value: Value): OrtTensor {
  if (value === null || !("data" in value))
    throw new TypeError(`onnxruntime: its JavaScript API feeds no sequences or optionals: ${name}`);
  return new ort.Tensor(value.type, value.data, value.dims);
}

function fromOrt(value: OrtTensor | undefined): Value {
  if (value === undefined) return null;
  const { type, dims, data } = value;
  return { type: type as ElementType, dims, data: data as TensorData };
}

async function loadRuntime(name: RuntimeName, threads: number): Promise<OnnxRuntime> {
  const ort = onnxRuntime(name);
  if (!ort) throw new Error(`onnxruntime: ${name} is not installed`);
  if (name === "onnxruntime-web") {
    ort.env.wasm.numThreads = threads;
    ort.env.logLevel = "error";
  }
  return ort;
}

const optionsOf = (name: RuntimeName, threads: number): object =>
  name === "onnxruntime-web"
    ? { executionProviders: ["wasm"], graphOptimizationLevel: "all" }
    : {
        graphOptimizationLevel: "all",
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        executionMode: "sequential",
      };

export async function runtimeEngine(name: RuntimeName, threads: number): Promise<Engine> {
  const ort = await loadRuntime(name, threads);
  return {
    name,
    open: async ({ bytes, beside }): Promise<Opened> => {
      const externalData = [...beside].map(([path, data]) => ({ path, data }));
      const session = await ort.InferenceSession.create(bytes, {
        ...optionsOf(name, threads),
        logSeverityLevel: 4,
        ...(externalData.length ? { externalData } : {}),
      });
      return {
        run: async (inputs) => {
          // Some exporters list inputs that no node reads; the runtime has dropped them.
          const known = new Set(session.inputNames);
          const fed = Object.entries(inputs).filter(([key]) => known.has(key));
          const feeds = Object.fromEntries(fed.map(([key, v]) => [key, toOrt(ort, key, v)]));
          const results = await session.run(feeds);
          return Object.fromEntries(session.outputNames.map((key) => [key, fromOrt(results[key])]));
        },
        close: () => session.release(),
      };
    },
  };
}
