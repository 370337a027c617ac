/**
 * Runs one emitted WGSL kernel on a device: buffers in the order of its bindings, then the uniform struct of dims.
 */
import { evaluateExtent, type KernelText } from "@kiln-ml/artifact";
import { type Dtype, isFloat } from "@kiln-ml/ir";

/** Messages of the compiler for this module; none if it and its pipeline are valid. */
export async function problemsOf(device: GPUDevice, k: KernelText): Promise<string[]> {
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code: k.text });
  const { messages } = await module.getCompilationInfo();
  device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
  const error = await device.popErrorScope();
  const texts = messages.map((m) => `${m.type} ${m.lineNum}:${m.linePos} ${m.message}`);
  return error ? [...texts, error.message] : texts;
}

type Words = Float32Array | Int32Array | Uint32Array;

function wordsOf(dtype: Dtype, numbers: readonly number[]): Words {
  if (isFloat(dtype)) return Float32Array.from(numbers);
  return dtype[0] === "i" ? Int32Array.from(numbers) : Uint32Array.from(numbers);
}

/** Runs the kernel and gives the contents of its last binding. */
export async function runWgsl(
  device: GPUDevice,
  k: KernelText,
  arrays: readonly (readonly number[])[],
  dims: Readonly<Record<string, number>> = {},
): Promise<number[]> {
  const module = device.createShaderModule({ code: k.text });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const upload = (data: Words, use: number): GPUBuffer => {
    const buffer = device.createBuffer({ size: Math.max(16, data.byteLength), usage: use });
    device.queue.writeBuffer(buffer, 0, data as Words & { buffer: ArrayBuffer });
    return buffer;
  };
  const buffers = k.bindings.map((b, i) => upload(wordsOf(b.dtype, arrays[i]!), usage));
  const all = k.dims.length
    ? [
        ...buffers,
        upload(
          Int32Array.from(k.dims, (d) => dims[d]!),
          GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
        ),
      ]
    : buffers;
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: all.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  const [x, y, z] = k.workgroups!.map((e) => evaluateExtent(e, dims)) as [number, number, number];
  pass.dispatchWorkgroups(x, y, z);
  pass.end();
  const last = buffers.at(-1)!;
  const readback = device.createBuffer({
    size: last.size,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  encoder.copyBufferToBuffer(last, 0, readback, 0, last.size);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(GPUMapMode.READ);
  const bytes = readback.getMappedRange();
  const { dtype } = k.bindings.at(-1)!;
  const words = isFloat(dtype)
    ? new Float32Array(bytes)
    : dtype[0] === "i"
      ? new Int32Array(bytes)
      : new Uint32Array(bytes);
  return [...words].slice(0, arrays.at(-1)!.length);
}

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);
const ordinal = (x: number): number => {
  float[0] = x;
  return bits[0]! < 0 ? -(bits[0]! & 0x7fffffff) : bits[0]!;
};
/** Units in the last place of f32 between two numbers; 0 for two NaNs. */
export function ulpsBetween(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b) ? 0 : Infinity;
  return Math.abs(ordinal(a) - ordinal(b));
}
