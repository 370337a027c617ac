/** How many kernels layers and updates take at most, on every target: a layer costs no more than what is written by hand. */
import { input, param, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";

const targets = ["js", "wasm", "webgpu"] as const;
type Most = Readonly<Record<(typeof targets)[number], number>>;
const everywhere = (n: number): Most => ({ js: n, wasm: n, webgpu: n });

function takes(program: Program, most: Most): void {
  for (const target of targets) {
    const { artifact } = compileProgram(program, { target });
    const names = artifact.plan.steps.map((s) => artifact.kernels[s.kernel]!.name);
    assert.ok(names.length <= most[target], `${target}: ${names.length}: ${names.join(" ")}`);
  }
}

const forward = (x: Tensor, y: Tensor): Program => ({
  inputs: [x],
  outputs: [{ name: "y", value: y }],
  updates: [],
});

class Block extends nn.Module {
  readonly norm = new nn.LayerNorm(32);
  readonly attention = new nn.MultiHeadAttention(32, 4);
  override forward(x: Tensor): Tensor {
    return x.add(this.attention.forward(this.norm.forward(x)));
  }
}

test("GroupNorm is one kernel", () => {
  const x = input("x", "f32", [2, 8, 6, 6]);
  takes(forward(x, new nn.GroupNorm(2, 8).forward(x)), everywhere(1));
});

test("an attention block is eight kernels at most, its step 24 on webgpu", () => {
  const x = input("x", "f32", [2, 16, 32]);
  const block = new Block();
  takes(forward(x, block.forward(x)), everywhere(8));
  const opt = new optim.SGD(block.parameters(), { lr: 0.1 });
  const { updates } = trace(() => opt.step(block.forward(x).square().mean()));
  // On the CPU the scores are stored, forward and back.
  takes({ inputs: [x], outputs: [], updates: [...updates] }, { js: 26, wasm: 26, webgpu: 24 });
});

// Those that count steps move their counter by a kernel of one number.
const kinds = { SGD: 1, RMSProp: 1, AdaGrad: 1, Adadelta: 1, Lion: 1, Adam: 2, AdamW: 2, Adamax: 2, NAdam: 2, RAdam: 2, Adan: 2, LAMB: 2 }; // biome-ignore format: a table

for (const [name, most] of Object.entries(kinds))
  test(`${name} updates a parameter in one kernel`, () => {
    const w = param(new Float32Array(64), { shape: [8, 8], name: "w" });
    const g = input("g", "f32", [8, 8]);
    // biome-ignore lint/performance/noDynamicNamespaceImportAccess: all of them are tried.
    const opt = new optim[name as "SGD"]([w], { lr: 1e-3 });
    const { updates } = trace(() => opt.apply([g]));
    takes({ inputs: [g], outputs: [], updates: [...updates] }, everywhere(most));
  });

test.run();
