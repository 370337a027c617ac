/**
 * Queries that may attend to nothing give 0, with gradients of 0, however they are masked, on the reference, js and wasm, fused and
 * not; and causal masks that end with the last key. `tests/gpu/attention-masks.test.ts` has the same on webgpu.
 */
import { tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { createCpuDevice } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { differences, kinds, maskedAttention } from "../support/masked-attention.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { variants, wasmDevice } from "../support/wasm.ts";

const sizes = [
  { batch: 2, queries: 5, keys: 5, depth: 4 },
  { batch: 1, queries: 3, keys: 7, depth: 3 },
  { batch: 2, queries: 9, keys: 3, depth: 8 },
  { batch: 1, queries: 1, keys: 6, depth: 2 },
];
const cpu = createCpuDevice({ poison: true });

for (const kind of kinds)
  test(`masked by ${kind}: rows that see nothing are 0, forward and backward, on every CPU target`, async () => {
    for (const [i, size] of sizes.entries())
      for (const symbolic of i === 0 ? [false, true] : [i % 2 === 1]) {
        const { program, feeds, dims, want } = maskedAttention(kind, size, symbolic);
        const check = (where: string, values: readonly { data: ArrayLike<number> }[]) =>
          assert.equal(
            differences(
              values.map((v) => v.data),
              want,
            ),
            [],
            `${where}, ${JSON.stringify(size)}, symbolic ${symbolic}`,
          );
        check("reference", evaluateProgram(program, feeds, dims));
        for (const fusion of [true, false]) {
          const js = await runProgram(program, feeds, dims, cpu, { target: "js", fusion });
          check(`js, fusion ${fusion}`, js.values);
          const device = wasmDevice(variants[0]!);
          const wasm = await runProgram(program, feeds, dims, device, { target: "wasm", fusion });
          check(`wasm, fusion ${fusion}`, wasm.values);
        }
      }
  });

test("maskedSoftmax is softmax where a row has anything to see, and keeps NaN", () => {
  const rows = [
    [1, 2, -Infinity],
    [-Infinity, -Infinity, -Infinity],
    [-3.4028234663852886e38, -Infinity, -3.4028234663852886e38],
    [Number.NaN, 1, 2],
    [-1e30, -1e30, -2e30],
  ];
  const x = tensor(rows);
  const program = {
    inputs: [],
    outputs: [x.softmax(-1), x.maskedSoftmax(-1)].map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
  const [plain, masked] = evaluateProgram(program, new Map()).map((v) => [...v.data]);
  assert.equal(masked!.slice(0, 3), plain!.slice(0, 3));
  assert.equal(masked!.slice(3, 9), [0, 0, 0, 0, 0, 0]);
  assert.ok(masked!.slice(9, 12).every(Number.isNaN));
  assert.equal(masked!.slice(12), [0.5, 0.5, 0]);
});

test("MultiHeadAttention takes a causal mask that ends with the last key", () => {
  const layer = new nn.MultiHeadAttention(4, 2);
  const [x, key] = [
    tensor([[[1, 2, 3, 4]]]),
    tensor([
      [
        [1, 0, 0, 1],
        [0, 1, 1, 0],
        [2, 1, 0, 1],
      ],
    ]),
  ];
  const outputs = [
    layer.forward(x, { key, causal: "end" }),
    layer.forward(x, { key }),
    layer.forward(x, { key, causal: true }),
  ].map((value, i) => ({ name: `y${i}`, value }));
  const feeds = new Map(
    [...layer.state().values()].map(
      (t) =>
        [
          t,
          {
            dtype: t.dtype,
            shape: t.shape as number[],
            data: Float64Array.from(
              { length: (t.shape as number[]).reduce((a, b) => a * b, 1) },
              (_, i) => Math.sin(i + t.id),
            ),
          },
        ] as const,
    ),
  );
  const [end, all, start] = evaluateProgram({ inputs: [], outputs, updates: [] }, feeds).map(
    (v) => [...v.data],
  );
  // One query beside a cache of three keys is the last: it sees all of them. From the start it would see the first alone.
  assert.equal(end, all);
  assert.not.equal(start, all);
});

test("an unknown causal mask is told", () => {
  const x = tensor([[1, 2]]);
  assert.throws(
    () => nn.attention(x, x, x, { causal: "start" as never }),
    (e: Error) => e.message === 'attention: causal must be true, false or "end", got start',
  );
});

test.run();
