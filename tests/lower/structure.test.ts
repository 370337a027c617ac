/**
 * Groups of one structure share a kernel, bound to tensors of their own; groups that differ in a shape, a number or what they
 * store do not.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Lowered } from "../../compiler/src/lower/lower.ts";

/** The kernels of a program that returns these. */
function kernelsOf(...values: Tensor[]): readonly Lowered[] {
  let kernels: readonly Lowered[] = [];
  const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
  const leaves = [x, ...weights, wide];
  const observe = (stage: string, state: { kernels?: readonly Lowered[] }): void => {
    if (stage === "lower") kernels = state.kernels!;
  };
  compileProgram({ inputs: leaves, outputs, updates: [] }, { target: "wasm", observe });
  return kernels;
}

const x = input("x", "f32", [8, 8]);
const weights = [0, 1, 2].map((i) => input(`layers.${i}.weight`, "f32", [8, 8]));
const wide = input("layers.3.weight", "f32", [8, 12]);
const layer = (h: Tensor, w: Tensor, scale = 2): Tensor => h.matmul(w).mul(scale).tanh();

test("equal layers are lowered once and read and write their own tensors", () => {
  const kernels = kernelsOf(weights.reduce((h, w) => layer(h, w), x));
  assert.is(kernels.length, 3);
  // The first reads an input, which has another name than what the others read.
  assert.is(kernels[1]!.kernel, kernels[2]!.kernel);
  for (const [i, k] of kernels.entries()) {
    assert.ok(k.reads.has(weights[i]!));
    assert.is(k.tensors.length, k.kernel.params.length);
  }
  const written = kernels.flatMap((k) => [...k.writes.keys()]);
  assert.is(new Set(written).size, 3);
});

test("layers that differ in a shape or in a number are not one kernel", () => {
  const [a, b] = weights as [Tensor, Tensor, Tensor];
  const kernels = kernelsOf(layer(x, a), layer(x, b, 3), layer(x, wide));
  assert.is(new Set(kernels.map((k) => k.kernel)).size, 3);
  const same = kernelsOf(layer(x, a), layer(x, b));
  assert.is(new Set(same.map((k) => k.kernel)).size, 1);
});

test.run();
