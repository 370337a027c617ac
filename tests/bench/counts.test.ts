/**
 * What compiling does, in counts that no machine changes: kernels that are lowered, modules that
 * are distinct, and steps of work as programs grow.
 */
import type { TargetName } from "@kiln-ml/artifact";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { deepMlp, step, transformer } from "../../bench/cases.ts";
import { deepCases } from "../../bench/deep-cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import { nodesOf, type Program } from "../../compiler/src/program.ts";

const targets = ["js", "wasm", "webgpu"] as const;

function countsOf(program: Program, target: TargetName) {
  let lowered = 0;
  const { artifact } = compileProgram(program, { target, verify: () => lowered++ });
  return { lowered, modules: artifact.kernels.length, steps: artifact.plan.steps.length };
}

for (const target of targets)
  for (const [name, blocks] of [
    ["layers", deepMlp],
    ["transformer blocks", (n: number) => transformer(n, 16, 8)],
  ] as const)
    test(`${target}: more ${name} are lowered and printed no more often`, () => {
      const [few, many] = [6, 12].map((n) => countsOf(blocks(n), target));
      assert.ok(many!.steps > few!.steps);
      assert.is(many!.lowered, few!.lowered);
      assert.is(many!.modules, few!.modules);
    });

/**
 * Convolutions and normalisations, each added to what came in: sums that many kernels want to join.
 */
class Residual extends nn.Module {
  readonly convs = new nn.Sequential(
    new nn.Conv2d(8, 8, 3, { padding: 1 }),
    new nn.BatchNorm2d(8),
    new nn.ReLU(),
    new nn.Conv2d(8, 8, 3, { padding: 1 }),
    new nn.BatchNorm2d(8),
  );
  override forward(x: Parameters<nn.Sequential["forward"]>[0]) {
    return this.convs.forward(x).add(x).maximum(0);
  }
}

const residualStep = (blocks: number): Program => {
  const net = new nn.Sequential(
    new nn.Conv2d(3, 8, 3),
    ...Array.from({ length: blocks }, () => new Residual()),
    new nn.Flatten(),
    new nn.Linear(8 * 36, 4),
  );
  return step(net, [4, 3, 8, 8], "sgd");
};

test("webgpu: what is fused again and again is lowered when kernels bind few enough tensors", () => {
  // Kernels of equal loops are one, in twos and threes that come out even.
  const [few, many] = [6, 12].map((blocks) => countsOf(residualStep(blocks), "webgpu"));
  assert.is(many!.modules, few!.modules);
  assert.ok(many!.lowered <= few!.lowered, `${few!.lowered}, then ${many!.lowered}`);
  // Those of earlier rounds that overwrite parameters, or may read less than they seem to.
  assert.ok(few!.lowered <= 1.8 * few!.modules, `${few!.lowered} for ${few!.modules} modules`);
});

/** Entries of maps and sets that are asked for and made while `run` runs: what no clock changes. */
function workOf(run: () => void): number {
  let work = 0;
  const undo: (() => void)[] = [];
  for (const kind of [Map.prototype, Set.prototype])
    for (const name of ["get", "set", "add", "has"] as const) {
      const own = (kind as unknown as Record<string, (...args: unknown[]) => unknown>)[name];
      if (!own) continue;
      const counted = function (this: unknown, ...args: unknown[]) {
        work++;
        return own.apply(this, args);
      };
      Object.defineProperty(kind, name, { value: counted, configurable: true, writable: true });
      undo.push(() =>
        Object.defineProperty(kind, name, { value: own, configurable: true, writable: true }),
      );
    }
  try {
    run();
  } finally {
    for (const u of undo) u();
  }
  return work;
}

// More than one kernel has room for at either size: what fits into one grows by leaps until then.
for (const [target, name] of [
  ["js", "ladder"],
  ["js", "activations"],
  ["wasm", "chainWithGradients"],
  ["webgpu", "chainWithGradients"],
] as const)
  test(`${target}: the work of compiling ${name} grows as the program does`, () => {
    const [one, three] = [1500, 4500].map((n) => {
      const program = deepCases[name]!(n);
      const work = workOf(() => compileProgram(program, { target }));
      return { nodes: nodesOf(program).length, work };
    });
    const [nodes, work] = [three!.nodes / one!.nodes, three!.work / one!.work];
    const most = (1.15 * nodes * Math.log(three!.nodes)) / Math.log(one!.nodes);
    const text = `${one!.work}, then ${three!.work}, for ${nodes.toFixed(2)} times the nodes`;
    assert.ok(work <= most, text);
  });

test.run();
