/**
 * Loss scaling: one step of mixed precision against the same step written out in doubles, steps that overflow and are skipped,
 * and the course of the scale. On js, wasm and webgpu.
 */
import {
  evaluate,
  GraphError,
  initialValueOf,
  input,
  makeValue,
  param,
  roundTo,
  ShapeError,
  type Tensor,
  tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { createCpuDevice, type Device, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { runProgram } from "../support/run.ts";
import { wasmDevice } from "../support/wasm.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

const [rows, inner, outer] = [4, 6, 3];
const wave = (n: number, k: number): number[] =>
  Array.from({ length: n }, (_, i) => Math.fround(Math.cos(i * k)));
const samples = {
  x: wave(rows * inner, 1.3),
  t: wave(rows * outer, 0.7),
  weight: wave(outer * inner, 2.1),
  bias: wave(outer, 0.9),
};

interface Step {
  readonly program: Program;
  /** Values of inputs and state; a run puts the new ones in. */
  readonly feeds: Map<Tensor, Value>;
  readonly layer: nn.Linear;
  readonly optimizer: optim.Optimizer;
  readonly scaler: optim.GradScaler;
}

/** y = x·Wᵀ + b in f16, the mean square of y − t, and a step of an optimizer on W and b. */
function stepOf(
  make: (params: Tensor[]) => optim.Optimizer,
  options: optim.GradScalerOptions = {},
): Step {
  const layer = new nn.Linear(inner, outer);
  const x = input("x", "f32", [rows, inner]);
  const t = input("t", "f32", [rows, outer]);
  const [optimizer, scaler] = [make(layer.parameters()), new optim.GradScaler(options)];
  const { value, updates } = trace(() => {
    const loss = nn.autocast("f16", () => nn.mse(layer.forward(x), t));
    scaler.step(optimizer, loss);
    return loss;
  });
  const program = { inputs: [x, t], outputs: [{ name: "loss", value }], updates: [...updates] };
  const feeds = new Map(
    [...updates.keys()].map((p) => [p, evaluate([initialValueOf(p)])[0]!] as const),
  );
  feeds.set(x, makeValue("f32", [rows, inner], samples.x));
  feeds.set(t, makeValue("f32", [rows, outer], samples.t));
  feeds.set(layer.weight, makeValue("f32", [outer, inner], samples.weight));
  feeds.set(layer.bias!, makeValue("f32", [outer], samples.bias));
  return { program, feeds, layer, optimizer, scaler };
}

/** Runs a step and keeps its new state; the loss. */
async function run({ program, feeds }: Step, device: Device): Promise<number> {
  const { values } = await runProgram(program, feeds, {}, device, {
    target: device.target,
    rounding: "each-op",
  });
  for (const [i, [p]] of program.updates.entries()) feeds.set(p, values[i + 1]!);
  return values[0]!.data[0]!;
}

const scaleOf = ({ scaler, feeds }: Step): number[] =>
  [...scaler.checkpoint().values()].map((p) => feeds.get(p)!.data[0]!);

/** The step of plain gradient descent in doubles, rounded to f16 where a cast or a product is. */
function expected(lr: number, scale: number): { loss: number; weight: number[]; bias: number[] } {
  const h = (v: number): number => roundTo("f16", v);
  const at = (i: number, j: number) => h(samples.x[i * inner + j]!);
  let loss = 0;
  const weight = [...samples.weight];
  const bias = [...samples.bias];
  for (let o = 0; o < outer; o++) {
    const g = Array.from({ length: rows }, (_, i) => {
      let y = 0;
      for (let j = 0; j < inner; j++) y += at(i, j) * h(samples.weight[o * inner + j]!);
      const off = h(h(y) + h(samples.bias[o]!)) - samples.t[i * outer + o]!;
      loss += off ** 2 / (rows * outer);
      return h((2 * off * scale) / (rows * outer));
    });
    for (let j = 0; j < inner; j++)
      weight[o * inner + j]! -= (lr / scale) * h(g.reduce((sum, v, i) => sum + v * at(i, j), 0));
    bias[o]! -= (lr / scale) * h(g.reduce((sum, v) => sum + v, 0));
  }
  return { loss, weight, bias };
}

const near = (got: ArrayLike<number>, want: readonly number[], tolerance: number): void => {
  for (const [i, w] of want.entries())
    assert.ok(Math.abs(got[i]! - w) <= tolerance, `element ${i} is ${got[i]}, want ${w}`);
};

async function checkOneStep(device: Device, tolerance: number): Promise<void> {
  for (const initScale of [1024, 65536]) {
    const step = stepOf((p) => new optim.SGD(p, { lr: 0.5 }), { initScale: initScale / 64 });
    const want = expected(0.5, initScale / 64);
    near([await run(step, device)], [want.loss], 1e-6);
    near(step.feeds.get(step.layer.weight)!.data, want.weight, tolerance);
    near(step.feeds.get(step.layer.bias!)!.data, want.bias, tolerance);
    assert.equal(scaleOf(step), [initScale / 64, 1]);
  }
}

const optimizers: readonly ((params: Tensor[]) => optim.Optimizer)[] = [
  (p) => new optim.Adam(p, { lr: 0.01 }),
  (p) => new optim.SGD(p, { lr: 0.01, momentum: 0.9 }),
  (p) => new optim.RMSProp(p, { lr: 0.01, centered: true, momentum: 0.5 }),
];

/** Overflows until the scale is small enough, moves then, and grows after `growthInterval` steps. */
async function checkCourse(device: Device, makers = optimizers): Promise<void> {
  for (const make of makers) {
    const step = stepOf(make, { initScale: 2 ** 18, growthInterval: 2 });
    const state = () =>
      [...step.layer.parameters(), ...step.optimizer.states.values()].map((p) => [
        ...step.feeds.get(p)!.data,
      ]);
    const before = state();
    await run(step, device);
    assert.equal(state(), before, "a step that overflows changes nothing");
    assert.equal(scaleOf(step), [2 ** 17, 0]);
    let skips = 1;
    while (scaleOf(step)[1] === 0 && skips++ < 8) await run(step, device);
    assert.ok(skips < 8, `still skipping at ${scaleOf(step)}`);
    const [scale] = scaleOf(step);
    assert.is(scale, 2 ** (18 - skips + 1));
    assert.ok(state().every((values, i) => values.some((v, k) => v !== before[i]![k])));
    await run(step, device);
    assert.equal(scaleOf(step), [2 * scale!, 0], "two good steps double it");
  }
}

/** Wasm keeps the digits of a sum that goes on to f32 unstored: half an ulp of f16 of a gradient below 1, times the rate. */
const devices: readonly (readonly [string, () => Device, number])[] = [
  ["js", () => createCpuDevice({ poison: true }), 2e-6],
  ["wasm", () => wasmDevice({ threads: 2, relaxed: true }), 0.5 * 2 ** -12],
];

for (const [name, device, tolerance] of devices) {
  test(`${name}: a step is the same as in doubles, rounded to f16 where products and casts are`, () =>
    checkOneStep(device(), tolerance));
  test(`${name}: steps that overflow are skipped and halve the scale, good ones double it`, () =>
    checkCourse(device()));
}

gpuTest("webgpu: a step is the same as in doubles, and one that overflows is skipped", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  await checkOneStep(device, 2e-6);
  await checkCourse(device, optimizers.slice(0, 1));
  device.destroy();
});

/** Scales after each of `steps` steps whose one gradient is as given. */
function course(gradients: readonly number[], options: optim.GradScalerOptions): number[] {
  const w = param(tensor([0]), { name: "w" });
  const g = input("g", "f32", [1]);
  const [scaler, sgd] = [new optim.GradScaler(options), new optim.SGD([w], { lr: 1 })];
  const { updates } = trace(() => scaler.apply(sgd, [g]));
  const values = new Map<Tensor, Value>();
  return gradients.map((value) => {
    values.set(g, makeValue("f32", [1], [value]));
    const next = evaluate([...updates.values()], { inputs: values });
    for (const [i, p] of [...updates.keys()].entries()) values.set(p, next[i]!);
    return values.get(scaler.checkpoint().get("scaler.scale")!)!.data[0]!;
  });
}

test("the scale follows its factors, its interval counts good steps in a row, and it stays finite", () => {
  assert.equal(course([1, 1, 1, 1], { initScale: 1, growthInterval: 2 }), [1, 2, 2, 4]);
  assert.equal(
    course([1, Infinity, 1, NaN, 1, 1], { initScale: 8, growthInterval: 2 }),
    [8, 4, 4, 2, 2, 4],
  );
  const other = { initScale: 9, growthFactor: 3, backoffFactor: 1 / 3, growthInterval: 1 };
  assert.equal(course([1, -Infinity], other).map(Math.round), [27, 9]);
  assert.equal(course([1], { initScale: 2 ** 127, growthInterval: 1 }), [2 ** 127]);
  assert.equal(course([1], {}), [65536]);
});

test("infinities of both signs, and NaN anywhere, are found", () => {
  const w = param(tensor([0, 0, 0]), { name: "w" });
  const b = param(tensor([0]), { name: "b" });
  const moved = (gw: number[], gb: number[]): boolean => {
    const [scaler, sgd] = [new optim.GradScaler(), new optim.SGD([w, b], { lr: 1 })];
    const { updates } = trace(() => scaler.apply(sgd, [tensor(gw), tensor(gb)]));
    return evaluate([updates.get(w)!])[0]!.data[0] !== 0;
  };
  assert.ok(moved([65536, 1, 1], [3e38]));
  for (const [gw, gb] of [
    [[65536, Infinity, -Infinity], [1]],
    [[65536, NaN, 1], [1]],
    [[65536, 1, 1], [-Infinity]],
  ])
    assert.not(moved(gw!, gb!), `${gw} ${gb}`);
});

test("a scale is the factor of a loss, and gradients may be summed before they are applied", () => {
  const w = param(tensor([2]), { name: "w" });
  const scaler = new optim.GradScaler({ initScale: 4 });
  assert.is(evaluate([scaler.scale(w.sum())])[0]!.data[0], 8);
  assert.is(scaler.scale(input("l", "f16", [])).dtype, "f32");
  assert.is(evaluate([scaler.value])[0]!.data[0], 4);
});

test("options out of range and losses that are no scalar are refused", () => {
  const w = param(tensor([2]), { name: "w" });
  const sgd = new optim.SGD([w], { lr: 1 });
  const fails = (
    define: () => unknown,
    kind: typeof GraphError | typeof ShapeError,
    text: string,
  ) => assert.throws(define, (e: Error) => e instanceof kind && e.message === text);
  const make = (options: optim.GradScalerOptions) => () => new optim.GradScaler(options);
  fails(
    make({ initScale: 0 }),
    GraphError,
    "gradScaler: initScale must be positive, got 0\n  give a number above 0; what is left out has its default",
  );
  fails(make({ growthFactor: 1 }), GraphError, "gradScaler: growthFactor must be above 1, got 1");
  fails(
    make({ backoffFactor: 1 }),
    GraphError,
    "gradScaler: backoffFactor must be in (0, 1), got 1",
  );
  fails(
    make({ growthInterval: 0.5 }),
    GraphError,
    "gradScaler: growthInterval must be a positive integer, got 0.5",
  );
  fails(
    () => new optim.GradScaler().step(sgd, w),
    ShapeError,
    "gradScaler: loss must be a scalar, got [1]\n  take its mean or sum first",
  );
  fails(
    () => new optim.GradScaler().apply(sgd, []),
    GraphError,
    "gradScaler: no gradients, needs one or more",
  );
});

test.run();
