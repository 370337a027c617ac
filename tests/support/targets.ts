/**
 * A program on the targets of the CPU: js gives the bits of the reference, fused and not; wasm is within the ulps of the ops
 * on one thread and on two, plain and relaxed.
 */

import type { Tensor, Value } from "@kiln-ml/ir";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "./guarded-cpu.ts";
import { evaluateProgram, printProgram, sameValue } from "./reference.ts";
import { type Dims, runProgram } from "./run.ts";
import { farOff, tolerances } from "./tolerance.ts";
import { nameOfVariant, variants, wasmDevice } from "./wasm.ts";

type Feeds = ReadonlyMap<Tensor, Value>;

const cpu = guardedCpuDevice();

/** Throws unless js, when it rounds at every op, gives what the reference gives, bit for bit. */
export async function agreesOnJs(program: Program, feeds: Feeds, dims: Dims = {}): Promise<void> {
  const want = evaluateProgram(program, feeds, dims);
  for (const fusion of [true, false]) {
    const options = { target: "js", fusion, rounding: "each-op" } as const;
    const { values } = await runProgram(program, feeds, dims, cpu, options);
    for (const [i, v] of values.entries())
      assert.ok(
        sameValue(v, want[i]!),
        `result ${i}, fusion ${fusion}: got ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
      );
  }
}

/** Throws unless wasm is as near to the reference as its ops allow. */
export async function agreesOnWasm(program: Program, feeds: Feeds, dims: Dims = {}): Promise<void> {
  const want = evaluateProgram(program, feeds, dims);
  const allowed = tolerances(program, feeds, dims, want);
  for (const variant of variants) {
    const options = { target: "wasm" } as const;
    const { values } = await runProgram(program, feeds, dims, wasmDevice(variant), options);
    for (const [i, v] of values.entries()) {
      const k = farOff(v, want[i]!, allowed[i]!);
      const [got, wanted] = [v.data[k], want[i]!.data[k]];
      assert.is(
        k,
        -1,
        `${nameOfVariant(variant)}, result ${i}: element ${k} is ${got}, want ${wanted}, allowed ${allowed[i]![k]}\n${printProgram(program)}`,
      );
    }
  }
}
