/** Backends that other packages register with ONNX Runtime. None can run here: Kiln's devices are the only ones. */
import { quietestOf } from "./env.ts";
import { warnOnce } from "./warn.ts";

/** Left alone, and told once. */
export function registerBackend(name: string, _backend?: unknown, _priority?: number): void {
  warnOnce(`the backend ${name} is not used: Kiln runs all models`, quietestOf(undefined));
}

/** What `executionProviders` may name, as `onnxruntime-node` lists it. */
export const listSupportedBackends = (): { name: string; bundled: boolean }[] => [
  { name: "cpu", bundled: true },
  { name: "webgpu", bundled: true },
];
