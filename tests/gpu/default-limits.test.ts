/**
 * Every family of kernels within the limits that every WebGPU device has: 8 storage buffers, 16 KiB of workgroup memory, 256
 * invocations, bindings of 128 MiB, with subgroups and without. Dawn's null device checks texts and pipelines.
 */
import { convolution, grad, input, type Tensor, take } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cnnStep, mlpStep, transformerBlock } from "../../bench/cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { heldGpu } from "../support/webgpu.ts";

const f32 = (name: string, ...shape: number[]): Tensor => input(name, "f32", shape);

function programOf(inputs: readonly Tensor[], ...values: readonly Tensor[]): Program {
  return { inputs, outputs: values.map((value, i) => ({ name: `y${i}`, value })), updates: [] };
}

const of = (shape: readonly number[], build: (x: Tensor) => Tensor | Tensor[]) => (): Program => {
  const x = f32("x", ...shape);
  return programOf([x], ...[build(x)].flat());
};

function attention(width: number, backward = false): Program {
  const inputs = ["q", "k", "v", "g"].map((n) => f32(n, 2, 8, 1024, width));
  const [q, k, v, g] = inputs as [Tensor, Tensor, Tensor, Tensor];
  const y = nn.attention(q, k, v, { causal: true });
  return programOf(inputs, y, ...(backward ? grad(y.mul(g).sum(), [q, k, v]) : []));
}

function conv(backward: boolean): Program {
  const [x, w] = [f32("x", 4, 16, 30, 30), f32("w", 32, 16, 3, 3)];
  const y = convolution(x, w, { padding: 1 });
  return programOf([x, w], y, ...(backward ? grad(y.mul(y).sum(), [x, w]) : []));
}

function product(m: number, n: number, k: number): Program {
  const [a, b] = [f32("a", m, k), f32("b", k, n)];
  return programOf([a, b], a.matmul(b));
}

function gathered(): Program {
  const [x, at] = [f32("x", 1000, 64), input("at", "i32", [500])];
  return programOf([x, at], ...grad(take(x, at).mul(2).sum(), [x]));
}

const many = (): Program => {
  const parts = Array.from({ length: 20 }, (_, i) => f32(`x${i}`, 64));
  return programOf(
    parts,
    parts.reduce((a, b) => a.add(b)),
  );
};

const families: Readonly<Record<string, () => Program>> = {
  map: of([1000, 1000], (x) => x.tanh().add(1)),
  "map of odd size": of([999, 33], (x) => x.erf()),
  "more workgroups than one dimension has": of([1 << 24], (x) => x.exp()),
  "short rows": of([1000, 10], (x) => x.softmax(-1)),
  "rows by teams": of([1000, 68], (x) => x.softmax(-1)),
  "rows by workgroups": of([100, 4096], (x) => x.softmax(-1)),
  "rows read anew": of([10, 50_000], (x) => x.softmax(-1)),
  columns: of([100, 20_000], (x) => x.sum([0])),
  "column teams": of([1000, 300], (x) => [x.sum([0]), x.max([0]), x.argMax(0)]),
  "split columns": of([1 << 14, 128], (x) => x.sum([0])),
  "split rows": of([1 << 20], (x) => x.max()),
  "scan lines": of([7, 5000], (x) => x.cumsum(1)),
  "scan columns": of([5000, 7], (x) => x.cumsum(0)),
  sort: of([3, 5000], (x) => x.sort(1)),
  "products, tiled": () => product(512, 512, 512),
  "products of awkward sizes": () => product(65, 67, 31),
  "products a little beyond tiles": () => product(1025, 1032, 40),
  "product with a vector": () => product(1, 1000, 1000),
  "convolution and its gradients": () => conv(true),
  convolution: () => conv(false),
  attention: () => attention(64),
  "attention of wide heads": () => attention(256),
  "step of attention": () => attention(64, true),
  "step of attention of wide heads": () => attention(256, true),
  "gather and scatter": gathered,
  "many operands": many,
  "step of a perceptron": () => mlpStep(64),
  "step of a convolutional network": () => cnnStep(8),
  "step of a transformer block": () => transformerBlock(2, 64, 64, "adam"),
};

test("every family of kernels compiles within WebGPU's default limits", async () => {
  const adapter = await (await heldGpu("backend=null")).requestAdapter();
  // Without required limits a device has the defaults.
  const device = await adapter!.requestDevice({ requiredFeatures: ["subgroups"] });
  assert.is(device.limits.maxStorageBuffersPerShaderStage, 8);
  assert.is(device.limits.maxComputeWorkgroupStorageSize, 16384);
  assert.is(device.limits.maxComputeInvocationsPerWorkgroup, 256);
  for (const [name, build] of Object.entries(families))
    for (const features of [[], ["subgroups"]]) {
      const { artifact } = compileProgram(build(), { target: "webgpu", features });
      for (const k of artifact.kernels) {
        assert.ok(k.bindings.length <= 8, `${name}: ${k.name} binds ${k.bindings.length}`);
        assert.equal(await problemsOf(device, k), [], `${name}\n${k.text}`);
      }
    }
  device.destroy();
});

test.run();
