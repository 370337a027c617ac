/**
 * Every elementwise record as WGSL: valid to Tint one lane and four lanes wide, and within the record's ulps on
 * the software device.
 */
import type { Dtype } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import { gpuTest, nullDevice } from "../support/webgpu.ts";
import { type Case, casesOf, kernelOf, operandsOf, size, wantedOf } from "./records.ts";
import { problemsOf, runWgsl, ulpsBetween } from "./run-wgsl.ts";

const dtypes: Dtype[] = ["f32", "i32", "u32", "i8", "u8", "bool"];
const cases = casesOf(dtypes);
const zeros = new Array<number>(size).fill(0);

test("wgsl: every record is valid WGSL, one lane and four lanes wide", async () => {
  const device = await nullDevice();
  for (const c of cases)
    for (const width of [1, 4] as const) {
      const text = emitWgsl(kernelOf(c, width));
      assert.equal(await problemsOf(device, text), [], `${c.name}\n${text.text}`);
    }
  device.destroy();
});

/** Where WGSL is not held to the record. */
function excused(wanted: number): boolean {
  // Devices may flush subnormals to zero (WGSL 15.7.2).
  return wanted !== 0 && Math.abs(wanted) < 2 ** -126;
}

async function worstOf(device: GPUDevice, c: Case, width: 1 | 4, special: boolean) {
  const operands = operandsOf(c, special);
  const wanted = wantedOf(c, operands);
  const got = await runWgsl(device, emitWgsl(kernelOf(c, width)), [...operands, zeros]);
  let worst = { ulps: 0, at: "" };
  for (let i = 0; i < size; i++) {
    const x = operands.map((o) => o[i]!);
    const exact = got[i] === wanted[i] ? 0 : Infinity;
    const ulps = c.result === "f32" ? ulpsBetween(got[i]!, wanted[i]!) : exact;
    if (ulps > worst.ulps && !(special && excused(wanted[i]!)))
      worst = { ulps, at: `${c.name}: ${x.join(", ")} gives ${got[i]}, not ${wanted[i]}` };
  }
  return worst;
}

gpuTest("wgsl: every record is within its ulps on the software device", async (device) => {
  const bad: string[] = [];
  for (const c of cases) {
    const { ulps, at } = await worstOf(device, c, 1, false);
    if (ulps > (c.record.ulp ?? 0)) bad.push(`${ulps} ulps: ${at}`);
  }
  assert.equal(bad, []);
});

gpuTest("wgsl: vectors of extremes have the record's values", async (device) => {
  const bad: string[] = [];
  for (const c of cases) {
    const { ulps, at } = await worstOf(device, c, 4, true);
    if (ulps > (c.record.ulp ?? 0)) bad.push(`${ulps} ulps: ${at}`);
  }
  assert.equal(bad, []);
});

test.run();
