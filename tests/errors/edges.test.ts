/** Indices out of range and tensors without elements: the same on every target as in the reference, fused and not. */
import {
  constant,
  dim,
  gather,
  input,
  makeValue,
  scatter,
  type Tensor,
  take,
  type Value,
  windows,
  zeros,
} from "@kiln-ml/ir";
import { createCpuDevice, type Device, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

interface Case {
  readonly program: Program;
  readonly feeds: ReadonlyMap<Tensor, Value>;
  readonly dims?: Dims;
}

const x = input("x", "f32", [4, 3]);
const u = input("u", "f32", [6, 3]);
const ids = input("ids", "i32", [6]);
const e = input("e", "f32", [0, 3]);
const n = input("n", "f32", [dim("B", { min: 0 }), 3]);
const empty = "identity";
const none = input("none", "i32", [0]);

const values = new Map<Tensor, Value>([
  [x, makeValue("f32", [4, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])],
  [u, makeValue("f32", [6, 3], [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6])],
  [ids, makeValue("i32", [6], [-1, 0, 3, 4, 2 ** 31 - 1, -(2 ** 31)])],
  [e, makeValue("f32", [0, 3], [])],
  [none, makeValue("i32", [0], [])],
]);

function outputs(inputs: readonly Tensor[], results: Readonly<Record<string, Tensor>>): Case {
  const list = Object.entries(results).map(([name, value]) => ({ name, value }));
  const feeds = new Map(inputs.flatMap((t) => (values.has(t) ? [[t, values.get(t)!]] : [])));
  return { program: { inputs, outputs: list, updates: [] }, feeds };
}

const cases: Record<string, () => Case> = {
  "gather clamps": () => outputs([x, ids], { y: gather(x, [ids], [0]), z: take(x, ids).exp() }),
  "scatter drops": () =>
    outputs([x, u, ids], {
      add: scatter(x, u, [ids], [0], "add"),
      max: scatter(x, u, [ids], [0], "max"),
      twice: scatter(x, u, [ids], [0], "add").mul(2),
    }),
  "reductions over nothing": () =>
    outputs([e], { sum: e.sum(), prod: e.prod(0), mean: e.sum(1).add(1) }),
  "extremes of nothing": () =>
    outputs([e], {
      max: e.max(undefined, { empty }),
      min: e.min(0, { empty }),
      all: e.greater(0).all(),
      any: e.less(0).any(),
    }),
  "products over nothing": () =>
    outputs([e, x], { y: e.transpose().matmul(e), z: e.matmul(x.transpose()) }),
  "pieces of nothing": () =>
    outputs([e, x], { y: e.mul(2).exp(), z: zeros([0, 3]).add(e), w: e.reshape([3, 0]) }),
  "indices that are none": () =>
    outputs([x, none, e], { y: gather(x, [none], [0]), z: scatter(x, e, [none], [0], "add") }),
  "scans over nothing and over one": () =>
    outputs([e, x], {
      none: e.cumsum(0).add(1),
      across: e.cumprod(1, { reverse: true }),
      one: x.slice([0, 1], [4, 2]).cummax(1).add(1),
      before: x.slice([0, 1], [4, 2]).cumsum(1, { exclusive: true }),
      least: x.cummin(1, { exclusive: true }),
    }),
  "windows over a dim that may be too short for one": () => {
    const t = input("t", "f32", [2, dim("T")]);
    const w = windows(t, { size: [3], stride: [1], dilation: [1] });
    return {
      ...outputs([t], { w, sums: w.sum(2), all: w.max(2).add(1).sum() }),
      feeds: new Map([[t, makeValue("f32", [2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])]]),
      dims: { T: 5 },
    };
  },
  "a batch of none": () => ({
    ...outputs([n], { y: n.mul(2).add(constant(1)), s: n.sum(0), c: n.cumsum(0), d: n.cumsum(1) }),
    feeds: new Map([[n, makeValue("f32", [0, 3], [])]]),
    dims: { B: 0 },
  }),
};

async function check(c: Case, device: Device): Promise<void> {
  const dims = c.dims ?? {};
  const want = evaluateProgram(c.program, c.feeds, dims);
  for (const fusion of [true, false]) {
    const options = { target: device.target, fusion } as const;
    const { values: got } = await runProgram(c.program, c.feeds, dims, device, options);
    for (const [i, v] of got.entries()) {
      const name = c.program.outputs[i]!.name;
      assert.equal(v.shape, want[i]!.shape, name);
      for (const [j, y] of want[i]!.data.entries())
        assert.ok(
          Object.is(v.data[j], y) || Math.abs(v.data[j]! - y) <= 1e-5 * Math.abs(y),
          `${name}: ${v.data}, want ${want[i]!.data}`,
        );
    }
  }
}

test("windows over a dim that is too short for one are refused when they run", async () => {
  const t = input("t", "f32", [2, dim("T")]);
  const w = windows(t, { size: [3], stride: [1], dilation: [1] });
  const { program } = outputs([t], { w });
  const feeds = new Map([[t, makeValue("f32", [2, 1], [1, 2])]]);
  const run = runProgram(program, feeds, { T: 1 }, createCpuDevice(), { target: "js" });
  const message = await run.then(
    () => "",
    (error: Error) => error.message,
  );
  assert.is(
    message,
    "run: dim T must be at least 3, is 1 in input t [2,T]\n  windows: window 3 with dilation 1 does not fit axis 1 of [2,T]",
  );
});

for (const [name, build] of Object.entries(cases)) {
  test(`js: ${name} as the reference does`, () =>
    check(build(), createCpuDevice({ poison: true })));
  gpuTest(`webgpu: ${name} as the reference does`, async () => {
    const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
    await check(build(), device);
    device.destroy();
  });
}

test.run();
