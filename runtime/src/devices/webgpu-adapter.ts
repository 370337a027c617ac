/**
 * Finds a WebGPU adapter and opens it with everything it offers: full limits, and the features
 * kernels may use. Refuses software adapters unless asked for one: they are slower than the CPU
 * device.
 */
import { checkOptions, DeviceError, GraphError, type OptionNames } from "@kiln-ml/artifact";
import { Device } from "../device.ts";
import { WebGpuDriver } from "./webgpu.ts";
import { matrixFeature, matrixUnitsOf } from "./webgpu-matrix.ts";
import type { WebGpuOptions } from "./webgpu-open.ts";

const wantedFeatures = ["timestamp-query", "subgroups", "shader-f16"];

// Dawn's GPU object owns the instance: if it is collected while a device lives, the process dies.
// So every GPU object a device came from stays reachable here, in Node and elsewhere.
const held = new Set<GPU>();

const webGpuOptions: OptionNames<WebGpuOptions> = {
  gpu: 1,
  powerPreference: 1,
  allowSoftware: 1,
  matrixUnits: 1,
  runsInFlight: 1,
};

/** As `openWebGpu` says, with a driver of this class. */
export async function openAdapter(options: WebGpuOptions, Driver = WebGpuDriver): Promise<Device> {
  checkOptions("openWebGpu", options, webGpuOptions);
  checkValues(options);
  const { powerPreference, matrixUnits = true } = options;
  const gpu =
    (options.gpu as GPU | undefined) ?? globalThis.navigator?.gpu ?? (await nodeGpu(matrixUnits));
  held.add(gpu);
  const adapter = await gpu.requestAdapter(powerPreference ? { powerPreference } : {});
  if (!adapter)
    throw new DeviceError(
      "openWebGpu: no adapter\n  check the graphics driver, or use createCpuDevice()",
    );
  if (!options.allowSoftware && isSoftware(adapter.info))
    throw new DeviceError(
      `openWebGpu: the only adapter is software (${nameOf(adapter.info)})\n  use createCpuDevice(), which is faster, or pass { allowSoftware: true }`,
    );
  const wanted = matrixUnits ? [...wantedFeatures, matrixFeature] : wantedFeatures;
  const device = await requestDevice(adapter, wanted);
  const units = await matrixUnitsOf(device, adapter.info);
  const features = new Set([...device.features, ...units]);
  return new Device(new Driver(device, nameOf(adapter.info), features, options.runsInFlight ?? 3));
}

/** What no type checker has seen: "false" is no false. */
function checkValues({
  allowSoftware = false,
  matrixUnits = true,
  ...others
}: WebGpuOptions): void {
  for (const [name, value, usual] of [
    ["allowSoftware", allowSoftware, false],
    ["matrixUnits", matrixUnits, true],
  ] as const)
    if (typeof value !== "boolean")
      throw new GraphError(
        `openWebGpu: ${name} must be true or false, got ${shown(value)}\n  leave it out for ${usual}`,
      );
  const { runsInFlight = 1 } = others;
  if (!(Number.isSafeInteger(runsInFlight) && runsInFlight >= 1))
    throw new GraphError(
      `openWebGpu: runsInFlight must be an integer of 1 or more, got ${shown(runsInFlight)}\n  leave it out for 3`,
    );
}

const shown = (x: unknown): string => (typeof x === "string" ? JSON.stringify(x) : String(x));

const nodeInstances = new Map<boolean, Promise<GPU>>();

/** npm `webgpu` is large, so it is loaded only here, and by a name that bundlers do not follow. */
function nodeGpu(matrixUnits: boolean): Promise<GPU> {
  const gpu = nodeInstances.get(matrixUnits) ?? loadNodeGpu(matrixUnits);
  nodeInstances.set(matrixUnits, gpu);
  return gpu;
}

/**
 * NVIDIA's Vulkan drivers offer shader-f16 only under the first toggle; other adapters ignore it.
 * Matrix units are among what Dawn calls unsafe, which is experimental: pages are kept from it, and
 * the kernels of a program in Node are its own. The last rounds timestamps to 100 µs, longer than
 * most kernels run: a guard for pages as well.
 */
const dawnOptions = (matrixUnits: boolean): string[] => [
  `enable-dawn-features=vulkan_enable_f16_on_nvidia${matrixUnits ? ",allow_unsafe_apis" : ""}`,
  "disable-dawn-features=timestamp_quantization",
];

async function loadNodeGpu(matrixUnits: boolean): Promise<GPU> {
  const name = "webgpu";
  if (typeof process === "undefined" || !process.versions?.node)
    throw new DeviceError(
      "openWebGpu: this browser has no WebGPU, or the page is not served over https\n  use createCpuDevice()",
    );
  try {
    const dawn = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
      create(options: string[]): GPU;
    };
    return dawn.create(dawnOptions(matrixUnits));
  } catch (cause) {
    throw new DeviceError(
      "openWebGpu: npm package webgpu is not installed or does not load here\n  npm install webgpu, or use createCpuDevice()",
      { cause },
    );
  }
}

const nameOf = (info: GPUAdapterInfo): string =>
  info.description || info.device || info.architecture || info.vendor || "unnamed";

function isSoftware(info: GPUAdapterInfo): boolean {
  const text = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`;
  return (
    info.isFallbackAdapter === true ||
    /swiftshader|llvmpipe|lavapipe|software|basic render|null backend/i.test(text)
  );
}

async function requestDevice(adapter: GPUAdapter, wanted: readonly string[]): Promise<GPUDevice> {
  const limits = adapter.limits as unknown as Record<string, unknown>;
  const requiredLimits: Record<string, number> = {};
  // Limits are getters of the prototype, so only for-in sees them.
  for (const name in limits) {
    const value = limits[name];
    if (typeof value === "number") requiredLimits[name] = value;
  }
  const requiredFeatures = wanted.filter((f) => (adapter.features as ReadonlySet<string>).has(f));
  try {
    return await adapter.requestDevice({
      requiredLimits,
      requiredFeatures: requiredFeatures as GPUFeatureName[],
    });
  } catch (cause) {
    throw new DeviceError(
      `openWebGpu: the adapter gives no device: ${(cause as Error).message}\n  close other pages that use the GPU, or use createWasmDevice()`,
      {
        cause,
      },
    );
  }
}
