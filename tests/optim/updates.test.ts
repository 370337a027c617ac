/**
 * What an optimizer's step is once compiled: one kernel a parameter, the bits of the reference on js, near it on wasm, valid on
 * webgpu; and state that is saved goes on to the bit.
 */

import {
  evaluate,
  initialValueOf,
  input,
  makeValue,
  param,
  type Tensor,
  tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import type * as optim from "@kiln-ml/optim";
import { compile, loadState, stateBytes } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";
import { nullDevice } from "../support/webgpu.ts";
import { groupsOf, kinds, problem } from "./kinds.ts";

/** One step with gradients that are inputs, and values for all that it reads. */
function stepOf(
  params: readonly Tensor[],
  optimizer: optim.Optimizer,
): { program: Program; feeds: Map<Tensor, Value> } {
  const grads = params.map((p, i) => input(`g${i}`, "f32", p.shape));
  const { updates } = trace(() => optimizer.apply(grads));
  const feeds = new Map<Tensor, Value>();
  for (const g of grads) {
    const size = (g.shape as number[]).reduce((a, b) => a * b, 1);
    const values = Array.from({ length: size }, (_, i) => Math.fround(Math.cos(2 + 3 * i)));
    feeds.set(g, makeValue("f32", g.shape as number[], values));
  }
  for (const p of updates.keys()) feeds.set(p, evaluate([initialValueOf(p)])[0]!);
  return { program: { inputs: grads, outputs: [], updates: [...updates] }, feeds };
}

/** The state after `steps` steps of the reference. */
function later({ program, feeds }: ReturnType<typeof stepOf>, steps: number): Map<Tensor, Value> {
  const now = new Map(feeds);
  for (let i = 0; i < steps; i++) {
    const next = evaluate(
      program.updates.map(([, v]) => v),
      { inputs: now },
    );
    for (const [k, [p]] of program.updates.entries()) now.set(p, next[k]!);
  }
  return now;
}

const accumulating = { accumulate: 2 };

const plain = Object.entries(kinds).filter(([name]) => !name.includes(" "));

for (const [name, [make]] of plain)
  for (const more of [{}, accumulating])
    test(`${name}${more === accumulating ? ", accumulating," : ""} agrees on js and wasm, and is valid on webgpu`, async () => {
      const { params } = problem("f32");
      const step = stepOf(params, make(groupsOf(params), more));
      const feeds = later(step, 3);
      await agreesOnJs(step.program, feeds);
      await agreesOnWasm(step.program, feeds);
      const device = await nullDevice();
      const { artifact } = compileProgram(step.program, { target: "webgpu" });
      for (const k of artifact.kernels) assert.equal(await problemsOf(device, k), [], k.text);
      device.destroy();
    });

/** Kernels of a parameter where the algorithm needs sums over it before it moves: means of rows, columns and squares; Muon's norm and products. */
const kernels: Record<string, number> = { Adafactor: 5, Muon: 17 };
/** Counters have a kernel of their own; where they read each other it is two, and NAdam's momentum is a third. */
const counting = (name: string, accumulate: boolean): number =>
  accumulate ? (name.startsWith("NAdam") ? 3 : 2) : 1;

for (const target of ["js", "wasm", "webgpu"] as const)
  for (const [name, [make]] of Object.entries(kinds))
    for (const more of [{}, accumulating])
      test(`${name}${more === accumulating ? ", accumulating" : ""}: a parameter is one kernel on ${target}`, () => {
        const params = ["v", "w"].map((w) =>
          param(tensor(new Float32Array(64 * 32), { shape: [64, 32] }), { name: w }),
        );
        const { program } = stepOf(params, make([{ params }], more));
        const count = compileProgram(program, { target }).artifact.plan.steps.length;
        const most =
          counting(name, more === accumulating) + 2 * (kernels[name.split(" ")[0]!] ?? 1);
        assert.ok(count <= most, `${count} kernels, at most ${most}`);
      });

for (const [name, [make]] of plain)
  test(`${name}: seven steps, saved and loaded in their middle, are seven steps to the bit`, async () => {
    const course = async (savesAfter: number): Promise<number[]> => {
      let { params, loss } = problem("f32");
      let optimizer = make(groupsOf(params), accumulating);
      const stepper = () => compile(() => optimizer.step(loss()), { target: "js" });
      let step = stepper();
      for (let i = 0; i < 7; i++) {
        if (i === savesAfter) {
          const bytes = await stateBytes({
            optimizer,
            params: new Map(params.map((p) => [`${p.attrs.name}`, p])),
          });
          ({ params, loss } = problem("f32"));
          optimizer = make(groupsOf(params), accumulating);
          await loadState(
            { optimizer, params: new Map(params.map((p) => [`${p.attrs.name}`, p])) },
            bytes,
          );
          step = stepper();
        }
        await step();
      }
      return (await Promise.all(params.map((p) => p.data()))).flatMap((d) => [...d] as number[]);
    };
    assert.equal(await course(3), await course(-1));
  });

test.run();
