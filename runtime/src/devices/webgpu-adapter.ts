/**
 * Finds a WebGPU adapter and opens it with everything it offers: full limits, and the features
 * kernels may use. Refuses software adapters unless asked for one: they are slower than the CPU
 * device.
 */
import { checkOptions, DeviceError, type OptionNames } from "@kiln-ml/artifact";
import { Device } from "../device.ts";
import { WebGpuDriver } from "./webgpu.ts";
import type { WebGpuOptions } from "./webgpu-open.ts";

const matrixFeature = "chromium-experimental-subgroup-matrix";
const wantedFeatures = ["timestamp-query", "subgroups", "shader-f16", matrixFeature];

// Dawn's GPU object owns the instance: if it is collected while a device lives, the process dies.
// So every GPU object a device came from stays reachable here, in Node and elsewhere.
const held = new Set<GPU>();

const webGpuOptions: OptionNames<WebGpuOptions> = {
  gpu: 1,
  powerPreference: 1,
  allowSoftware: 1,
  runsInFlight: 1,
};

/** As `openWebGpu` says, with a driver of this class. */
export async function openAdapter(options: WebGpuOptions, Driver = WebGpuDriver): Promise<Device> {
  checkOptions("openWebGpu", options, webGpuOptions);
  const gpu = (options.gpu as GPU | undefined) ?? globalThis.navigator?.gpu ?? (await nodeGpu());
  held.add(gpu);
  const { powerPreference } = options;
  const adapter = await gpu.requestAdapter(powerPreference ? { powerPreference } : {});
  if (!adapter)
    throw new DeviceError(
      "openWebGpu: no adapter\n  check the graphics driver, or use createCpuDevice()",
    );
  if (!options.allowSoftware && isSoftware(adapter.info))
    throw new DeviceError(
      `openWebGpu: the only adapter is software (${nameOf(adapter.info)})\n  use createCpuDevice(), which is faster, or pass { allowSoftware: true }`,
    );
  const device = await requestDevice(adapter);
  const features = new Set([...device.features, ...matrixUnits(device, adapter.info)]);
  return new Device(new Driver(device, nameOf(adapter.info), features, options.runsInFlight ?? 3));
}

let nodeInstance: Promise<GPU> | undefined;

/** npm `webgpu` is large, so it is loaded only here, and by a name that bundlers do not follow. */
function nodeGpu(): Promise<GPU> {
  nodeInstance ??= loadNodeGpu();
  return nodeInstance;
}

/**
 * NVIDIA's Vulkan drivers offer shader-f16 only under the first toggle; other adapters ignore it.
 * The second rounds timestamps to 100 µs, longer than most kernels run: a guard for pages that a
 * program in Node has no use for.
 */
const dawnOptions = [
  "enable-dawn-features=vulkan_enable_f16_on_nvidia",
  "disable-dawn-features=timestamp_quantization",
];

async function loadNodeGpu(): Promise<GPU> {
  const name = "webgpu";
  if (typeof process === "undefined" || !process.versions?.node)
    throw new DeviceError(
      "openWebGpu: this browser has no WebGPU, or the page is not served over https\n  use createCpuDevice()",
    );
  try {
    const dawn = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
      create(options: string[]): GPU;
    };
    return dawn.create(dawnOptions);
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

interface MatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/**
 * What matrix units take, which an adapter says apart from its features, as features:
 * `subgroup-matrix-f16-f32-16x16x16-of-32`.
 */
function matrixUnits({ features }: GPUDevice, info: GPUAdapterInfo): string[] {
  const { subgroupMinSize, subgroupMaxSize, subgroupMatrixConfigs } = info as GPUAdapterInfo & {
    readonly subgroupMatrixConfigs?: Iterable<MatrixConfig>;
  };
  const has = features as ReadonlySet<string>;
  // A kernel that counts on matrices counts its subgroups too.
  if (!has.has(matrixFeature) || subgroupMinSize !== subgroupMaxSize) return [];
  return [...(subgroupMatrixConfigs ?? [])].map(
    ({ componentType, resultComponentType, M, N, K }) =>
      `subgroup-matrix-${componentType}-${resultComponentType}-${M}x${N}x${K}-of-${subgroupMaxSize}`,
  );
}

async function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const limits = adapter.limits as unknown as Record<string, unknown>;
  const requiredLimits: Record<string, number> = {};
  // Limits are getters of the prototype, so only for-in sees them.
  for (const name in limits) {
    const value = limits[name];
    if (typeof value === "number") requiredLimits[name] = value;
  }
  const requiredFeatures = wantedFeatures.filter((f) =>
    (adapter.features as ReadonlySet<string>).has(f),
  );
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
