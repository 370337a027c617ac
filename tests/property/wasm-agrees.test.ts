/**
 * The wasm target: random programs against the reference, within what f32 allows, on one thread and two, without and with
 * relaxed SIMD; the number of threads changes no bit; every module is valid.
 */
import { input, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { evaluateProgram, printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";

/** A few units in the last place for every op of a short program, and cancellation in sums of small numbers. */
const close = (a: number, b: number): boolean =>
  Object.is(a, b) || a === b || Math.abs(a - b) <= 2e-5 * Math.max(1, Math.abs(a), Math.abs(b));

const agrees = (got: Value, want: Value): boolean =>
  String(got.shape) === String(want.shape) &&
  got.data.every((x, i) => {
    const y = want.data[i]!;
    return got.dtype === "f32" ? close(x, y) : x === y;
  });

const one = fc.record({ random: randomProgram({ symbolic: true }), fusion: fc.boolean() });

for (const variant of variants)
  test(`wasm agrees with the reference, ${nameOfVariant(variant)}`, async () => {
    await fc.assert(
      fc.asyncProperty(one, async ({ random: { program: random, feeds }, fusion }) => {
        const program = { ...random, inputs: [...random.inputs, input("sized", "i32", ["N"])] };
        for (const dims of sampleDims) {
          const given = feeds(dims);
          const want = evaluateProgram(program, given, dims);
          const options = { target: "wasm", fusion } as const;
          const { values } = await runProgram(program, given, dims, wasmDevice(variant), options);
          values.forEach((v, i) => {
            assert.ok(
              agrees(v, want[i]!),
              `result ${i}: got ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
            );
          });
        }
      }),
      { numRuns: runs(60) },
    );
  });

test("two threads give the bits that one gives", async () => {
  await fc.assert(
    fc.asyncProperty(randomProgram(), async ({ program, feeds }) => {
      const run = (threads: number) =>
        runProgram(program, feeds(), {}, wasmDevice({ threads, relaxed: true }), {
          target: "wasm",
        });
      const [a, b] = [await run(1), await run(2)];
      a.values.forEach((v, i) => {
        assert.ok(sameValue(v, b.values[i]!), `result ${i}\n${printProgram(program)}`);
      });
    }),
    { numRuns: runs(40) },
  );
});

test("both modules of a random program are valid", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program: random }) => {
      const program = { ...random, inputs: [...random.inputs, input("sized", "i32", ["N"])] };
      const { modules } = compileProgram(program, { target: "wasm" }).artifact;
      assert.ok(WebAssembly.validate(modules!.plain as BufferSource), printProgram(program));
      assert.ok(WebAssembly.validate(modules!.relaxed as BufferSource), printProgram(program));
    }),
    { numRuns: runs(100) },
  );
});

test.run();
