/**
 * Products and convolutions whose results are read in other shapes and put back: normalisation over groups of channels does
 * so, and its kernels have to find the result at hand under coordinates that went through a reshape. On every target.
 */
import { convolution, input, makeValue, type Tensor, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { open } from "../gpu/agree.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";
import { gpuTest } from "../support/webgpu.ts";

interface Case {
  readonly program: Program;
  readonly feeds: ReadonlyMap<Tensor, Value>;
}

interface Sizes {
  readonly batch: number;
  readonly channels: number;
  readonly groups: number;
  readonly side: number;
  readonly product: boolean;
}

const sizes: fc.Arbitrary<Sizes> = fc.record({
  batch: fc.integer({ min: 1, max: 3 }),
  channels: fc.constantFrom(4, 8, 12),
  groups: fc.constantFrom(1, 2, 4),
  side: fc.constantFrom(1, 2, 3, 4, 6, 8),
  product: fc.boolean(),
});

/** z = y in groups · a, of which rows are also summed, and y + z, for y a convolution or a product of x. */
function programOf({ batch, channels, groups, side, product }: Sizes): Case {
  const feeds = new Map<Tensor, Value>();
  const given = (name: string, ...shape: number[]): Tensor => {
    const t = input(name, "f32", shape);
    const count = shape.reduce((a, b) => a * b, 1);
    const numbers = Array.from({ length: count }, (_, i) => (((i + name.length) * 7) % 9) - 4);
    feeds.set(t, makeValue("f32", shape, numbers));
    return t;
  };
  const x = given("x", batch, channels, side, side);
  const w = product ? given("w", side, side) : given("w", channels, channels, 3, 3);
  const y = product ? x.matmul(w) : convolution(x, w, { padding: 1 });
  const a = given("a", batch, groups, (channels / groups) * side * side);
  const grouped = y.reshape([batch, groups, -1]);
  const z = grouped.mul(a);
  const back = y.add(z.reshape([batch, channels, side, side]));
  const all = { z, twice: grouped.add(grouped), sums: z.sum(-1), back };
  const outputs = Object.entries(all).map(([name, value]) => ({ name, value }));
  return { program: { inputs: [...feeds.keys()], outputs, updates: [] }, feeds };
}

test("results that are read in another shape: js and wasm agree with the reference", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, async (s) => {
      const { program, feeds } = programOf(s);
      await agreesOnJs(program, feeds);
      await agreesOnWasm(program, feeds);
    }),
    { numRuns: runs(20) },
  );
});

test("results that are read in another shape: webgpu compiles them", () => {
  fc.assert(
    fc.property(sizes, (s) => {
      compileProgram(programOf(s).program, { target: "webgpu" });
    }),
    { numRuns: runs(60) },
  );
});

gpuTest("results that are read in another shape: webgpu agrees", async () => {
  const device = await open();
  for (const product of [true, false])
    for (const [batch, side] of [
      [1, 4],
      [2, 3],
    ] as const) {
      const { program, feeds } = programOf({ batch, channels: 8, groups: 4, side, product });
      const want = evaluateProgram(program, feeds, {});
      const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
      for (const [i, v] of values.entries()) assert.equal([...v.data], [...want[i]!.data]);
    }
  device.destroy();
});

test.run();
