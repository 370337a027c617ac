/**
 * What copying costs on the device at hand, four elements and one at a time: the limit of kernels that do little but move
 * memory. Written without the compiler, so that it cannot be slow for the same reason.
 */
const storage = 0x80 | 0x4 | 0x8;
/** 256 MiB, far beyond any cache. */
const words = 1 << 26;

const textOf = (type: string, count: number): string => `
@group(0) @binding(0) var<storage, read> x: array<${type}>;
@group(0) @binding(1) var<storage, read_write> y: array<${type}>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
  let i = id.x + id.y * n.x * 256u;
  if (i < ${count}u) { y[i] = x[i]; }
}`;

export interface CopyRates {
  /** GB/s, read and written. */
  readonly wide: number;
  readonly scalar: number;
}

export async function copyRates(device: GPUDevice, size = words): Promise<CopyRates> {
  const buffers = [0, 1].map(() => device.createBuffer({ size: size * 4, usage: storage }));
  const rate = (type: string, count: number) =>
    rateOf(device, textOf(type, count), buffers, count, size);
  const rates = { wide: await rate("vec4<f32>", size / 4), scalar: await rate("f32", size) };
  for (const b of buffers) b.destroy();
  return rates;
}

async function rateOf(
  device: GPUDevice,
  code: string,
  buffers: readonly GPUBuffer[],
  count: number,
  size: number,
): Promise<number> {
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const groups = Math.ceil(count / 256);
  const rows = Math.ceil(groups / 65535);
  const repeats = 10;
  const times: number[] = [];
  for (let i = 0; i < 8; i++) {
    const start = performance.now();
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    for (let j = 0; j < repeats; j++) pass.dispatchWorkgroups(Math.ceil(groups / rows), rows);
    pass.end();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    if (i > 0) times.push((performance.now() - start) / repeats);
  }
  return (size * 8) / times.sort((a, b) => a - b)[3]! / 1e6;
}
