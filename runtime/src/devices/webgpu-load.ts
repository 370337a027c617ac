/**
 * Compiles an artifact's WGSL: one module and pipeline a kernel, all in parallel. Bind group
 * layouts are written out from the kernel's bindings, because a derived one drops bindings that the
 * text does not use.
 */
import { type Artifact, ArtifactError, DeviceError } from "@kiln-ml/artifact";
import type { Program } from "../device.ts";
import { firstLine } from "./first-line.ts";
import { type GpuHost, type GpuKernel, GpuProgram } from "./webgpu-program.ts";

const computeStage = 0x4;

export async function loadGpuProgram(host: GpuHost, artifact: Artifact): Promise<Program> {
  const { device } = host;
  const layouts = new Map<string, GPUBindGroupLayout>();
  const compiled = artifact.kernels.map((kernel) => compileKernel(device, kernel, layouts));
  // All settle before the first failure is thrown, so that none is left unhandled.
  const results = await Promise.allSettled(compiled);
  const kernels = results.map((r) => {
    if (r.status === "rejected") throw r.reason;
    return r.value;
  });
  return new GpuProgram(host, kernels);
}

type KernelText = Artifact["kernels"][number];

async function compileKernel(
  device: GPUDevice,
  kernel: KernelText,
  layouts: Map<string, GPUBindGroupLayout>,
): Promise<GpuKernel> {
  const { name, text, dims } = kernel;
  device.pushErrorScope("validation");
  const layoutKey = layoutKeyOf(kernel);
  const layout = layouts.get(layoutKey) ?? createLayout(device, layoutKey);
  layouts.set(layoutKey, layout);
  const module = device.createShaderModule({ label: name, code: text });
  const promise = device.createComputePipelineAsync({
    label: name,
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: "main" },
  });
  const [error, result] = await kicked(
    device,
    Promise.all([device.popErrorScope().catch(() => null), promise.catch((cause: Error) => cause)]),
  );
  if (error)
    throw new ArtifactError(
      `load: kernel ${name} ${await complaint(module, error)}\n  compile it again for the limits of this device`,
    );
  if (result instanceof Error)
    throw new DeviceError(`load: kernel ${name} gives no pipeline: ${firstLine(result.message)}`, {
      cause: result,
    });
  return { name, layoutKey, layout, pipeline: result, dims: dims.length };
}

/**
 * Dawn in Node now and then stops looking for finished work while a pipeline is still being made,
 * and then the promise is never settled. Asking it for something else from time to time makes it
 * look again.
 */
async function kicked<T>(device: GPUDevice, promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    device.queue.onSubmittedWorkDone().catch(() => {});
  }, 50);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

/**
 * The first error of the text with its line and column; one that is not of the text, as it came.
 */
async function complaint(module: GPUShaderModule, error: GPUError): Promise<string> {
  const { messages } = await module.getCompilationInfo();
  const first = messages.find((m) => m.type === "error");
  if (!first) return `does not compile: ${firstLine(error.message)}`;
  return `does not compile: ${first.lineNum}:${first.linePos}: ${firstLine(first.message)}`;
}

/** r for a read-only binding, w for any other, u for the uniform with the dims. */
const layoutKeyOf = ({ bindings, dims }: KernelText): string =>
  bindings.map((b) => (b.access === "read" ? "r" : "w")).join("") + (dims.length > 0 ? "u" : "");

const bufferTypes = { r: "read-only-storage", w: "storage", u: "uniform" } as const;

function createLayout(device: GPUDevice, key: string): GPUBindGroupLayout {
  return device.createBindGroupLayout({
    entries: [...key].map((c, binding) => ({
      binding,
      visibility: computeStage,
      buffer: { type: bufferTypes[c as keyof typeof bufferTypes] },
    })),
  });
}
