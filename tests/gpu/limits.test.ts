/**
 * Kernels of every family of contraction, large and small, compiled for what WebGPU guarantees and made into pipelines by a
 * device that has no more.
 */
import { convolution, type Dim, dotGeneral, grad, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/compile.ts";
import type { Program } from "../../compiler/src/program.ts";
import { nullDevice } from "../support/webgpu.ts";
import { programOf, x } from "./agree.ts";

const dot = (m: Dim, n: Dim, k: Dim, turned = false): Program => {
  const [a, b] = turned ? [x("a", [k, m]), x("b", [n, k])] : [x("a", [m, k]), x("b", [k, n])];
  const axes = { lhsContract: [turned ? 0 : 1], rhsContract: [turned ? 1 : 0] };
  return programOf([a, b], dotGeneral(a, b, axes));
};

const window = (images: number, from: number, to: number, extent: number, groups = 1): Program => {
  const [a, w] = [x("a", [images, from, extent, extent]), x("w", [to, from / groups, 3, 3])];
  const y = convolution(a, w, { padding: 1, groups });
  const [da, dw] = grad(y.mul(y).sum(), [a, w]) as [Tensor, Tensor];
  return programOf([a, w], y.maximum(0), da, dw);
};

const families: readonly [string, () => Program][] = [
  ["large tiles", () => dot(4096, 4096, 4096)],
  ["large tiles of turned operands", () => dot(4096, 4096, 4096, true)],
  ["odd extents", () => dot(1023, 2049, 777)],
  ["small tiles", () => dot(48, 40, 32)],
  ["symbols", () => dot("M" as never, "N" as never, "K" as never)],
  ["one line", () => dot(1, 4096, 4096)],
  ["one turned line", () => dot(1, 4096, 4096, true)],
  ["eight lines", () => dot(8, 4000, 1000)],
  ["a long sum", () => dot(64, 64, 65536)],
  ["windows", () => window(16, 64, 128, 28)],
  ["windows of few channels", () => window(8, 3, 32, 30)],
  ["windows of a channel each", () => window(8, 32, 32, 28, 32)],
];

for (const [name, build] of families)
  test(`kernels for ${name} are valid on a device that has only what is guaranteed`, async () => {
    const device = await nullDevice();
    assert.is(device.limits.maxComputeWorkgroupStorageSize, 16384);
    assert.is(device.limits.maxComputeInvocationsPerWorkgroup, 256);
    for (const { text } of compileProgram(build(), { target: "webgpu" }).artifact.kernels) {
      device.pushErrorScope("validation");
      const module = device.createShaderModule({ code: text });
      device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
      const error = await device.popErrorScope();
      assert.is(error, null, `${error?.message}\n${text}`);
    }
  });

test.run();
