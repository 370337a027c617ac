/** What WebGPU refuses, verbatim. The null device validates everything and computes nothing. */
import {
  ArtifactError,
  DeviceError,
  DtypeError,
  GraphError,
  type KernelText,
  type KilnError,
} from "@kiln-ml/artifact";
import { type Device, load, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { WebGpuDriver } from "../../runtime/src/devices/webgpu.ts";
import { heldGpu } from "../support/webgpu.ts";
import { addition, artifact, chain, kernel } from "./artifacts.ts";

async function fails(
  action: () => unknown,
  Class: new (message: string) => KilnError,
  message: string | RegExp,
): Promise<void> {
  let error: unknown;
  try {
    await action();
  } catch (caught) {
    error = caught;
  }
  assert.instance(error, Class);
  if (typeof message === "string") assert.is((error as Error).message, message);
  else assert.match((error as Error).message, message);
}

function onNull(name: string, body: (device: Device) => Promise<void>): void {
  test(name, async () => {
    const gpu = await heldGpu("backend=null");
    const device = await openWebGpu({ gpu, allowSoftware: true });
    try {
      await body(device);
    } finally {
      device.destroy();
    }
  });
}

const gpuWith = (adapter: object | null) =>
  ({ requestAdapter: async () => adapter }) as unknown as GPU;

test("openWebGpu: no adapter", () =>
  fails(
    () => openWebGpu({ gpu: gpuWith(null) }),
    DeviceError,
    "openWebGpu: no adapter\n  check the graphics driver, or use createCpuDevice()",
  ));

test("openWebGpu: options of other types are refused before an adapter is asked for", async () => {
  const open = (options: object) => () => openWebGpu({ gpu: gpuWith(null), ...options });
  await fails(
    open({ matrixUnits: "false" }),
    GraphError,
    'openWebGpu: matrixUnits must be true or false, got "false"\n  leave it out for true',
  );
  await fails(
    open({ allowSoftware: 1 }),
    GraphError,
    "openWebGpu: allowSoftware must be true or false, got 1\n  leave it out for false",
  );
  for (const value of [0, 1.5, "2"])
    await fails(
      open({ runsInFlight: value }),
      GraphError,
      /^openWebGpu: runsInFlight must be an integer of 1 or more, got /,
    );
});

test("openWebGpu: a software adapter is refused unless allowed", () => {
  const gpu = gpuWith({ info: { description: "SwiftShader Device (LLVM 10.0.0)" } });
  return fails(
    () => openWebGpu({ gpu }),
    DeviceError,
    "openWebGpu: the only adapter is software (SwiftShader Device (LLVM 10.0.0))\n  use createCpuDevice(), which is faster, or pass { allowSoftware: true }",
  );
});

test("openWebGpu: an adapter that gives no device", () => {
  const requestDevice = () => Promise.reject(new Error("out of handles"));
  const gpu = gpuWith({ info: {}, limits: {}, features: new Set(), requestDevice });
  return fails(
    () => openWebGpu({ gpu }),
    DeviceError,
    "openWebGpu: the adapter gives no device: out of handles\n  close other pages that use the GPU, or use createWasmDevice()",
  );
});

onNull("upload: f64 has no place on webgpu", (device) =>
  fails(
    () => device.upload([1], "f64", [1]),
    DtypeError,
    "upload: webgpu has no f64\n  convert to f32, or use a cpu device",
  ),
);

onNull("upload: an array over the binding limit", (device) => {
  const limit = device.limits.maxStorageBufferBindingSize!;
  return fails(
    () => device.driver.allocate(limit + 4, "arrays", "upload"),
    DeviceError,
    `upload: ${limit + 4} bytes exceed the device's maxStorageBufferBindingSize of ${limit}`,
  );
});

onNull("run: a slot over the binding limit names itself", async (device) => {
  const { plan, ...rest } = chain("webgpu");
  const slots = [{ sizes: [["*", "N", 2 ** 50]] as const }];
  const program = await load({ ...rest, plan: { ...plan, slots } }, device, {
    states: [device.upload(new Float32Array(6), "f32", [3, 2])],
  });
  const limit = device.limits.maxStorageBufferBindingSize;
  await fails(
    () => program.run([new Float32Array(3)]),
    DeviceError,
    `run: slot 0: ${2 ** 50} bytes exceed the device's maxStorageBufferBindingSize of ${limit}`,
  );
  assert.is(device.memory().byOwner["chain slots"], undefined);
});

onNull("run: more workgroups than a dimension takes", async (device) => {
  const { kernels, ...rest } = addition("webgpu");
  const wide = { ...kernels[0]!, workgroups: [["*", "N", 40_000], 1, 1] } as KernelText;
  const program = await load({ ...rest, kernels: [wide] }, device, { states: [] });
  await program.run([Float32Array.of(1), Float32Array.of(1)]);
  await fails(
    () => program.run([Float32Array.of(1, 2), Float32Array.of(1, 2)]),
    DeviceError,
    "run: kernel add needs [80000,1,1] workgroups, the device takes 65535 a dimension\n  make the batch or that axis smaller",
  );
});

onNull("load: WGSL that does not compile", (device) => {
  const broken = { ...kernel("add", "webgpu"), text: "fn main() { let x = y; }" };
  return fails(
    () => load(artifact({ target: "webgpu", kernels: [broken] }), device, { states: [] }),
    ArtifactError,
    "load: kernel add does not compile: 1:21: unresolved value 'y'\n  compile it again for the limits of this device",
  );
});

onNull("load: bindings that the text contradicts", (device) => {
  const { bindings, ...rest } = kernel("add", "webgpu");
  const readOnly = { ...rest, bindings: bindings.map((b) => ({ ...b, access: "read" as const })) };
  return fails(
    () => load(artifact({ target: "webgpu", kernels: [readOnly] }), device, { states: [] }),
    DeviceError,
    /^load: kernel add gives no pipeline: /,
  );
});

onNull("a fault that WebGPU reports late is thrown by the next call", async (device) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  const x = device.upload([1, 2], "f32", [2]);
  const { device: gpu, commands } = device.driver as WebGpuDriver;
  const reported = new Promise((resolve) => gpu.addEventListener("uncapturederror", resolve));
  // A copy past the end of a buffer, as a plan with a wrong size would make.
  const small = device.upload([1], "f32", [1]);
  device.driver.copy(x.bufferFor("test"), small.bufferFor("test"), 4096);
  commands.flush();
  await reported;
  await fails(
    () => add.run([x, x]),
    DeviceError,
    "run: Copy range (offset: 0, size: 4096) does not fit in [Buffer (unlabeled)] size (16).\n  run it again from states that are known, with less at once where memory was short",
  );
  await add.run([x, x]);
});

onNull("lost: says why the device is gone", async (device) => {
  const x = device.upload([1, 2], "f32", [2]);
  const reading = x.data();
  device.destroy();
  await fails(
    () => reading,
    DeviceError,
    "data: the device was destroyed\n  open a device again, and load the artifact on it",
  );
  assert.is((await device.lost).reason, "destroyed");
  x.dispose();
});

test.run();
