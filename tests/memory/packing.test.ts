/**
 * The cases in which packing once wrote outside of its memory: a panel for lines that are left over was packed where none
 * are. Products with a symbolic number of rows whose rows run along memory, training steps of attention, and batches whose
 * panels lie side by side.
 */
import { dim, grad, input, makeValue, type Tensor, type Value } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { productOf } from "../support/products.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { wasmDevice } from "../support/wasm.ts";

type Shape = readonly number[];

const noise = (shape: Shape, seed: number): Value => {
  const size = shape.reduce((a, b) => a * b, 1);
  const data = Array.from({ length: size }, (_, i) =>
    Math.fround(Math.sin(12.9898 * (i + 1) + 78.233 * seed)),
  );
  return makeValue("f32", shape, data);
};

/**
 * Throws where a result is off by more than f32 allows, or where memory changed that is nobody's. Several threads run
 * several times, since what they do to each other is not the same twice.
 */
async function agrees(
  inputs: readonly (readonly [Tensor, Shape])[],
  values: readonly Tensor[],
  dims: Dims,
  threads = 1,
  known?: readonly Value[],
): Promise<void> {
  const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
  const program: Program = { inputs: inputs.map(([t]) => t), outputs, updates: [] };
  const feeds = new Map(inputs.map(([t, shape], i) => [t, noise(shape, i)]));
  const want = known ?? evaluateProgram(program, feeds, dims);
  const device = wasmDevice({ threads, relaxed: false });
  for (let run = 0; run < threads; run++) {
    const got = await runProgram(program, feeds, dims, device, { target: "wasm" });
    for (const [i, v] of got.values.entries()) {
      const scale = want[i]!.data.reduce((most, e) => Math.max(most, Math.abs(e)), 1);
      const off = v.data.findIndex((e, j) => !(Math.abs(e - want[i]!.data[j]!) <= 2e-5 * scale));
      const [a, b] = [v.data[off], want[i]!.data[off]];
      assert.is(off, -1, `${JSON.stringify(dims)}: element ${off} of ${i} is ${a}, want ${b}`);
    }
  }
}

const rows = [4, 8, 12, 16, 20, 48, 100];

for (const K of [1, 2, 7, 64])
  for (const columns of [3, 9, 64])
    test(`rows that run along memory, K ${K}, ${columns} columns`, async () => {
      const a = input("a", "f32", [K, dim("T")]);
      const b = input("b", "f32", [K, columns]);
      for (const T of rows)
        await agrees(
          [
            [a, [K, T]],
            [b, [K, columns]],
          ],
          [a.swapAxes(-1, -2).matmul(b)],
          { T },
        );
    });

test("a batch of such products, whose panels lie side by side", async () => {
  const a = input("a", "f32", [3, 5, dim("T")]);
  const b = input("b", "f32", [3, 5, 12]);
  for (const threads of [1, 2])
    for (const T of rows)
      await agrees(
        [
          [a, [3, 5, T]],
          [b, [3, 5, 12]],
        ],
        [a.swapAxes(-1, -2).matmul(b)],
        { T },
        threads,
      );
});

/** q·kᵀ, softmax, ·v, and the gradients of a sum of the result: two heads of one step after another. */
async function attentionStep(sizes: Dims, H: number, D: number, E: number): Promise<void> {
  const { B, T, S } = sizes as { B: number; T: number; S: number };
  const [b, t, s] = [dim("B"), dim("T"), dim("S")];
  const q = input("q", "f32", [b, H, t, D]);
  const k = input("k", "f32", [b, H, s, D]);
  const v = input("v", "f32", [b, H, s, E]);
  const g = input("g", "f32", [b, H, t, E]);
  const y = q
    .matmul(k.swapAxes(-1, -2))
    .mul(D ** -0.5)
    .softmax()
    .matmul(v);
  const feeds = [
    [q, [B, H, T, D]],
    [k, [B, H, S, D]],
    [v, [B, H, S, E]],
    [g, [B, H, T, E]],
  ] as const;
  await agrees(feeds, [y, ...grad(y.mul(g).sum(), [q, k, v])], sizes);
}

test("two steps of attention, one after the other", async () => {
  await attentionStep({ B: 3, T: 16, S: 48 }, 1, 20, 1);
  await attentionStep({ B: 1, T: 64, S: 48 }, 1, 16, 16);
});

/** How each operand of a product lies, its sizes. */
interface Product {
  readonly lies: "nn" | "nt" | "tn" | "tt";
  readonly batch: number;
  readonly m: number;
  readonly k: number;
  readonly n: number;
}

const threaded: readonly Product[] = [
  { lies: "tn", batch: 3, m: 240, k: 64, n: 64 },
  { lies: "tn", batch: 2, m: 148, k: 104, n: 67 },
  { lies: "tt", batch: 3, m: 248, k: 62, n: 256 },
];

for (const { lies, batch, m, k, n } of threaded)
  test(`${lies}, ${batch} of ${m}×${k}×${n}, on four threads`, async () => {
    const M = dim("M");
    const [ta, tb] = [lies[0] === "t", lies[1] === "t"];
    const a = input("a", "f32", ta ? [batch, k, M] : [batch, M, k]);
    const b = input("b", "f32", tb ? [batch, n, k] : [batch, k, n]);
    const lhs = ta ? a.swapAxes(-1, -2) : a;
    const rhs = tb ? b.swapAxes(-1, -2) : b;
    const feeds = [
      [a, ta ? [batch, k, m] : [batch, m, k]],
      [b, tb ? [batch, n, k] : [batch, k, n]],
    ] as const;
    const [left, right] = feeds.map(([, shape], i) => noise(shape, i).data);
    const data = productOf(left!, right!, { ta, tb, batch, m, k, n });
    const want: Value = { dtype: "f32", shape: [batch, m, n], data };
    await agrees(feeds, [lhs.matmul(rhs)], { M: m }, 4, [want]);
  });

test.run();
