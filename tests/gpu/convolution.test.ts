/** Convolutions on webgpu and their gradients: windows of all kinds, and the long sums of weight gradients. */
import { convolution, grad, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import { gpuTest } from "../support/webgpu.ts";
import { agrees, open, programOf, x } from "./agree.ts";

const windows: readonly [string, number[], number[], Parameters<typeof convolution>[2]][] = [
  ["plain", [2, 16, 9, 9], [20, 16, 3, 3], {}],
  ["padded", [2, 16, 8, 8], [33, 16, 3, 3], { padding: 1 }],
  ["strided", [1, 3, 11, 10], [5, 3, 3, 2], { stride: 2, padding: 1 }],
  ["dilated", [1, 20, 9, 9], [4, 20, 2, 2], { dilation: 2 }],
  ["grouped", [2, 8, 6, 6], [12, 4, 3, 3], { groups: 2 }],
  ["depthwise", [2, 6, 7, 7], [6, 1, 3, 3], { groups: 6, padding: 1 }],
  ["of one place", [2, 17, 5, 4], [9, 17, 1, 1], {}],
];
for (const [name, xs, ws, options] of windows)
  gpuTest(`a ${name} convolution and its gradients are right`, async () => {
    const device = await open();
    const [a, w] = [x("a", xs), x("w", ws)];
    const y = convolution(a, w, options);
    const [da, dw] = grad(y.mul(y).sum(), [a, w]) as [Tensor, Tensor];
    await agrees(device, name, programOf([a, w], y.maximum(0), da, dw));
    device.destroy();
  });

gpuTest("the long sum of a weight gradient is right in parts", async () => {
  const device = await open();
  const [c, w] = [x("c", [3, 4, 21, 20]), x("w", [5, 4, 3, 3])];
  const y = convolution(c, w);
  await agrees(device, "weights", programOf([c, w], grad(y.mul(y).sum(), [w])[0]!));
  device.destroy();
});

test.run();
