/**
 * Cumulative ops where loops have a shape of their own: lines and blocks of columns, axes from front and end, updates in
 * place, sums alongside. Against the reference, with the kernels counted.
 */

import {
  assign,
  declareParam,
  dim,
  grad,
  input,
  makeValue,
  type Tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

interface Case {
  readonly kernels: number;
  readonly build: (x: Tensor) => readonly Tensor[];
}

const cases: Record<string, Case> = {
  "along a row": { kernels: 1, build: (x) => [x.exp().cumsum(2).mul(2)] },
  "from the end of a row, exclusive": {
    kernels: 1,
    build: (x) => [x.cumprod(2, { exclusive: true, reverse: true })],
  },
  "down columns": { kernels: 1, build: (x) => [x.cumsum(1), x.cummax(1).add(1)] },
  "up columns, exclusive": {
    kernels: 1,
    build: (x) => [x.abs().cumsum(1, { exclusive: true, reverse: true }).sqrt()],
  },
  "down the first axis": { kernels: 1, build: (x) => [x.cummin(0), x.cumsum(0)] },
  "one after the other": { kernels: 1, build: (x) => [x.cumsum(2).mul(0.1).cummax(2)] },
  "both ways": { kernels: 2, build: (x) => [x.cumsum(2), x.cumsum(2, { reverse: true })] },
  "with reductions alongside": {
    kernels: 1,
    build: (x) => [x.cumsum(1), x.sum(1).mul(2), x.cumsum(1).max(1)],
  },
  "with a position alongside": { kernels: 1, build: (x) => [x.cumsum(1), x.argMax(1)] },
  "with what needs its sum": {
    kernels: 2,
    build: (x) => [x.cumsum(2).div(x.cumsum(2).sum(2, { keepDims: true }).add(100))],
  },
  "of a transposed operand": { kernels: 1, build: (x) => [x.transpose([2, 0, 1]).cumsum(0)] },
  "the gradient of a cumulative product": {
    kernels: 2,
    build: (x) => grad(x.cumprod(2).sum(), [x]),
  },
};

const sizes: readonly (readonly [number, number, number])[] = [
  [2, 3, 4],
  [2, 11, 37],
  [1, 12, 64],
];

function programOf(
  { build }: Case,
  [b, t, d]: readonly [number, number, number],
  symbolic: boolean,
) {
  const extents = symbolic ? [dim("B"), dim("T"), d] : [b, t, d];
  const x = input("x", "f32", extents);
  const outputs = build(x).map((value, i) => ({ name: `y${i}`, value }));
  const numbers = Array.from({ length: b * t * d }, (_, i) => Math.sin(12.9898 * (i + 1)));
  const feeds = new Map([[x, makeValue("f32", [b, t, d], numbers)]]);
  const program: Program = { inputs: [x], outputs, updates: [] };
  return { program, feeds, dims: symbolic ? { B: b, T: t } : {} };
}

function near(got: Value, want: Value): boolean {
  const scale = want.data.reduce((m, e) => Math.max(m, Math.abs(e)), 1e-3);
  return got.data.every((e, i) => Math.abs(e - want.data[i]!) <= 2e-5 * scale);
}

async function check(name: string, c: Case, device: Device, same: typeof near): Promise<void> {
  for (const size of sizes)
    for (const symbolic of [false, true])
      for (const fusion of [true, false]) {
        const { program, feeds, dims } = programOf(c, size, symbolic);
        const want = evaluateProgram(program, feeds, dims);
        const { values } = await runProgram(program, feeds, dims, device, {
          target: device.target,
          fusion,
          rounding: "each-op",
        });
        for (const [i, v] of values.entries())
          assert.ok(
            same(v, want[i]!),
            `${name} of ${size}, result ${i}: ${v.data}, ${want[i]!.data}`,
          );
      }
}

for (const [name, c] of Object.entries(cases)) {
  test(`js: scans ${name} have the bits of the reference`, () =>
    check(name, c, guardedCpuDevice(), sameValue));
  test(`scans ${name} take ${c.kernels} kernels`, () => {
    for (const target of ["js", "wasm", "webgpu"] as const) {
      const { program } = programOf(c, sizes[1]!, false);
      assert.is(compileProgram(program, { target }).artifact.plan.steps.length, c.kernels, target);
    }
  });
}

for (const variant of variants)
  test(`wasm: scans agree with the reference, ${nameOfVariant(variant)}`, async () => {
    for (const [name, c] of Object.entries(cases)) await check(name, c, wasmDevice(variant), near);
  });

test("wasm: a long line's sums are taken in parts", async () => {
  const c: Case = { kernels: 1, build: (x) => [x.cumsum(2), x.cumsum(2).sum(2)] };
  for (const reverse of [false, true]) {
    const turned: Case = { ...c, build: (x) => [x.cumsum(2, { reverse, exclusive: true }).mul(2)] };
    for (const one of [c, turned]) {
      const { program, feeds } = programOf(one, [1, 5, 600], false);
      const want = evaluateProgram(program, feeds);
      const device = wasmDevice(variants[0]!);
      const { values } = await runProgram(program, feeds, {}, device, { target: "wasm" });
      for (const [i, v] of values.entries()) assert.ok(near(v, want[i]!), `${v.data}`);
    }
  }
});

gpuTest("webgpu: scans agree with the reference", async () => {
  const device = await guardedGpuDevice();
  for (const [name, c] of Object.entries(cases)) await check(name, c, device, near);
  device.destroy();
});

for (const exclusive of [false, true])
  for (const axis of [0, 1])
    test(`a scan overwrites what it reads, exclusive ${exclusive}, axis ${axis}`, async () => {
      const w = declareParam("w", "f32", [12, 40], true);
      const { updates } = trace(() => assign(w, w.cumsum(axis, { exclusive })));
      const program: Program = { inputs: [], outputs: [], updates: [...updates] };
      const numbers = Array.from({ length: 480 }, (_, i) => Math.cos(i));
      const feeds = new Map([[w, makeValue("f32", [12, 40], numbers)]]);
      const want = evaluateProgram(program, feeds);
      const options = { target: "js", rounding: "each-op" } as const;
      const { artifact } = compileProgram(program, options);
      assert.is(artifact.plan.slots.length + artifact.plan.copies.length, 0);
      const { values } = await runProgram(program, feeds, {}, guardedCpuDevice(), options);
      assert.ok(sameValue(values[0]!, want[0]!));
    });

/** Less than a tile, one element more, whole tiles, and parts of one that lanes divide and that they do not. */
const lineLengths = [128, 257, 1024, 1025, 1028, 2500];

for (const features of [[], ["subgroups"]])
  gpuTest(`long lines on webgpu agree with the reference, features [${features}]`, () =>
    checkLong(features),
  );

async function checkLong(features: string[]): Promise<void> {
  const device = await guardedGpuDevice();
  const builds: ((x: Tensor) => Tensor[])[] = [
    (x) => [x.cumsum(1), x.cummax(1)],
    (x) => [x.exp().mul(0.1).cumsum(1, { exclusive: true, reverse: true }).mul(2)],
    (x) => [x.cummin(1, { reverse: true }), x.cumprod(1, { exclusive: true })],
    (x) => [x.transpose().cumsum(0), x.cumsum(1).max(1)],
    (x) => [x.mul(2), x.mul(2).cumsum(1).add(x), x.cumsum(1)],
    (x) => [x.cumsum(1), x.max(1), x.sum(1).mul(2)],
  ];
  for (const length of lineLengths)
    for (const [b, build] of builds.entries()) {
      const x = input("x", "f32", [3, length]);
      const outputs = build(x).map((value, i) => ({ name: `y${i}`, value }));
      // Whole numbers, so that sums do not depend on the order; products of ±1.
      const numbers = Array.from({ length: 3 * length }, (_, i) =>
        b === 2 ? 1 - 2 * ((i * 7919) % 2) : ((i * 7919) % 13) - 6,
      );
      if (b === 0) numbers[length + 100] = Number.NaN;
      const feeds = new Map([[x, makeValue("f32", [3, length], numbers)]]);
      const program: Program = { inputs: [x], outputs, updates: [] };
      const want = evaluateProgram(program, feeds, {});
      const options = { target: "webgpu", features } as const;
      const { values } = await runProgram(program, feeds, {}, device, options);
      values.forEach((v, i) => {
        const expected = want[i]!.data;
        const off = v.data.findIndex(
          (e, j) =>
            !Object.is(e, expected[j]) &&
            !(Math.abs(e - expected[j]!) <= 1e-5 * Math.max(1, Math.abs(expected[j]!))),
        );
        assert.is(
          off,
          -1,
          `${length}, ${b}, result ${i} at ${off}: ${v.data[off]}, ${expected[off]}`,
        );
      });
    }
  device.destroy();
}

gpuTest("halves of a long line on webgpu are summed before they are rounded", async () => {
  const device = await guardedGpuDevice();
  // Beyond the greatest half and back, from one four to the next and inside the fourth.
  const numbers = [4e4, 26e3, 0, 0, -1e4, 0, 0, 0, -56e3, -6e4, 0, 0, 5e4, 3e4, 0, 0, -4e4];
  const data = [...numbers, ...new Array(512 - numbers.length).fill(0)];
  for (const dtype of ["f16", "bf16"] as const) {
    const x = input("x", dtype, [1, 512]);
    const program: Program = {
      inputs: [x],
      outputs: [{ name: "y", value: x.cumsum(1) }],
      updates: [],
    };
    const feeds = new Map([[x, makeValue(dtype, [1, 512], data)]]);
    const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
    assert.ok(sameValue(values[0]!, evaluateProgram(program, feeds)[0]!), `${values[0]!.data}`);
  }
  device.destroy();
});

gpuTest("a long scan on webgpu overwrites what it reads", async () => {
  const device = await guardedGpuDevice();
  for (const exclusive of [false, true]) {
    const w = declareParam("w", "f32", [3, 1300], true);
    const { updates } = trace(() => assign(w, w.cumsum(1, { exclusive })));
    const program: Program = { inputs: [], outputs: [], updates: [...updates] };
    const numbers = Array.from({ length: 3900 }, (_, i) => ((i * 7919) % 13) - 6);
    const feeds = new Map([[w, makeValue("f32", [3, 1300], numbers)]]);
    const want = evaluateProgram(program, feeds);
    const { artifact } = compileProgram(program, { target: "webgpu" });
    assert.is(artifact.plan.slots.length + artifact.plan.copies.length, 0);
    const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
    assert.ok(sameValue(values[0]!, want[0]!));
  }
  device.destroy();
});

gpuTest("one very long line on webgpu is split and agrees with the reference", async () => {
  const device = await guardedGpuDevice();
  const [lines, length] = [2, 1 << 16];
  const x = input("x", "f32", [length, lines]);
  const values = [
    x.cumsum(0, { exclusive: true, reverse: true }),
    x.transpose().cummax(1),
    x.cummin(0).mul(2),
  ];
  const program: Program = {
    inputs: [x],
    outputs: values.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
  assert.ok(compileProgram(program, { target: "webgpu" }).artifact.plan.steps.length >= 6);
  // Whole numbers, so that sums do not depend on the order.
  const numbers = Array.from({ length: lines * length }, (_, i) => ((i * 7919) % 13) - 6);
  const feeds = new Map([[x, makeValue("f32", [length, lines], numbers)]]);
  const at = (place: number, line: number): number => place * lines + line;
  const want = [0, 1, 2].map(() => new Array<number>(lines * length));
  for (let line = 0; line < lines; line++) {
    let [after, most, least] = [0, -Infinity, Infinity];
    for (let p = 0; p < length; p++) {
      const back = length - 1 - p;
      want[0]![at(back, line)] = after;
      after += numbers[at(back, line)]!;
      most = Math.max(most, numbers[at(p, line)]!);
      least = Math.min(least, numbers[at(p, line)]!);
      want[1]![line * length + p] = most;
      want[2]![at(p, line)] = least * 2;
    }
  }
  const got = await runProgram(program, feeds, {}, device, { target: "webgpu" });
  got.values.forEach((v, i) => {
    const off = v.data.findIndex((e, j) => e !== want[i]![j]);
    assert.is(off, -1, `result ${i} at ${off}: ${v.data[off]}, ${want[i]![off]}`);
  });
  device.destroy();
});

test.run();
