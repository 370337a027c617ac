/**
 * The native target: random programs against the reference, as wasm's are
 * (tests/property/wasm-agrees.test.ts), on two threads, on this
 * machine and on those whose vectors are narrower. A C compiler takes longer than an engine's,
 * so that a sample of programs is compiled as one.
 */
import type { Tensor, Value } from "@kiln-ml/ir";
import { openNativeDevice } from "@kiln-ml/runtime/native";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { type RandomProgram, randomProgram } from "../support/graphs.ts";
import { machines } from "../support/native-machines.ts";
import { evaluateProgram, printProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";

/**
 * A few units in the last place for every op of a short program, and cancellation in sums of small
 * numbers.
 */
const close = (a: number, b: number): boolean =>
  Object.is(a, b) || a === b || Math.abs(a - b) <= 2e-5 * Math.max(1, Math.abs(a), Math.abs(b));

const agrees = (got: Value, want: Value): boolean =>
  String(got.shape) === String(want.shape) &&
  got.data.every((x, i) => (got.dtype === "f32" ? close(x, want.data[i]!) : x === want.data[i]!));

/** The programs of a sample side by side in one. */
function joined(sample: readonly RandomProgram[]) {
  const feeds = new Map<Tensor, Value>();
  for (const { feeds: of } of sample) for (const [t, v] of of()) feeds.set(t, v);
  const parts = sample.map(({ program }) => program);
  const program: Program = {
    inputs: [...new Set(parts.flatMap((p) => p.inputs))],
    outputs: parts.flatMap((p, i) => p.outputs.map((o) => ({ ...o, name: `${o.name}_${i}` }))),
    updates: parts.flatMap((p) => p.updates),
  };
  return { program, feeds };
}

for (const machine of machines)
  for (const fusion of [true, false])
    machine.test(`programs agree with the reference, fusion ${fusion}`, async ({ command }) => {
      const device = await openNativeDevice({ threads: 2, poison: true, compiler: command });
      const sample = fc.sample(randomProgram({ maxDepth: 6 }), { numRuns: runs(machine.share) });
      const { program, feeds } = joined(sample);
      const want = evaluateProgram(program, feeds);
      const features = [...device.features];
      const options = { target: "native", features, fusion } as const;
      const { values } = await runProgram(program, feeds, {}, device, options);
      values.forEach((v, i) => {
        assert.ok(
          agrees(v, want[i]!),
          `result ${i}: got ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
        );
      });
      device.destroy();
    });

test.run();
