/**
 * Large tensors of 2-bit and 4-bit integers stay packed in the graph, and mean what they meant in
 * the file.
 */
import { hasHostData, hostDataOf, input, topologicalOrder } from "@kiln-ml/ir";
import type { TensorDef } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadSmall, numbers, runSmall, type SmallModel, wave } from "./small-model.ts";

const types = { int4: [-8, 7], uint4: [0, 15], int2: [-2, 1], uint2: [0, 3] } as const;
type Narrow = keyof typeof types;

function narrow(type: Narrow, dims: readonly number[]): TensorDef {
  const [low, high] = types[type];
  const size = dims.reduce((a, b) => a * b, 1);
  const values = Array.from(
    { length: size },
    (_, i) => low + ((i * 7 + (i >> 3)) % (high - low + 1)),
  );
  const data = low < 0 ? Int8Array.from(values) : Uint8Array.from(values);
  return { name: "", type, dims, data };
}

/** x·dequantized(w), each column of w with a scale. */
function product(w: TensorDef): SmallModel {
  const [, n] = w.dims as [number, number];
  return {
    inputs: { x: [2, w.dims[0]!] },
    initializers: { w, s: wave([n], 3) },
    nodes: [
      { op: "DequantizeLinear", inputs: ["w", "s"], outputs: ["f"], attributes: { axis: 1 } },
      { op: "MatMul", inputs: ["x", "f"] },
    ],
  };
}

for (const type of Object.keys(types) as Narrow[])
  for (const [k, n] of [
    [32, 16],
    [36, 30],
    [33, 12],
    [31, 12],
    [37, 11],
    [3, 5],
  ] as const)
    test(`a product with ${k}×${n} weights of type ${type} is right`, async () => {
      const w = narrow(type, [k, n]);
      const x = wave([2, k]);
      const [y] = await runSmall(product(w), { x });
      const [xs, ws, ss] = [x.data, w.data, wave([n], 3).data] as ArrayLike<number>[];
      const want = Array.from({ length: 2 * n }, (_, at) => {
        let sum = 0;
        for (let i = 0; i < k; i++)
          sum += xs![Math.floor(at / n) * k + i]! * ws![i * n + (at % n)]! * ss![at % n]!;
        return sum;
      });
      for (const [i, v] of numbers(y!).entries())
        assert.ok(Math.abs(v - want[i]!) < 1e-3, `element ${i}: ${v}, expected ${want[i]}`);
    });

for (const [type, each] of [
  ["int4", 2],
  ["uint2", 4],
] as const)
  test(`${each} integers of type ${type} take a byte`, () => {
    const model = loadSmall(product(narrow(type, [64, 32])));
    const y = model.apply({ x: input("x", "f32", [2, 64]) }).y!;
    const bytes = topologicalOrder([y]).filter((t) => t.dtype === "u8" && hasHostData(t));
    assert.equal(
      bytes.map((t) => hostDataOf(t).length),
      [(64 * 32) / each],
    );
  });

// ONNX Runtime leaves the zero points out where there is g_idx, so it is no judge here.
test("MatMulNBits takes scale and zero point of the group that g_idx names", async () => {
  const [K, N, size, blocks] = [40, 6, 16, 3];
  const bytes = (name: string, dims: readonly number[], seed: number): TensorDef => {
    const count = dims.reduce((a, b) => a * b, 1);
    const data = Uint8Array.from({ length: count }, (_, i) => (i * 89 + seed) % 251);
    return { name, type: "uint8", dims, data };
  };
  const group = Int32Array.from({ length: K }, (_, k) => (k * 7) % blocks);
  const [w, z, s] = [bytes("w", [N, blocks, 8], 3), bytes("z", [12], 5), wave([18], 2)];
  const a = wave([2, K]);
  const g: TensorDef = { name: "g", type: "int32", dims: [K], data: group };
  const [y] = await runSmall(
    {
      inputs: { a: [2, K] },
      initializers: { w, s, z, g },
      nodes: [
        {
          op: "MatMulNBits",
          domain: "com.microsoft",
          inputs: ["a", "w", "s", "z", "g"],
          attributes: { K, N, bits: 4, block_size: size },
        },
      ],
    },
    { a },
  );
  const four = (t: TensorDef, row: number, i: number, perRow: number): number =>
    ((t.data as Uint8Array)[row * perRow + (i >> 1)]! >> (4 * (i & 1))) & 15;
  const [as, ss] = [a.data, s.data] as [Float32Array, Float32Array];
  for (const [at, v] of numbers(y!).entries()) {
    const [r, n] = [Math.floor(at / N), at % N];
    let want = 0;
    for (let k = 0; k < K; k++)
      want +=
        as[r * K + k]! *
        (four(w, n, k, blocks * 8) - four(z, n, group[k]!, 2)) *
        ss[n * blocks + group[k]!]!;
    assert.ok(Math.abs(v - want) < 1e-3, `element ${at}: ${v}, expected ${want}`);
  }
});

for (const [bits, K, size, rows, hasZero] of [
  [4, 64, 32, 1, false],
  [4, 70, 32, 3, true],
  [8, 96, 32, 1, true],
  [8, 130, 64, 5, false],
] as const)
  test(`MatMulNBits of ${bits} bits${hasZero ? " with zero points" : ""}, ${rows}×${K}, is words`, async () => {
    const [N, blocks] = [6, Math.ceil(K / size)];
    const bytes = (dims: readonly number[], seed: number): TensorDef => {
      const count = dims.reduce((a, b) => a * b, 1);
      const data = Uint8Array.from({ length: count }, (_, i) => (i * 89 + seed) % 251);
      return { name: "", type: "uint8", dims, data };
    };
    const perRow = Math.ceil((blocks * bits) / 8);
    const [w, z] = [bytes([N, blocks, (size * bits) / 8], 3), bytes([N * perRow], 5)];
    const [a, s] = [wave([rows, K]), wave([N * blocks], 2)];
    const node = {
      op: "MatMulNBits",
      domain: "com.microsoft",
      inputs: ["a", "w", "s", ...(hasZero ? ["z"] : [])],
      attributes: { K, N, bits, block_size: size },
    };
    const initializers = { w, s, ...(hasZero && { z }) };
    const [y] = await runSmall({ inputs: { a: [rows, K] }, initializers, nodes: [node] }, { a });
    const each = 8 / bits;
    const field = (t: TensorDef, row: number, i: number, size: number): number =>
      ((t.data as Uint8Array)[row * size + Math.floor(i / each)]! >> (bits * (i % each))) &
      (2 ** bits - 1);
    const [as, ss] = [a.data, s.data] as [Float32Array, Float32Array];
    for (const [at, v] of numbers(y!).entries()) {
      const [r, n] = [Math.floor(at / N), at % N];
      let want = 0;
      for (let k = 0; k < K; k++) {
        const block = Math.floor(k / size);
        const zero = hasZero ? field(z, n, block, perRow) : 2 ** (bits - 1);
        const step = field(w, n, k, (blocks * size * bits) / 8) - zero;
        want += as[r * K + k]! * step * ss[n * blocks + block]!;
      }
      assert.ok(Math.abs(v - want) < 1e-2, `element ${at}: ${v}, expected ${want}`);
    }
  });

test.run();
