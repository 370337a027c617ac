/**
 * The device that an artifact was compiled for, for the scripts that run artifacts. Imports the runtime only.
 */
import type { Artifact } from "@kiln-ml/artifact";
import { createCpuDevice, createWasmDevice, type Device, openWebGpu } from "@kiln-ml/runtime";
import { options } from "./options.ts";

export function openDevice(target: Artifact["target"]): Device | Promise<Device> {
  if (target === "js") return createCpuDevice();
  if (target === "wasm") return createWasmDevice({ threads: options.threads });
  // What is asked for by name is taken as it is, an adapter in software too.
  return openWebGpu({ allowSoftware: true });
}
