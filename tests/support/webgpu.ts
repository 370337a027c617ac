/**
 * WebGPU in Node without a GPU: a null device that validates shaders and pipelines but computes nothing, and a
 * software device (SwiftShader) that computes. The runner sets the environment by which the software one is found.
 */
import { test } from "uvu";
import { missing } from "./skip.ts";

interface Dawn {
  create(options: string[]): GPU;
  globals: object;
}

// Dawn kills the process if the object returned by `create` is collected while a device lives, so both are held
// here for the life of the process.
const held = new Map<string, Promise<GPU>>();

async function openGpu(...options: string[]): Promise<GPU> {
  // The package declares its types through a reference that nodenext does not follow.
  const { create, globals } = (await import("webgpu")) as unknown as Dawn;
  Object.assign(globalThis, globals);
  return create(options);
}

/** The GPU object for these Dawn options, created once and never released. */
export function heldGpu(...options: string[]): Promise<GPU> {
  const key = options.join(" ");
  const gpu = held.get(key) ?? openGpu(...options);
  held.set(key, gpu);
  return gpu;
}

/** A new device that validates WGSL, pipelines, bindings and submits, and leaves every buffer zero. */
export async function nullDevice(
  requiredFeatures: readonly GPUFeatureName[] = [],
): Promise<GPUDevice> {
  const adapter = await (await heldGpu("backend=null")).requestAdapter();
  if (adapter === null) throw new Error("no null adapter");
  return adapter.requestDevice({ requiredFeatures: [...requiredFeatures] });
}

async function softwareAdapter(): Promise<GPUAdapter> {
  const adapter = await (await heldGpu("backend=vulkan")).requestAdapter();
  if (adapter === null) throw new Error("no WebGPU adapter: run it through npm test");
  return adapter;
}

/** A new device on the software adapter, with the adapter's own limits unless told otherwise. */
export async function softwareDevice(descriptor?: GPUDeviceDescriptor): Promise<GPUDevice> {
  return (await softwareAdapter()).requestDevice(descriptor);
}

/** Why there is no software adapter; empty if there is one. */
const absence = await softwareAdapter().then(
  () => "",
  (error: Error) => error.message,
);

/** Registers a test on a fresh software device; without an adapter it skips, or fails in CI. */
export function gpuTest(name: string, body: (device: GPUDevice) => Promise<void>): void {
  if (absence !== "") {
    missing(name, absence);
    return;
  }
  test(name, async () => {
    const device = await softwareDevice();
    try {
      await body(device);
    } finally {
      device.destroy();
    }
  });
}
