/**
 * Results of every kind of kernel that are read in another shape by what is fused to them: coordinates that a schedule takes
 * apart meet those that the reshape takes apart, and the two must be seen to be one place.
 */

import {
  convolution,
  type Dim,
  dim,
  dotGeneral,
  input,
  mulDim,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { agrees, open, programOf, sample, x } from "../gpu/agree.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { wasmDevice } from "../support/wasm.ts";
import { gpuTest, nullDevice } from "../support/webgpu.ts";

const factor = fc.constantFrom(1, 2, 3, 4, 5, 8);
const factors = fc.array(factor, { minLength: 1, maxLength: 4 });

interface Shaped {
  readonly kind: keyof typeof kinds;
  readonly lines: readonly number[];
  readonly columns: readonly number[];
  readonly k: number;
  readonly symbolic: boolean;
  /** How the axes of the result are put together, and which of them is cut in two. */
  readonly joins: readonly boolean[];
  readonly cut: number;
  readonly again: boolean;
  /** By how many places the axes of the result are turned first. */
  readonly turn: number;
}

type Extents = readonly Dim[];
const kinds = {
  product: (m: Extents, n: Extents, k: number) => {
    const [a, b] = [input("a", "f32", [...m, k]), input("b", "f32", [k, ...n])];
    return { leaves: [a, b], y: dotGeneral(a, b, { lhsContract: [m.length], rhsContract: [0] }) };
  },
  turned: (m: Extents, n: Extents, k: number) => {
    const [a, b] = [input("a", "f32", [k, ...m]), input("b", "f32", [...n, k])];
    return { leaves: [a, b], y: dotGeneral(a, b, { lhsContract: [0], rhsContract: [n.length] }) };
  },
  batched: ([batch, ...m]: Extents, n: Extents, k: number) => {
    const [a, b] = [input("a", "f32", [batch!, ...m, k]), input("b", "f32", [batch!, k, ...n])];
    const axes = { lhsBatch: [0], rhsBatch: [0], rhsContract: [1] };
    return { leaves: [a, b], y: dotGeneral(a, b, { ...axes, lhsContract: [1 + m.length] }) };
  },
  sums: (m: Extents, n: Extents, k: number) => {
    const a = input("a", "f32", [...m, k, ...n]);
    return { leaves: [a], y: a.sum([m.length]) };
  },
  places: (m: Extents, n: Extents, k: number) => {
    const a = input("a", "f32", [...m, k, ...n]);
    return {
      leaves: [a],
      y: a
        .argMax(m.length)
        .convert("f32")
        .add(a.max([m.length])),
    };
  },
  running: (m: Extents, n: Extents) => {
    const a = input("a", "f32", [...m, ...n]);
    return { leaves: [a], y: a.cumsum(m.length) };
  },
  windows: ([batch, ...m]: Extents, n: Extents, k: number) => {
    const [h, w] = [Number(sizeOf(m)), Number(sizeOf(n))];
    const [a, b] = [input("a", "f32", [batch!, k, h, w]), input("b", "f32", [4, k, 3, 3])];
    return { leaves: [a, b], y: convolution(a, b, { padding: 1 }) };
  },
};

const shaped: fc.Arbitrary<Shaped> = fc.record({
  kind: fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])),
  lines: factors,
  columns: factors,
  k: fc.constantFrom(1, 2, 7, 16, 60),
  symbolic: fc.boolean(),
  joins: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
  cut: fc.nat(9),
  again: fc.boolean(),
  turn: fc.nat(3),
});

/** The shape with neighbouring axes joined, and one of the others in two. */
function reshaped(shape: Extents, joins: readonly boolean[], cut: number): Dim[] {
  const out: Dim[] = [];
  for (const [i, d] of shape.entries()) {
    const last = out.at(-1);
    if (i > 0 && last !== undefined && joins[i % joins.length])
      out[out.length - 1] = mulDim(last, d);
    else out.push(d);
  }
  return out.flatMap((d, i) =>
    typeof d === "number" && d % 2 === 0 && i === cut % out.length ? [d / 2, 2] : [d],
  );
}

const turned = (y: Tensor, by: number): Tensor =>
  y.transpose(y.shape.map((_, i) => (i + by) % y.rank));

function programFor({ kind, lines, columns, k, symbolic, turn, ...how }: Shaped): Program {
  const { joins, cut, again } = how;
  const m: Extents = symbolic ? [dim("N"), ...lines.slice(1)] : lines;
  const { leaves, y: made } = kinds[kind](m, columns, k);
  const y = turned(made, turn);
  const shape = reshaped(y.shape, joins, cut);
  const s = input("s", "f32", shape);
  const z = y.reshape(shape).mul(s);
  const extra = again ? [z.reshape(reshaped(shape, joins.slice(1), cut + 1)).add(1)] : [];
  return programOf([...leaves, s], z, ...extra);
}

test("webgpu: a result that is read in another shape compiles and is valid", async () => {
  const device = await nullDevice();
  await fc.assert(
    fc.asyncProperty(shaped, async (s) => {
      const program = programFor(s);
      const { artifact } = compileProgram(program, { target: "webgpu" });
      for (const k of artifact.kernels)
        assert.equal(await problemsOf(device, k), [], `${k.text}\n${printProgram(program)}`);
    }),
    { numRuns: runs(60) },
  );
  device.destroy();
});

// Small whole numbers, of which every target computes the same.
for (const target of ["js", "wasm"] as const)
  test(`${target}: a result that is read in another shape is the reference's`, async () => {
    const device = target === "js" ? guardedCpuDevice() : wasmDevice({ threads: 2, relaxed: true });
    await fc.assert(
      fc.asyncProperty(shaped, async (s) => {
        const program = programFor(s);
        const dims = { N: 3 };
        const feeds = new Map(program.inputs.map((t, i) => [t, sample(t, dims, i)]));
        const want = evaluateProgram(program, feeds, dims);
        const { values } = await runProgram(program, feeds, dims, device, { target });
        for (const [i, v] of values.entries())
          assert.ok(sameValue(v, want[i]!), `result ${i}\n${printProgram(program)}`);
      }),
      { numRuns: runs(20) },
    );
  });

const shapes = [
  [2, 2, 2, 4],
  [2, 2, 8],
  [2, 8, 2],
  [2, 2, 2, 2, 2],
  [4, 8],
];
gpuTest("webgpu: a product's result may be read in any shape", async () => {
  const device = await open();
  for (const shape of shapes) {
    const [u, w, s] = [x("u", [2, 1]), x("w", [1, 16]), x("s", shape)];
    await agrees(device, `${shape}`, programOf([u, w, s], u.matmul(w).reshape(shape).mul(s)));
  }
  device.destroy();
});

test.run();
