/**
 * Kernels of a step in mixed precision. Casts cost none: they are read or written where something else is. Loss scaling costs one
 * test for each gradient, and one update for each parameter, as updates wait for all of the tests.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { input, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { mlp, type OptimizerName } from "../../bench/cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import { webgpu } from "../../compiler/src/targets/wgsl/target.ts";

interface Precision {
  readonly dtype: "f32" | "f16" | "bf16";
  readonly scaled: boolean;
}

/** A step of the 3-layer perceptron of the budgets. */
function kernelsOf(
  { dtype, scaled }: Precision,
  target: TargetName,
  name: OptimizerName,
  features: readonly string[] = [],
  limits?: Readonly<Record<string, number>>,
): number {
  const net = mlp([784, 512, 512, 10]);
  const [x, y] = [input("x", "f32", [32, 784]), input("y", "i32", [32])];
  const params = net.parameters();
  const optimizer =
    name === "sgd" ? new optim.SGD(params, { lr: 0.01 }) : new optim.Adam(params, { lr: 1e-3 });
  const scaler = new optim.GradScaler();
  const { value, updates } = trace(() => {
    const loss = nn.autocast(dtype, () => nn.crossEntropy(net.forward(x), y));
    if (scaled) scaler.step(optimizer, loss);
    else optimizer.step(loss);
    return loss;
  });
  const program = { inputs: [x, y], outputs: [{ name: "loss", value }], updates: [...updates] };
  return compileProgram(program, { target, features, ...(limits && { limits }) }).artifact.plan
    .steps.length;
}

const native = ["shader-f16"];

for (const target of ["js", "wasm", "webgpu"] as const) {
  test(`${target}: a step in half precision has the ten kernels of one in f32`, () => {
    for (const dtype of ["f32", "f16", "bf16"] as const)
      assert.is(kernelsOf({ dtype, scaled: false }, target, "adam"), 10, dtype);
  });

  test(`${target}: loss scaling adds tests of the gradients and an update a parameter`, () => {
    // On webgpu one kernel sums parts of all gradients, and one those sums.
    const sums = target === "webgpu" ? 2 : 6;
    assert.is(kernelsOf({ dtype: "f16", scaled: true }, target, "adam"), 10 + sums + 6);
  });
}

test("webgpu: with shader-f16 there are as many, but for the biases, which move along with other parameters", () => {
  assert.is(kernelsOf({ dtype: "f16", scaled: false }, "webgpu", "adam", native), 10);
  assert.is(kernelsOf({ dtype: "f16", scaled: true }, "webgpu", "sgd", native), 10 + 2 + 3);
});

test("webgpu: how many updates take a bias along is a matter of bindings", () => {
  const scaled = { dtype: "f16", scaled: true } as const;
  const ten = { ...webgpu.defaultLimits, maxStorageBuffersPerShaderStage: 10 };
  assert.is(kernelsOf(scaled, "webgpu", "adam", native), 10 + 2 + 6);
  assert.is(kernelsOf(scaled, "webgpu", "adam", native, ten), 10 + 2 + 3);
});

test.run();
