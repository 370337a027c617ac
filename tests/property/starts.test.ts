/**
 * Kernels that differ only in where they begin are one: an unrolled recurrence has as many texts as kinds of steps, and
 * computes what the reference does. A kernel begins in its tensors, whatever its guards keep it from reading.
 */

import { evaluateExtent } from "@kiln-ml/artifact";
import { concat, dim, input, makeValue, pad, type Tensor } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { wasmDevice } from "../support/wasm.ts";

const [steps, rows, width] = [12, 3, 8];
const x = input("x", "f32", [steps, rows, width]);
const w = input("w", "f32", [width, width]);

const cpu = guardedCpuDevice();

/** hₜ = tanh(xₜ + hₜ₋₁·w), all of them side by side. */
function recurrence(): Program {
  let hidden: Tensor | undefined;
  const all: Tensor[] = [];
  for (const part of x.split(steps)) {
    const own = part.reshape([rows, width]);
    hidden = (hidden ? own.add(hidden.matmul(w)) : own).tanh();
    all.push(hidden.expandDims(0));
  }
  return { inputs: [x, w], outputs: [{ name: "y", value: concat(all) }], updates: [] };
}

const noise = (size: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.fround(Math.sin(12.9898 * (i + 1))));

async function agrees(target: "js" | "wasm", device: Device): Promise<void> {
  const program = recurrence();
  const { artifact } = compileProgram(program, { target });
  assert.ok(artifact.kernels.length <= 4, artifact.kernels.map((k) => k.name).join());
  assert.ok(artifact.plan.steps.length >= steps);
  const feeds = new Map([
    [x, makeValue("f32", [steps, rows, width], noise(steps * rows * width))],
    [w, makeValue("f32", [width, width], noise(width * width))],
  ]);
  const [want] = evaluateProgram(program, feeds);
  const { values } = await runProgram(program, feeds, {}, device, { target });
  values[0]!.data.forEach((v, i) => {
    assert.ok(Math.abs(v - want!.data[i]!) < 1e-5, `${i}: ${v}, ${want!.data[i]}`);
  });
}

test("the steps of an unrolled recurrence share their kernels on js", () => agrees("js", cpu));

for (const threads of [1, 2])
  test(`the steps of an unrolled recurrence share their kernels on wasm, ${threads} threads`, () =>
    agrees("wasm", wasmDevice({ threads, relaxed: false })));

/** What a layer does to hidden[N, 8] with its weights w[8, 8] and gain g[8]; each joins or pads pieces of something. */
const layers: Readonly<Record<string, (h: Tensor, w: Tensor, g: Tensor) => Tensor>> = {
  rotateHalf: (h, w, g) => {
    const q = h.matmul(w);
    const turned = concat([q.sliceAxis(-1, 4, 8).neg(), q.sliceAxis(-1, 0, 4)], -1);
    return turned.mul(g).softmax().mul(g).add(q);
  },
  rotateScores: (h, _, g) => {
    const q = h.mul(g).softmax();
    return concat([q.sliceAxis(-1, 5, 8), q.sliceAxis(-1, 0, 5).neg()], -1);
  },
  causalPad: (h, _, g) => {
    const before = pad(h, 0, [1, 0], [0, 0]).sliceAxis(0, 0, h.shape[0]!);
    return before.mul(g).softmax().add(h);
  },
  shifted: (h, _, g) => pad(h, 0, [0, 3], [0, -3]).mul(g).softmax(),
  cropped: (h, _, g) => pad(h, 0.5, [0, -3], [0, 3]).mul(g).softmax(),
  croppedRows: (h, _, g) => pad(h, 0.5, [-2, 0], [2, 0]).mul(g).softmax(),
  rolledWeights: (h, w) => {
    const rolled = concat([w.sliceAxis(0, 5, 8), w.sliceAxis(0, 0, 5)], 0);
    return h.matmul(rolled).softmax();
  },
};

/** Layers one after the other, with the weights of all in one tensor; the rows are a symbol or 3. */
function network(names: readonly string[], symbolic: boolean) {
  const L = names.length;
  const first = input("h", "f32", [symbolic ? dim("N") : rows, width]);
  const weights = input("weights", "f32", [L, width, width]);
  const gains = input("gains", "f32", [L, width]);
  const of = (t: Tensor, l: number, shape: readonly number[]): Tensor =>
    t.sliceAxis(0, l, l + 1).reshape(shape);
  const value = names.reduce(
    (h, name, l) => layers[name]!(h, of(weights, l, [width, width]), of(gains, l, [width])),
    first,
  );
  const program: Program = {
    inputs: [first, weights, gains],
    outputs: [{ name: "y", value }],
    updates: [],
  };
  const feeds = (N: number) =>
    new Map([
      [first, makeValue("f32", [N, width], noise(N * width))],
      [weights, makeValue("f32", [L, width, width], noise(L * width * width))],
      [gains, makeValue("f32", [L, width], noise(L * width))],
    ]);
  return { program, feeds };
}

const bytesOfDtype: Readonly<Record<string, number>> = { f32: 4, i32: 4, u32: 4, f64: 8 };

/** Throws unless each kernel begins inside of what it is given; how many begin elsewhere than at the start. */
function startsInside(program: Program, target: "js" | "wasm", dims: Dims): number {
  const { plan, signature } = compileProgram(program, { target }).artifact;
  let moved = 0;
  for (const { args, starts } of plan.steps)
    args.forEach((place, i) => {
      const start = starts?.[i] ?? 0;
      const spec = { input: signature.inputs, output: signature.outputs }[place.in as "input"];
      const size =
        place.in === "slot"
          ? Math.max(...plan.slots[place.index]!.sizes.map((s) => evaluateExtent(s, dims)))
          : spec![place.index]!.shape.reduce<number>((n, d) => n * evaluateExtent(d, dims), 1) *
            bytesOfDtype[spec![place.index]!.dtype]!;
      assert.ok(start >= 0 && start <= size, `${place.in} ${place.index}: ${start} of ${size}`);
      if (start > 0) moved++;
    });
  return moved;
}

async function layersAgree(names: readonly string[], symbolic: boolean): Promise<void> {
  const { program, feeds } = network(names, symbolic);
  for (const N of symbolic ? [1, 2, 3, 5] : [rows]) {
    const given = feeds(N);
    const dims = symbolic ? { N } : {};
    const [want] = evaluateProgram(program, given, dims);
    for (const target of ["js", "wasm"] as const) {
      startsInside(program, target, dims);
      const device = target === "js" ? cpu : wasmDevice({ threads: 1, relaxed: false });
      const { values } = await runProgram(program, given, dims, device, { target });
      values[0]!.data.forEach((v, i) => {
        const wanted = want!.data[i]!;
        assert.ok(Math.abs(v - wanted) < 1e-5, `${target} ${names} N ${N} ${i}: ${v}, ${wanted}`);
      });
    }
  }
}

for (const name of Object.keys(layers))
  for (const symbolic of [false, true])
    test(`four layers of ${name} begin in their tensors${symbolic ? ", rows a symbol" : ""}`, () =>
      layersAgree(
        Array.from({ length: 4 }, () => name),
        symbolic,
      ));

test("kernels of such layers do begin in several places", () => {
  const { program } = network(["causalPad", "causalPad", "causalPad"], false);
  assert.ok(startsInside(program, "js", {}) >= 2);
});

test("starts are never negative nor beyond the end, whatever the layers", async () => {
  const name = fc.constantFrom(...Object.keys(layers));
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 2, maxLength: 3 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      (period, times, symbolic) =>
        layersAgree(Array.from({ length: times }, () => period).flat(), symbolic),
    ),
    { numRuns: runs(8) },
  );
});

test("webgpu, whose bindings cannot begin anywhere, states no starts", () => {
  const { artifact } = compileProgram(recurrence(), { target: "webgpu" });
  assert.ok(artifact.plan.steps.every((s) => s.starts === undefined));
});

test.run();
