/**
 * Twenty steps of small networks: the losses on webgpu are those of js, in halves near those of
 * f32, and the same to the last bit when they are run again.
 */
import {
  allocateHost,
  hasHostData,
  hostDataOf,
  initialValueOf,
  input,
  type Tensor,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { createCpuDevice, type Device, load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { program } from "../../bench/cases.ts";
import { type NetworkRow, smallNetworks } from "../../bench/gpu-network-cases.ts";
import { classesOf, inputValues, sizeOf } from "../../bench/noise.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { gpuTest } from "../support/webgpu.ts";

const steps = 20;

function firstOf(t: Tensor) {
  const first = initialValueOf(t);
  return hasHostData(first)
    ? hostDataOf(first)
    : allocateHost(t.dtype, sizeOf(t.shape as number[]));
}

async function lossesOn(
  device: Device,
  target: "js" | "webgpu",
  source: Program,
  classes: number,
): Promise<number[]> {
  const { artifact, states } = compileProgram(source, { target });
  const held = states.map((t) => device.upload(firstOf(t), t.dtype, t.shape as number[]));
  const exe = await load(artifact, device, { states: held });
  const inputs = source.inputs.map((t, i) => {
    const shape = t.shape as number[];
    const values = inputValues(i, shape);
    return device.upload(t.dtype === "i32" ? classesOf(values, classes) : values, t.dtype, shape);
  });
  const losses: number[] = [];
  for (let i = 0; i < steps; i++) {
    const [loss] = await exe.run(inputs);
    losses.push((await loss!.data())[0]!);
    loss!.dispose();
  }
  exe.dispose();
  return losses;
}

/** Two blocks as a residual network's, large enough that their sums are taken apart. */
class Residual extends nn.Module {
  readonly first = new nn.Conv2d(3, 8, 3, { padding: 1, bias: false });
  readonly norm = new nn.BatchNorm2d(8);
  readonly second = new nn.Conv2d(8, 8, 3, { padding: 1, bias: false });
  readonly after = new nn.BatchNorm2d(8);
  readonly head = new nn.Linear(8, 10);

  override forward(x: Tensor): Tensor {
    const y = this.norm.forward(this.first.forward(x)).maximum(0);
    const z = this.after.forward(this.second.forward(y)).add(y).maximum(0);
    return this.head.forward(z.mean([2, 3]));
  }
}

function residual(): Program {
  nn.seed(1);
  const net = new Residual();
  const [x, y] = [input("x", "f32", [4, 3, 16, 16]), input("y", "i32", [4])];
  return program([x, y], () => {
    const loss = nn.crossEntropy(net.forward(x), y);
    new optim.SGD(net.parameters(), { lr: 0.05, momentum: 0.9 }).step(loss);
    return loss;
  });
}

type Case = Pick<NetworkRow, "name" | "build" | "classes" | "half" | "full">;

// A software device takes a minute for the kernels of each: these have those of the others.
const cases: readonly Case[] = [
  ...smallNetworks.filter(({ name }) => name.startsWith("GPT train")),
  { name: "ResNet train", build: residual, classes: 10 },
];

for (const { name, build, classes, half, full } of cases)
  gpuTest(`${name}: ${steps} steps as on js${full ? "" : ", and again"}`, async () => {
    const [gpu, cpu] = [await guardedGpuDevice(), createCpuDevice()];
    const first = await lossesOn(gpu, "webgpu", build(), classes);
    if (!full) assert.equal(await lossesOn(gpu, "webgpu", build(), classes), first);
    const like = cases.find((c) => c.name === full)?.build ?? build;
    const want = await lossesOn(cpu, "js", like(), classes);
    assert.ok(want.at(-1)! < want[0]!, `it learns nothing: ${want}`);
    for (const [i, loss] of first.entries()) {
      const off = Math.abs(loss - want[i]!) / Math.abs(want[i]!);
      assert.ok(off <= (half ? 1e-2 : 1e-4), `step ${i}: ${loss}, not ${want[i]}`);
    }
    gpu.destroy();
    cpu.destroy();
  });

test.run();
