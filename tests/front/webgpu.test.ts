/** The front door on WebGPU, over the software adapter: training, moving, eager reads, loss of the device. */
import { type Device, openWebGpu } from "@kiln-ml/runtime";
import {
  compile,
  DeviceError,
  nn,
  optim,
  restore,
  snapshot,
  type Tensor,
  useDevice,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { labels, Net, rejection, rows } from "./net.ts";

async function openSoftware(): Promise<Device> {
  return openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
}

function trainer(target?: "js" | "webgpu") {
  const net = new Net();
  const opt = new optim.SGD(net.parameters(), { lr: 0.05, momentum: 0.9 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      opt.step(loss);
      return loss;
    },
    target ? { target } : {},
  );
  return { net, opt, step, next: async () => (await step(rows(6), labels(6))).item() };
}

const close = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-5, `${a} and ${b}`);

gpuTest("webgpu: a function follows its model, and trains as on the CPU", async () => {
  useDevice(await openSoftware());
  const { net, opt, step, next } = trainer();
  const { loadState, stateBytes, to } = await import("kiln-ml");
  const other = trainer("js");
  await to(net, "js");
  await loadState({ net: other.net, opt: other.opt }, await stateBytes({ net, opt }));
  close(await next(), await other.next());
  await net.to("webgpu");
  for (let i = 0; i < 2; i++) close(await next(), await other.next());
  assert.is(step.compiles, 2);
  const y = await compile((x: Tensor) => net.forward(x))(rows(2));
  const z = y.mul(2).add(y);
  const [a, b] = [await y.data(), await z.data()];
  for (const [i, v] of a.entries()) close(b[i]!, 3 * v);
  const { inspect } = await import("node:util");
  assert.is(inspect(y), "Tensor f32[2,3] on webgpu");
});

gpuTest("webgpu: dynamic batches compile twice", async () => {
  useDevice(await openSoftware());
  const f = compile((x: Tensor) => x.mul(2).sum(1), { target: "webgpu" });
  for (const n of [2, 3, 5, 4]) {
    const sums = await (await f(rows(n))).data();
    assert.is(sums.length, n);
  }
  assert.is(f.compiles, 2);
});

gpuTest("webgpu: a lost device is replaced from a snapshot", async () => {
  const { device } = useDevice(await openSoftware());
  const { net, opt, next } = trainer("webgpu");
  await next();
  const saved = await snapshot({ net, opt });
  const expected = await next();
  device.destroy();
  assert.instance(await rejection(next()), DeviceError);
  useDevice(await openSoftware());
  await restore(saved, "webgpu");
  close(await next(), expected);
});

test.run();
