/**
 * Training in mixed precision by the front door: a small net reaches in f16 and bf16 the loss that it reaches in f32, on every
 * target; scale and counter travel with a checkpoint and are states of an exported step.
 */

import { packArtifact, unpackArtifact } from "@kiln-ml/artifact";
import { createCpuDevice, initialStates, load, openWebGpu } from "@kiln-ml/runtime";
import {
  compile,
  loadState,
  nn,
  optim,
  stateBytes,
  type TargetOption,
  type Tensor,
  useDevice,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

type Precision = "f32" | "f16" | "bf16";

/** 64 points of a square; whether they lie in a disc. */
const points = Array.from({ length: 64 }, (_, i) =>
  [2 * i, 2 * i + 1].map((k) => Math.fround(2 * ((k * 0.754877666) % 1) - 1)),
);
const inside = Int32Array.from(points, ([a, b]) => Number(Math.hypot(a!, b!) < 0.8));

class Net extends nn.Module {
  readonly fc1 = new nn.Linear(2, 16);
  readonly fc2 = new nn.Linear(16, 2);
  readonly norm: nn.LayerNorm | undefined;
  constructor(normed: boolean) {
    super();
    if (normed) this.norm = new nn.LayerNorm(16);
  }
  override forward(x: Tensor): Tensor {
    const y = this.fc1.forward(x);
    return this.fc2.forward((this.norm ? this.norm.forward(y) : y).relu());
  }
}

interface Setting {
  readonly target: TargetOption;
  /** A software adapter takes long: there it is a plain net, plain descent, and few steps. */
  readonly plain?: boolean;
  readonly initScale?: number;
}

function trainer(dtype: Precision, { target, plain = false, initScale = 65536 }: Setting) {
  nn.seed(7);
  const net = new Net(!plain);
  const opt = plain
    ? new optim.SGD(net.parameters(), { lr: 0.5 })
    : new optim.AdamW(net.parameters(), { lr: 0.05 });
  const scaler = new optim.GradScaler({ growthInterval: 10, initScale });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.autocast(dtype, () => nn.crossEntropy(net.forward(x), y));
      if (dtype === "f16") scaler.step(opt, loss);
      else opt.step(loss);
      return loss;
    },
    { target },
  );
  return { net, opt, scaler, step, next: async () => (await step(points, inside)).item() };
}

async function lossesOf(dtype: Precision, setting: Setting): Promise<number[]> {
  const { next } = trainer(dtype, setting);
  const losses: number[] = [];
  for (let i = 0; i < (setting.plain ? 10 : 25); i++) losses.push(await next());
  return losses;
}

/** Throws unless `dtype` ends within a share of the first loss of where f32 ends, on js. */
async function checkTraining(dtype: Precision, setting: Setting, share: number): Promise<void> {
  const full = await lossesOf("f32", { ...setting, target: "js" });
  const [first, last] = [full[0]!, full.at(-1)!];
  assert.ok(last < (setting.plain ? 0.9 : 0.34) * first, `f32 goes from ${first} to ${last}`);
  const half = (await lossesOf(dtype, setting)).at(-1)!;
  assert.ok(
    Math.abs(half - last) <= share * first,
    `${dtype} reaches ${half}, f32 ${last} of ${first}`,
  );
}

for (const target of ["js", "wasm"] as const)
  test(`${target}: a net reaches in f16 and bf16 the loss of f32`, async () => {
    await checkTraining("f16", { target }, 0.02);
    // bf16 has three bits fewer.
    await checkTraining("bf16", { target }, 0.1);
  });

gpuTest("webgpu: a net reaches in f16 the loss of f32", async () => {
  const gpu = await heldGpu("backend=vulkan");
  const device = await openWebGpu({ gpu, allowSoftware: true });
  useDevice(device);
  await checkTraining("f16", { target: "webgpu", plain: true }, 0.02);
  device.destroy();
});

test("a checkpoint of model, optimizer and scaler resumes to the bit, in the middle of skipped steps", async () => {
  const a = trainer("f16", { target: "js", initScale: 2 ** 30 });
  for (let i = 0; i < 3; i++) await a.next();
  assert.is(await a.scaler.value.item(), 2 ** 27);
  const bytes = await stateBytes({ net: a.net, opt: a.opt, scaler: a.scaler });
  const b = trainer("f16", { target: "js" });
  await loadState({ net: b.net, opt: b.opt, scaler: b.scaler }, bytes);
  assert.is(await b.scaler.value.item(), 2 ** 27);
  for (let i = 0; i < 16; i++) assert.is(await b.next(), await a.next());
  assert.ok((await a.scaler.value.item()) < 2 ** 27, "it went on skipping");
});

test("an exported step holds scale and counter as states, and runs alone as it runs here", async () => {
  const a = trainer("f16", { target: "js", initScale: 2 ** 30 });
  await a.next();
  const artifact = unpackArtifact(packArtifact(await a.step.artifact()));
  const states = artifact.signature.states.filter((s) => s.name.startsWith("scaler."));
  assert.equal(
    states.map(({ name, written }) => [name, written]),
    [
      ["scaler.scale", true],
      ["scaler.good", true],
    ],
  );
  const device = createCpuDevice();
  const alone = await load(artifact, device, { states: initialStates(artifact, device) });
  const x = { data: Float32Array.from(points.flat()), shape: [64, 2] };
  for (let i = 0; i < 12; i++) {
    const [loss] = await alone.run([x, { data: inside, shape: [64] }]);
    assert.is((await loss!.data())[0], await a.next());
  }
});

test.run();
