/**
 * The device that the options name, for the scripts that run artifacts. Imports the runtime only.
 */
import { createCpuDevice, createWasmDevice, type Device } from "@kiln-ml/runtime";
import { options } from "./options.ts";

export const openDevice = (): Device =>
  options.target === "js" ? createCpuDevice() : createWasmDevice({ threads: options.threads });
