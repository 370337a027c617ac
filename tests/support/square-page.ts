/** A page script: squares four numbers on WebGPU and leaves them in `globalThis.result`. */
const code = `
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
  x[id.x] = x[id.x] * x[id.x];
}`;

async function square(x: Float32Array<ArrayBuffer>): Promise<number[]> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) return [];
  const device = await adapter.requestDevice();
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const buffer = device.createBuffer({ size: x.byteLength, usage });
  device.queue.writeBuffer(buffer, 0, x);
  const readback = device.createBuffer({
    size: x.byteLength,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
  const layout = pipeline.getBindGroupLayout(0);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] }),
  );
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, readback, 0, x.byteLength);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(GPUMapMode.READ);
  return Array.from(new Float32Array(readback.getMappedRange()));
}

Object.assign(globalThis, { result: await square(new Float32Array([1, 2, 3, 4])) });
