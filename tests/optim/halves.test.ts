/**
 * Parameters of f16 and bf16 under every optimizer: they move as doubles do and are the roundings of that, also where each step is
 * far less than half an ulp; on js, wasm and webgpu.
 */
import {
  assign,
  type Dtype,
  fromHost,
  input,
  param,
  roundTo,
  type Tensor,
  tensor,
  trace,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { openWebGpu } from "@kiln-ml/runtime";
import { compile, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { heldGpu } from "../support/webgpu.ts";
import { kinds } from "./kinds.ts";

type Half = "f16" | "bf16";
const shapes = [[4, 3], [5]] as const;
const steps = 6;

/** Near 1, where half an ulp is 2⁻¹² of f16 and 2⁻⁹ of bf16 at the least. */
const start = (dtype: Half, k: number): number[] =>
  Array.from({ length: shapes[k]!.reduce((a, b) => a * b, 1) }, (_, i) =>
    roundTo(dtype, 1.2 + 0.3 * Math.sin(i + k)),
  );
const gradient = (dtype: Half, k: number, t: number): number[] =>
  start(dtype, k).map((x, i) => roundTo(dtype, Math.sin(x * 3 + i + 0.1 * t)));

/** Rates of 1e-5: no optimizer here moves by more than a few of them a step. */
const small = { lr: 1e-5, weightDecay: 0 };
const made = (name: string, params: Tensor[], more: Partial<optim.OptimizerOptions> = {}) =>
  kinds[name]![0]([{ params }], { ...small, ...more });

const plain = Object.keys(kinds).filter((name) => !name.includes(" "));

async function valuesOf(t: Tensor): Promise<number[]> {
  return Array.from(fromHost(t.dtype as Dtype, await t.data()), Number);
}

/** The parameters and masters after the steps, and what doubles come to. */
async function moved(name: string, dtype: Half, target: "js" | "wasm" | "webgpu") {
  const params = shapes.map((shape, k) =>
    param(tensor(start(dtype, k), { dtype, shape }), { name: `w${k}` }),
  );
  const optimizer = made(name, params);
  const step = compile((...grads: Tensor[]) => optimizer.apply(grads), {
    target,
    inputs: shapes.map((shape) => ({ shape, dtype })),
  });
  const rules = shapes.map((shape) => kinds[name]![1]({ ...small, shape }));
  let wanted = shapes.map((_, k) => start(dtype, k));
  for (let t = 1; t <= steps; t++) {
    const grads = shapes.map((_, k) => gradient(dtype, k, t));
    const bits = await Promise.all(
      grads.map((g, k) => tensor(g, { dtype, shape: shapes[k] as never }).data()),
    );
    await step(...(bits as never[]));
    wanted = wanted.map((w, k) => rules[k]!(w, grads[k]!, t));
  }
  const masters = params.map(
    (_, k) => [...optimizer.states].find(([key]) => key.endsWith(`w${k}.master`))![1],
  );
  return {
    params: await Promise.all(params.map(valuesOf)),
    masters: await Promise.all(masters.map(valuesOf)),
    wanted,
  };
}

async function check(name: string, dtype: Half, target: "js" | "wasm" | "webgpu"): Promise<void> {
  const { params, masters, wanted } = await moved(name, dtype, target);
  for (const [k, w] of wanted.entries())
    for (const [i, value] of w.entries()) {
      const first = start(dtype, k)[i]!;
      const apart = Math.abs(masters[k]![i]! - value);
      // The way that was made, to a hundredth; what f32 holds of it is 6e-8 of the value a step.
      const bound = 0.01 * Math.abs(value - first) + steps * 2.4e-7;
      assert.ok(apart <= bound, `w${k}[${i}] is ${masters[k]![i]} for ${value}, from ${first}`);
      assert.is(params[k]![i], roundTo(dtype, masters[k]![i]!));
    }
}

for (const dtype of ["f16", "bf16"] as const)
  for (const target of ["js", "wasm"] as const)
    for (const name of plain)
      test(`${name}: ${dtype} on ${target} moves as doubles do`, () => check(name, dtype, target));

for (const name of ["SGD", "AdamW", "Lion", "Muon"])
  test(`${name}: bf16 on webgpu moves as doubles do`, async () => {
    const gpu = await heldGpu("backend=vulkan");
    const device = await openWebGpu({ gpu, allowSoftware: true });
    useDevice(device);
    await check(name, "bf16", "webgpu");
    device.destroy();
  });

test("many steps of less than half an ulp add up, and without masters none does", async () => {
  for (const masters of [true, false]) {
    const w = param(tensor([1, 2, 4], { dtype: "bf16" }), { name: "w" });
    const optimizer = new optim.SGD([w], { lr: 1e-3, masters });
    const step = compile((g: Tensor) => optimizer.apply([g]), { target: "js" });
    const ones = Float32Array.of(1, 1, 1);
    for (let i = 0; i < 100; i++) await step(ones);
    const moved = [1 - 0.1, 2 - 0.1, 4 - 0.1].map((x) => roundTo("bf16", x));
    assert.equal(await valuesOf(w), masters ? moved : [1, 2, 4]);
    assert.is(optimizer.states.size, masters ? 1 : 0);
  }
});

test("weights that are loaded take the place of the master", async () => {
  const w = param(tensor([100], { dtype: "bf16" }), { name: "w" });
  const optimizer = new optim.SGD([w], { lr: 1 });
  const step = compile((g: Tensor) => optimizer.apply([g]), { target: "js" });
  await step(Float32Array.of(0.2));
  assert.equal(await valuesOf(w), [100]);
  const load = compile((x: Tensor) => assign(w, x.convert("bf16")), { target: "js" });
  await load(Float32Array.of(2 ** -10));
  await step(Float32Array.of(2 ** -20));
  const [master] = await valuesOf(optimizer.states.get("sgd.w.master")!);
  assert.is(master, 2 ** -10 - 2 ** -20);
});

test("a step that is skipped keeps the master", () => {
  const w = param(tensor([1], { dtype: "f16" }), { name: "w" });
  const when = input("when", "bool", []);
  const optimizer = new optim.SGD([w], { lr: 1 });
  const { updates } = trace(() => optimizer.apply([w], { when }));
  const reads = (t: Tensor): boolean => t === when || t.operands.some(reads);
  assert.ok(reads(updates.get(optimizer.states.get("sgd.w.master")!)!));
});

test("an average in half precision says once that it loses small steps", () => {
  const [target, source] = [new nn.Linear(2, 1), new nn.Linear(2, 1)];
  const halved = new (class extends nn.Module {
    weight = param(tensor([1, 2], { dtype: "bf16" }), { name: "weight" });
    override forward(x: Tensor): Tensor {
      return x;
    }
  })();
  const lines: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => lines.push(text);
  try {
    trace(() => optim.polyak(target, source, 0.01));
    for (let i = 0; i < 2; i++) trace(() => optim.polyak(halved, halved, 0.01));
  } finally {
    console.warn = warn;
  }
  assert.equal(lines, [
    "polyak: weight: an average in half precision loses steps of less than half an ulp\n  make the target's parameters f32",
  ]);
});

test("masters is true or false", () => {
  const w = param(tensor([1]), { name: "w" });
  assert.throws(
    () => new optim.SGD([w], { lr: 1, masters: 1 as never }),
    (e: Error) =>
      e.message === "sgd: masters must be true or false, got 1\n  leave it out for true",
  );
});

test.run();
