/**
 * Steps whose kernels would bind more than WebGPU guarantees: clipping by the norm of many gradients makes every update
 * read a number for each of them. And grids of no groups.
 */
import { input, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { parseProgram } from "../support/reference.ts";
import { nullDevice } from "../support/webgpu.ts";

for (const layers of [2, 5, 12])
  test(`a clipped step of ${layers} layers keeps within 8 bindings a kernel`, () => {
    const net = new nn.Sequential();
    for (let i = 0; i < layers; i++) net.add(new nn.Linear(4, 4));
    const [x, y] = [input("x", "f32", ["N", 4]), input("y", "i32", ["N"])];
    const opt = new optim.AdamW(net.parameters(), { lr: 0.01, amsgrad: true, clipNorm: 1 });
    const { value, updates } = trace(() => {
      const loss = nn.crossEntropy(net.forward(x), y);
      opt.step(loss);
      return loss;
    });
    const outputs = [{ name: "loss", value }];
    const program = { inputs: [x, y], outputs, updates: [...updates] };
    const { artifact } = compileProgram(program, { target: "webgpu" });
    for (const k of artifact.kernels) assert.ok(k.bindings.length <= 8, k.name);
  });

test("a grid that may be folded and has no groups is valid and never negative", async () => {
  const device = await nullDevice();
  const program = parseProgram(`
graph f(%a: f32[N,0,2], %b: f32[N,1,2]) {
  %1: f32[N,0,1] = dotGeneral %a %b {lhsBatch=[0], rhsBatch=[0], lhsContract=[2], rhsContract=[2]}
  return %1
}
`);
  const { artifact } = compileProgram(program, { target: "webgpu" });
  for (const k of artifact.kernels) {
    device.pushErrorScope("validation");
    device.createShaderModule({ code: k.text });
    assert.is(await device.popErrorScope(), null);
    assert.not.match(JSON.stringify(k.workgroups), /^\[-/);
  }
});

test.run();
