/**
 * Attention's kernels where a device has more workgroup memory than every device has: they take it and no more, and what they compute
 * stays the same to the bit, also where tiles end at the diagonal of a causal mask.
 */
import { openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { webgpu } from "../../compiler/src/targets/wgsl/target.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { builds, forwardOf, type Sizes, sizes, stepOf, valuesFor } from "./attention-programs.ts";

const limitsWith = (memory: number) => ({
  ...webgpu.defaultLimits,
  maxComputeWorkgroupStorageSize: memory,
});

/** Bytes of the workgroup arrays of a text. */
function sharedBytes(text: string): number {
  const arrays = text.matchAll(/var<workgroup> \w+: array<(vec4<)?f32>?, (\d+)>/g);
  return [...arrays].reduce((sum, [, wide, count]) => sum + Number(count) * (wide ? 16 : 4), 0);
}

const memories = [16384, 32768, 49152];

test("kernels take no more workgroup memory than there is, and more where there is more", () => {
  for (const width of [17, 64, 256]) {
    const size: Sizes = { batch: [64], queries: 1024, keys: 1024, depth: width, columns: width };
    const most = memories.map((memory) => {
      const { artifact } = compileProgram(stepOf(builds.causal, size), {
        target: "webgpu",
        limits: limitsWith(memory),
      });
      const bytes = artifact.kernels.map((k) => sharedBytes(k.text));
      for (const b of bytes) assert.ok(b <= memory, `${width}: ${b} of ${memory}`);
      return bytes.reduce((a, b) => a + b);
    });
    if (width >= 64) assert.ok(most[2]! > most[0]!, `${width}: ${most}`);
  }
});

/** Queries that end before, at and after the end of a tile of 16, and keys around those of tiles of 64. */
const edges: readonly Sizes[] = [
  [63, 65],
  [64, 63],
  [65, 64],
].map(([queries, keys]) => ({ ...sizes.few, queries: queries!, keys: keys! }));

gpuTest("a causal mask meets the edges of tiles", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  for (const size of edges) {
    const program = forwardOf(builds.causal, size);
    const feeds = valuesFor(program.inputs);
    const want = evaluateProgram(program, feeds, {})[0]!.data;
    const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
    const got = values[0]!.data;
    const off = got.findIndex((e, j) => !(Math.abs(e - want[j]!) <= 2e-5));
    assert.is(off, -1, `${JSON.stringify(size)} at ${off}: ${got[off]}, ${want[off]}`);
  }
  device.destroy();
});

gpuTest("results do not depend on the workgroup memory there is", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  const size: Sizes = { batch: [1], queries: 20, keys: 70, depth: 8, columns: 128 };
  const program = stepOf(builds.plain, size);
  const feeds = valuesFor(program.inputs);
  const most = device.limits.maxComputeWorkgroupStorageSize!;
  const results = [];
  for (const memory of memories.filter((m) => m <= most)) {
    const options = { target: "webgpu", limits: limitsWith(memory) } as const;
    results.push((await runProgram(program, feeds, {}, device, options)).values);
  }
  assert.ok(results.length > 1);
  for (const values of results.slice(1)) assert.equal(values, results[0]);
  device.destroy();
});

test.run();
