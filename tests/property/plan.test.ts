/** Memory plans of random programs: replayed place by place, and run on memory that holds NaN before it is written. */

import type { TargetName } from "@kiln-ml/artifact";
import { input } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type CompileOptions, compileProgram } from "../../compiler/src/all.ts";
import type { Lowered } from "../../compiler/src/lower/lower.ts";
import { order } from "../../compiler/src/plan/order.ts";
import { plan } from "../../compiler/src/plan/plan.ts";
import type { Planned } from "../../compiler/src/plan/planned.ts";
import { unifyKernels } from "../../compiler/src/plan/unify.ts";
import type { Program } from "../../compiler/src/program.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, parseProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { type Replayed, replay } from "./replay.ts";

/** A symbol must be an extent of some input, or a run cannot know it. */
const sized = (program: Program): Program => ({
  ...program,
  inputs: [...program.inputs, input("sized", "i32", ["N"])],
});

/** The plan of a program, which is also the plan in its artifact. */
function planOf(source: Program, target: TargetName, fusion = true): Omit<Replayed, "dims"> {
  let [program, kernels]: [Program, readonly Lowered[]] = [source, []];
  const options: CompileOptions = {
    target,
    fusion,
    observe(stage, state) {
      if (stage === "order") [program, kernels] = [state.program!, state.kernels!];
    },
  };
  const { artifact, states } = compileProgram(source, options);
  const planned: Planned = plan(program, states, order(program, kernels), target);
  const kernelsAlone = kernels.map((k) => k.kernel);
  const args = unifyKernels(kernelsAlone, planned.places).map((u) => u.args);
  assert.equal(
    artifact.plan.steps.map((s) => s.args),
    args,
  );
  return { program, states, kernels, planned, target };
}

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`${target}: every place holds what is read from it, at every step`, () => {
    const one = fc.record({ random: randomProgram({ symbolic: true }), fusion: fc.boolean() });
    fc.assert(
      fc.property(one, ({ random, fusion }) => {
        const program = sized(random.program);
        const planned = planOf(program, target, fusion);
        for (const dims of sampleDims) replay({ ...planned, dims });
      }),
      { numRuns: runs(150) },
    );
  });

for (const fusion of [true, false])
  test(`on poisoned memory, js equals the reference bit for bit, fusion ${fusion ? "on" : "off"}`, async () => {
    const device = guardedCpuDevice();
    await fc.assert(
      fc.asyncProperty(randomProgram(), async ({ program, feeds }) => {
        const given = feeds();
        const want = evaluateProgram(program, given);
        const options = { target: "js", fusion, rounding: "each-op" } as const;
        // The second run finds memory that the first one used.
        for (let i = 0; i < 2; i++) {
          const { values } = await runProgram(program, given, {}, device, options);
          values.forEach((v, j) => {
            assert.ok(sameValue(v, want[j]!), `result ${j}: got ${v.data}, want ${want[j]!.data}`);
          });
        }
      }),
      { numRuns: runs(100) },
    );
  });

const text = `graph f(%x: f32[4,4], %p: param f32[4,4]) {
  %1: f32[4,4] = dotGeneral %x %p {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
  %2: f32[4,4] = dotGeneral %1 %x {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
  %3: f32[4,4] = dotGeneral %2 %1 {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
  %4: f32[4,4] = add %p %3
  assign %p %4
  return %2
}`;

/** The message of what `replay` throws; empty if nothing. */
function complaint(r: Omit<Replayed, "dims">): string {
  try {
    replay({ ...r, dims: {} });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

test("the replay sees slots that are shared, steps out of order and copies that are left out", () => {
  const good = planOf(parseProgram(text), "webgpu");
  assert.is(complaint(good), "");
  const { planned, kernels } = good;
  const everywhere = (from: string, to: number): Planned => ({
    ...planned,
    places: planned.places.map((list) =>
      list.map((p) => (p.in === from ? ({ in: "slot", index: to } as const) : p)),
    ),
  });
  assert.match(complaint({ ...good, planned: everywhere("output", 0) }), /holds|lies there too/);
  assert.match(complaint({ ...good, planned: { ...planned, slots: [] } }), /no such slot/);
  const small: Planned = { ...planned, slots: planned.slots.map(() => ({ sizes: [4] })) };
  assert.match(complaint({ ...good, planned: small }), /takes 64 bytes of 4/);
  const swapped = [kernels[1]!, kernels[0]!, ...kernels.slice(2)];
  const places = [planned.places[1]!, planned.places[0]!, ...planned.places.slice(2)];
  const late = { ...good, kernels: swapped, planned: { ...planned, places } };
  assert.match(complaint(late), /^step 0 .*: holds nothing/);
});

test("a swap of two parameters saves the value that is overwritten first", () => {
  const swap = parseProgram(`graph f(%a: param f32[2], %b: param f32[2]) {
    assign %a %b
    assign %b %a
    return
  }`);
  const good = planOf(swap, "js");
  assert.is(complaint(good), "");
  const copies = good.planned.copies.slice(1);
  assert.match(complaint({ ...good, planned: { ...good.planned, copies } }), /./);
});

test("an updated parameter whose old value another kernel reads is written after it", () => {
  const program = parseProgram(`graph f(%x: f32[4], %p: param f32[4]) {
    %1: f32[4] = add %p %x
    %2: f32[] = reduceSum %p {axes=[0]}
    %3: f32[4] = broadcastInDim %2 {dims=[]}
    %4: f32[4] = mul %3 %x
    assign %p %1
    return %4
  }`);
  assert.is(complaint(planOf(program, "js", false)), "");
});

test.run();
