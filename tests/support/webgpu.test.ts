/** The two WebGPU devices that other tests stand on: one computes, one rejects what is wrong. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuTest, nullDevice } from "./webgpu.ts";

const squares = `
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&x)) { x[id.x] = x[id.x] * x[id.x] + 1; }
}`;

async function runOn(device: GPUDevice, code: string, x: Float32Array): Promise<number[]> {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const buffer = device.createBuffer({ size: x.byteLength, usage });
  const readback = device.createBuffer({
    size: x.byteLength,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  device.queue.writeBuffer(buffer, 0, x as Float32Array<ArrayBuffer>);
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer } }],
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(Math.ceil(x.length / 4));
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, readback, 0, x.byteLength);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(GPUMapMode.READ);
  return Array.from(new Float32Array(readback.getMappedRange()));
}

gpuTest("the software device computes a kernel", async (device) => {
  assert.equal(
    await runOn(device, squares, new Float32Array([1, 2, 3, -4, 0.5])),
    [2, 5, 10, 17, 1.25],
  );
});

async function complaint(code: string): Promise<string> {
  const device = await nullDevice();
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: "auto", compute: { module } });
  return (await device.popErrorScope())?.message ?? "";
}

test("the null device accepts a valid kernel", async () => {
  assert.is(await complaint(squares), "");
});

test("the null device rejects a kernel that names an undeclared value", async () => {
  assert.match(
    await complaint(squares.replace("x[id.x] + 1", "y[id.x] + 1")),
    "unresolved value 'y'",
  );
});

test.run();
