/**
 * Sorting on every target: the order that Array.prototype.sort gives with NaN as the greatest, both ways, for every dtype and
 * axis, lines of any length, with ties, both zeros and NaN; fused with what stands before and after, and shapes with symbols.
 */

import {
  argSort,
  type Dtype,
  dim,
  dtypes,
  input,
  isFloat,
  makeValue,
  roundTo,
  sort,
  type Tensor,
  topK,
} from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

const cpu = guardedCpuDevice();

const program = (inputs: Tensor[], values: readonly Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** Few distinct numbers, so that many are equal, and what is special about the dtype. */
function numberOf(dtype: Dtype, n: number): number {
  const special = isFloat(dtype)
    ? [Number.NaN, -0, 0, Infinity, -Infinity]
    : dtype === "bool"
      ? [0, 1]
      : [2147483648, 4294967295, -2147483648, 0];
  return roundTo(dtype, n < special.length ? special[n]! : ((n % 11) - 5) / (n % 2 ? 2 : 1));
}

interface Plan {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly axis: number;
  readonly count: number;
  readonly descending: boolean;
  readonly numbers: readonly number[];
}

const plans = (held: readonly Dtype[], longest: number): fc.Arbitrary<Plan> =>
  fc
    .record({
      dtype: fc.constantFrom(...held),
      shape: fc.array(fc.nat({ max: 4 }), { maxLength: 2 }),
      length: fc.nat({ max: longest }),
      axis: fc.nat({ max: 2 }),
      count: fc.nat(),
      descending: fc.boolean(),
      seed: fc.nat(),
    })
    .map(({ shape: others, length, axis: wanted, count, seed, ...rest }) => {
      const axis = Math.min(wanted, others.length);
      const shape = [...others.slice(0, axis), length, ...others.slice(axis)];
      const size = shape.reduce((a, b) => a * b, 1);
      const number = (i: number) => (Math.imul(i + seed, 0x9e3779b1) >>> 8) % 40;
      const numbers = Array.from({ length: size }, (_, i) => numberOf(rest.dtype, number(i)));
      return { ...rest, shape, axis, count: count % (length + 1), numbers };
    });

function compare(x: number, y: number): number {
  if (x === y) return 0;
  if (Number.isNaN(x)) return Number.isNaN(y) ? 0 : 1;
  return Number.isNaN(y) || x < y ? -1 : 1;
}

/** The order of every line, by the host's stable sort. */
function ordersOf({ shape, axis, numbers, descending }: Plan): number[] {
  const stride = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const n = shape[axis]!;
  const out = new Array<number>(numbers.length);
  for (let start = 0; start < numbers.length; start++) {
    if (Math.floor(start / stride) % n !== 0) continue;
    const at = (i: number) => start + i * stride;
    const places = Array.from({ length: n }, (_, i) => i);
    const sign = descending ? -1 : 1;
    places.sort((i, j) => sign * compare(numbers[at(i)]!, numbers[at(j)]!));
    for (const [i, p] of places.entries()) out[at(i)] = p;
  }
  return out;
}

/** What sorting gives, and what is computed from it in the same kernel, on one device. */
async function check(p: Plan, device: Device, symbolic: boolean, dims: Dims = {}): Promise<void> {
  const shape = p.shape.map((d, i) => (symbolic && i === p.axis ? dim("N", { min: 0 }) : d));
  const x = input("x", p.dtype, shape);
  const named = symbolic ? { N: p.shape[p.axis]!, ...dims } : dims;
  const order = argSort(x, p.axis, { descending: p.descending });
  const values = [order, sort(x, p.axis, { descending: p.descending }), order.mul(2).add(1)];
  if (!symbolic) {
    const top = topK(x, p.count, p.axis, { largest: p.descending });
    values.push(top.values, top.indices);
  }
  const feeds = new Map([[x, makeValue(p.dtype, p.shape, p.numbers)]]);
  const whole = program([x], values);
  const want = evaluateProgram(whole, feeds, named);
  assert.equal([...want[0]!.data], ordersOf(p));
  for (const fusion of [true, false]) {
    const options = { target: device.target, fusion };
    const { values: got } = await runProgram(whole, feeds, named, device, options);
    for (const [i, v] of got.entries())
      assert.ok(sameValue(v, want[i]!), `result ${i}: ${v.data}, want ${want[i]!.data}`);
  }
}

for (const symbolic of [false, true]) {
  const shapes = symbolic ? "symbolic" : "static";
  test(`js: sorting gives the order of the host's stable sort, ${shapes} shapes`, () =>
    fc.assert(
      fc.asyncProperty(plans(dtypes, 40), (p) => check(p, cpu, symbolic)),
      { numRuns: runs(60) },
    ));
  for (const variant of variants)
    test(`wasm: sorting gives the order of the host's stable sort, ${shapes} shapes, ${nameOfVariant(variant)}`, () =>
      fc.assert(
        fc.asyncProperty(plans(dtypes, 40), (p) => check(p, wasmDevice(variant), symbolic)),
        { numRuns: runs(25) },
      ));
}

/** A long line of one dtype. */
const longPlan = (dtype: Dtype, length: number, count: number, descending: boolean): Plan => ({
  dtype,
  shape: [2, length],
  axis: 1,
  count,
  descending,
  numbers: Array.from({ length: 2 * length }, (_, i) => {
    const x = Math.sin(12.9898 * (i + 1)) * 1000;
    return i % 97 === 0 ? numberOf(dtype, i % 5) : roundTo(dtype, i % 3 ? x : Math.round(x / 100));
  }),
});

for (const [length, count] of [
  [1000, 5],
  [1025, 64],
  [3001, 3001],
] as const)
  test(`${count} of lines of ${length} are found by lists and by merging`, async () => {
    for (const dtype of ["f32", "f64", "u32", "f16"] as const)
      for (const descending of [false, true]) {
        const p = longPlan(dtype, length, count, descending);
        await check(p, cpu, false);
        await check(p, wasmDevice(variants[0]!), false);
        await check(p, wasmDevice(variants[3]!), true);
      }
  });

test("a sorting takes one kernel with what it is computed from and what is gathered by it", () => {
  const x = input("x", "f32", [4, 30]);
  const sorted = sort(x.exp().neg(), 1);
  const top = topK(x, 3, 0);
  for (const target of ["js", "wasm", "webgpu"] as const) {
    const kernels = (values: Tensor[]) =>
      compileProgram(program([x], values), { target }).artifact.plan.steps.length;
    assert.is(kernels([argSort(x.neg(), 1)]), 1, target);
    assert.is(kernels([top.values, top.indices]), 1, target);
    assert.ok(kernels([sorted.add(1)]) <= 2, target);
  }
});

const onGpu = dtypes.filter((d) => d !== "f64");

gpuTest("webgpu: sorting gives the order of the host's stable sort", async () => {
  const device = await guardedGpuDevice();
  for (const symbolic of [false, true])
    await fc.assert(
      fc.asyncProperty(plans(onGpu, 40), (p) => check(p, device, symbolic)),
      { numRuns: runs(15) },
    );
  await check(longPlan("f32", 1000, 5, true), device, false);
  // Past what workgroup memory holds.
  await check(longPlan("f32", 2500, 7, false), device, false);
  device.destroy();
});

test.run();
