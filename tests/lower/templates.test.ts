/**
 * Groups of one structure share a kernel. What they share is, byte for byte, the kernel that each
 * would have got by itself, bound to the same tensors: nothing is remembered that tells two of them
 * apart.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import * as vision from "@kiln-ml/vision";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { deepMlp, transformer } from "../../bench/cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import { fuse } from "../../compiler/src/fuse/fuse.ts";
import { storedNodes } from "../../compiler/src/fuse/materialise.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import { type Lowered, Lowering } from "../../compiler/src/lower/lower.ts";
import { nodesOf, type Program } from "../../compiler/src/program.ts";
import { targetOf } from "../../compiler/src/targets/index.ts";
import { type Architecture, architectures, stepOf } from "../support/networks.ts";
import { runs } from "../support/setup.ts";

const targets = ["js", "wasm", "webgpu"] as const;
type Name = (typeof targets)[number];

/** The program after the passes of a target, as fusion gets it. */
function passed(source: Program, target: Name): Program {
  let program = source;
  compileProgram(source, {
    target,
    observe: (stage, state) => {
      if (stage !== "order" && stage !== "emit" && !state.fusion) program = state.program!;
    },
  });
  return program;
}

const idsOf = (tensors: Iterable<Tensor | undefined>): (number | undefined)[] =>
  [...tensors].map((t) => t?.id);

/** All that is made of a group: its kernel, the kernel's text, and what it is bound to. */
function writtenOut(lowered: Lowered, target: Name): string {
  const { kernel, tensors, reads, writes, recipe } = lowered;
  const text = targetOf(target).emit(kernel, { rounding: "on-store", features: [] });
  const bound = [idsOf(tensors), idsOf(reads).sort(), [...writes].map(([t, w]) => [t.id, w.id])];
  return [printKernel(kernel), JSON.stringify(text), JSON.stringify(bound), recipe].join("\n");
}

/** How many groups took another's kernel; each has been held against one of its own. */
function shared(source: Program, name: Name): number {
  const program = passed(source, name);
  const target = targetOf(name);
  const device = { limits: target.defaultLimits, features: [], choices: undefined };
  const fusion = fuse(program, target.fusionLimits(device.limits, []), true);
  const stored = storedNodes(fusion, nodesOf(program));
  const options = { ...device, verify: () => {} };
  const together = new Lowering(target.schedule, options);
  const kernels = new Set<unknown>();
  let found = 0;
  for (const g of fusion.groups) {
    if (g.kind === "control") continue;
    const lowered = together.lower(fusion, g, stored);
    if (kernels.has(lowered.kernel)) {
      found++;
      const alone = new Lowering(target.schedule, options).lower(fusion, g, stored);
      assert.is(writtenOut(lowered, name), writtenOut(alone, name));
    }
    kernels.add(lowered.kernel);
  }
  return found;
}

/** Layers of one width, of which all but the first and last are of one structure. */
const alike: Architecture = {
  kind: "mlp",
  batch: 4,
  widths: [6, 6, 6, 6],
  activation: "gelu",
  norm: true,
  dropout: true,
  pool: "none",
  optimizer: "adam",
};

for (const target of targets) {
  test(`${target}: a shared kernel of a random network is what each group has alone`, () => {
    let found = 0;
    fc.assert(
      fc.property(architectures, (architecture) => {
        found += shared(stepOf(architecture), target);
      }),
      { numRuns: runs(8), examples: [[alike]] },
    );
    assert.ok(found > 0, "nothing was shared");
  });

  const zoo: Readonly<Record<string, () => Program>> = {
    perceptron: () => deepMlp(6),
    transformer: () => transformer(3, 16, 8),
    "ResNet-34": () => inference(vision.resnet34({ classes: 4 })),
    MobileNet: () => inference(vision.mobilenetV3Small({ classes: 4 })),
  };
  for (const [name, program] of Object.entries(zoo))
    test(`${target}: a shared kernel of ${name} is what each group has alone`, () => {
      assert.ok(shared(program(), target) > 0, "nothing was shared");
    });
}

function inference(net: vision.VisionModel): Program {
  const x = input("x", "f32", [2, 3, 32, 32]);
  return { inputs: [x], outputs: [{ name: "y", value: net.eval().forward(x) }], updates: [] };
}

test.run();
