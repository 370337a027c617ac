/**
 * `import "@kiln-ml/tfjs"` registers the backend "kiln" with TensorFlow.js: `await
 * tf.setBackend("kiln")`, and a program runs as it is. Its ops are recorded, and compiled and fused
 * when a value is read.
 */
import { engine, registerBackend } from "@tensorflow/tfjs-core";
import type { TargetOption } from "kiln-ml";
import { openPrograms } from "kiln-ml/programs";
import { KilnBackend } from "./backend.ts";
import { backendName, registerKernels } from "./kernels.ts";

let chosen: TargetOption | undefined;

/**
 * Where the backend runs, from the next time that it is opened: "js", "wasm", "webgpu", or "auto",
 * which is WebGPU on an adapter that is no software, else wasm.
 */
export function setTarget(target: TargetOption): void {
  chosen = target;
}

/** What the backend did since it was opened; zeros before. */
export interface Counts {
  /** Programs that were compiled, and runs of them. */
  readonly compiled: number;
  readonly runs: number;
  /** Calls that wait to be computed. */
  readonly pending: number;
  /** Kernels that have no row and ran on tfjs's cpu backend, with how often they did. */
  readonly fallbacks: Readonly<Record<string, number>>;
}

export function counts(): Counts {
  const backend = engine().registry[backendName];
  if (!(backend instanceof KilnBackend)) return { compiled: 0, runs: 0, pending: 0, fallbacks: {} };
  const { programs, pending } = backend.recorder;
  const { compiled, runs } = programs;
  return { compiled, runs, pending, fallbacks: Object.fromEntries(backend.fallbacks) };
}

/** Above the priorities of tfjs's own backends: who imports it wants it. */
const priority = 10;

registerKernels();
registerBackend(
  backendName,
  async () => {
    const device = await openPrograms(chosen);
    registerKernels();
    return new KilnBackend(device);
  },
  priority,
);
