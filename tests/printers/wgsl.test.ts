/**
 * Hand-written kernels: valid WGSL, and on the software device the same results as the JavaScript of the same
 * kernel.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import { gpuTest, heldGpu, nullDevice, softwareDevice } from "../support/webgpu.ts";
import {
  argMaxAny,
  gatherRows,
  mapPad,
  matmulVector,
  softmax,
  sumMaxLanes,
  transposeTile,
} from "./kernels.ts";
import { arrayOf, runJs } from "./run-js.ts";
import { problemsOf, runWgsl } from "./run-wgsl.ts";

const wave = (n: number): number[] =>
  Array.from({ length: n }, (_, i) => Math.fround(Math.sin(i * 7 + 1) * 3));
const zeros = (n: number): number[] => new Array<number>(n).fill(0);

interface Trial {
  readonly name: string;
  readonly kernel: Kernel;
  readonly arrays: readonly number[][];
  readonly dims?: Readonly<Record<string, number>>;
}

const nan = [1, Number.NaN, 5, Number.NaN, -1, ...wave(27)];
const trials: Trial[] = [
  {
    name: "map with a guard",
    kernel: mapPad("workgroup", "local", 4),
    arrays: [wave(15), wave(3), zeros(18)],
    dims: { N: 3 },
  },
  {
    name: "unrolled map",
    kernel: mapPad("workgroup", "unrolled"),
    arrays: [wave(15), wave(3), zeros(18)],
    dims: { N: 3 },
  },
  {
    name: "softmax of a row a workgroup",
    kernel: softmax(4),
    arrays: [wave(21), zeros(21)],
    dims: { N: 3 },
  },
  {
    name: "softmax by an odd workgroup",
    kernel: softmax(5),
    arrays: [wave(21), zeros(21)],
    dims: { N: 3 },
  },
  {
    name: "matmul of four columns",
    kernel: matmulVector(2),
    arrays: [wave(18), wave(48), zeros(24)],
    dims: { N: 3 },
  },
  {
    name: "transpose through shared memory",
    kernel: transposeTile(),
    arrays: [wave(16 * 24), zeros(16 * 24)],
    dims: { N: 16, M: 24 },
  },
  {
    name: "gather of clamped rows",
    kernel: gatherRows(2),
    arrays: [[3, -5, 99, 0, 9], wave(40), zeros(20)],
    dims: { N: 5 },
  },
  {
    name: "argMax with ties",
    kernel: argMaxAny(8),
    arrays: [[1, 4, 4, -2, 4, 0, 1, 2, 3, 4], zeros(2)],
    dims: { N: 10 },
  },
  { name: "argMax with NaN", kernel: argMaxAny(8), arrays: [nan, zeros(2)], dims: { N: 32 } },
  {
    name: "argMax of -inf",
    kernel: argMaxAny(8),
    arrays: [new Array<number>(9).fill(-Infinity), zeros(2)],
    dims: { N: 9 },
  },
  { name: "sum and max over lanes", kernel: sumMaxLanes(4), arrays: [wave(32), zeros(2)] },
  { name: "max over lanes with NaN", kernel: sumMaxLanes(4), arrays: [nan, zeros(2)] },
];

test("wgsl: hand-written kernels are valid", async () => {
  const device = await nullDevice();
  for (const { name, kernel } of trials) {
    const text = emitWgsl(kernel);
    assert.equal(await problemsOf(device, text), [], `${name}\n${text.text}`);
  }
  device.destroy();
});

test("wgsl: hand-written kernels are valid with subgroups", async () => {
  const adapter = await (await heldGpu("backend=null")).requestAdapter();
  const device = await adapter!.requestDevice({ requiredFeatures: ["subgroups"] });
  const texts = trials.map((t) => emitWgsl(t.kernel, { subgroups: true }));
  for (const text of texts) assert.equal(await problemsOf(device, text), [], text.text);
  assert.ok(texts.some((t) => t.text.includes("subgroupAdd")));
  device.destroy();
});

function byJs({ kernel, arrays, dims = {} }: Trial): number[] {
  const typed = arrays.map((a, i) => arrayOf(kernel.params[i]!.dtype, a));
  runJs(
    emitJs(kernel, { rounding: "on-store" }),
    typed,
    kernel.dims.map((d) => dims[d]!),
  );
  return [...typed.at(-1)!];
}

const close = (a: number, b: number): boolean =>
  Object.is(a, b) || Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b));

for (const t of trials)
  gpuTest(`wgsl: ${t.name} agrees with JavaScript`, async (device) => {
    const got = await runWgsl(device, emitWgsl(t.kernel), t.arrays, t.dims);
    const wanted = byJs(t);
    assert.ok(
      wanted.every((w, i) => close(got[i]!, w)),
      `${got.join(" ")}\nnot ${wanted.join(" ")}`,
    );
  });

gpuTest("wgsl: a combine by subgroups gives the same sum", async () => {
  const t = trials.find((u) => u.name === "softmax of a row a workgroup")!;
  const kernel = softmax(64);
  const own = await softwareDevice({ requiredFeatures: ["subgroups"] });
  const got = await runWgsl(own, emitWgsl(kernel, { subgroups: true }), t.arrays, t.dims);
  own.destroy();
  const wanted = byJs(t);
  assert.ok(
    wanted.every((w, i) => close(got[i]!, w)),
    `${got.join(" ")}\nnot ${wanted.join(" ")}`,
  );
});

test.run();
