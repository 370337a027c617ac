/**
 * The contractions of the wasm target: products of every shape and layout, convolutions and their gradients, epilogues
 * and side sums, against the reference. Inputs are small integers, so that sums are exact in any order.
 */
import {
  convolution,
  dotGeneral,
  evaluateDim,
  grad,
  input,
  type Shape,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { guardedWasmDevice } from "../support/guarded-wasm.ts";
import { evaluateProgram, printProgram, sameValue } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";

const device = guardedWasmDevice({ threads: 2, relaxed: false });

let seed = 1;
const next = (): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed >> 16;
};

function feed(t: Tensor, dims: Dims): Value {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((p, q) => p * q, 1);
  return {
    dtype: t.dtype,
    shape,
    data: Float64Array.from({ length: size }, () => (next() % 7) - 3),
  };
}

async function agrees(outputs: readonly Tensor[], inputs: readonly Tensor[], dims: Dims = {}) {
  const program: Program = {
    inputs,
    outputs: outputs.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
  const feeds = new Map(inputs.map((t) => [t, feed(t, dims)]));
  const want = evaluateProgram(program, feeds, dims);
  const { values } = await runProgram(program, feeds, dims, device, { target: "wasm" });
  values.forEach((v, i) => {
    const at = v.data.findIndex((x, j) => x !== want[i]!.data[j]);
    assert.ok(
      sameValue(v, want[i]!) || at < 0,
      `result ${i} at ${at}: got ${v.data[at]}, want ${want[i]!.data[at]}\n${printProgram(program)}`,
    );
  });
}

const extents = [1, 3, 4, 5, 7, 8, 9, 31, 33, 130];

/** x·y with each operand laid out either way. */
function product(m: number | string, n: number, k: number, ta: boolean, tb: boolean, batch = 0) {
  const lead: Shape = batch ? [batch] : [];
  const at = lead.length;
  const a = input("a", "f32", [...lead, ...(ta ? [k, m] : [m, k])] as never);
  const b = input("b", "f32", [...lead, ...(tb ? [n, k] : [k, n])] as never);
  const y = dotGeneral(a, b, {
    lhsBatch: lead.map((_, i) => i),
    rhsBatch: lead.map((_, i) => i),
    lhsContract: [ta ? at : at + 1],
    rhsContract: [tb ? at + 1 : at],
  });
  return { a, b, y };
}

for (const [ta, tb] of [
  [false, false],
  [true, false],
  [false, true],
  [true, true],
] as const)
  test(`products agree, a ${ta ? "transposed" : "plain"}, b ${tb ? "transposed" : "plain"}`, async () => {
    for (const m of [1, 3, 4, 5, 8, 31, 130])
      for (const n of [1, 4, 7, 8, 9, 33, 130]) {
        const k = extents[next() % extents.length]!;
        const { a, b, y } = product(m, n, k, ta, tb);
        await agrees([y], [a, b]);
      }
  });

test("products agree whose rows fill panels and groups of panels, or do not", async () => {
  for (const m of [40, 43, 80, 83, 133])
    for (const [n, k] of [
      [9, 3],
      [24, 40],
    ] as const)
      for (const transposed of [false, true]) {
        const { a, b, y } = product(m, n, k, transposed, false);
        await agrees([y], [a, b]);
      }
  for (const transposed of [false, true]) {
    const { a, b, y } = product(45, 9, 700, transposed, true);
    await agrees([y], [a, b]);
  }
});

test("products agree where the result is stored the other way round", async () => {
  for (const [m, n, k] of [
    [5, 9, 33],
    [33, 130, 7],
    [8, 8, 8],
    [1, 33, 300],
    [33, 1, 300],
  ] as const) {
    const { a, b, y } = product(m, n, k, false, false);
    await agrees([y.transpose(), y.relu()], [a, b]);
  }
});

test("deep products agree", async () => {
  for (const [m, n, k] of [
    [5, 9, 1000],
    [4, 8, 257],
    [1, 1, 513],
    [9, 40, 512],
  ] as const) {
    const { a, b, y } = product(m, n, k, true, false);
    await agrees([y], [a, b]);
  }
});

test("products with few rows or columns agree", async () => {
  for (const [m, n, k] of [
    [1, 40, 1000],
    [3, 70, 300],
    [2, 33, 64],
    [70, 4, 130],
    [50, 1, 5000],
    [4, 5, 9000],
  ] as const)
    for (const t of [0, 1, 2, 3]) {
      const { a, b, y } = product(m, n, k, t % 2 === 1, t >= 2);
      await agrees([y.add(1), y.relu()], [a, b]);
    }
});

test("batched products agree", async () => {
  for (const [batch, m, n, k] of [
    [3, 5, 9, 33],
    [17, 8, 16, 4],
    [2, 1, 7, 5],
    [20, 130, 9, 8],
  ] as const)
    for (const t of [false, true]) {
      const { a, b, y } = product(m, n, k, t, !t, batch);
      await agrees([y.mul(2)], [a, b]);
    }
});

test("products over a symbolic extent agree", async () => {
  for (const N of [1, 5, 70]) {
    const { a, b, y } = product("N", 12, 33, false, false);
    const w = input("w", "f32", [12]);
    await agrees([y.add(w)], [a, b, w], { N });
    const over = dotGeneral(a, y, { lhsContract: [0], rhsContract: [0] });
    await agrees([over], [a, b], { N });
  }
});

test("products over a symbolic extent agree whose least count of rows suits any tile", async () => {
  for (const each of [5, 6, 7, 9, 10, 25])
    for (const [n, k] of [
      [8, 1],
      [40, 60],
      [17, 600],
    ] as const) {
      const x = input("x", "f32", ["N", each, k]);
      const [w, s] = [input("w", "f32", [k, n]), input("s", "f32", ["N", each, n])];
      const y = dotGeneral(x, w, { lhsContract: [2], rhsContract: [0] });
      for (const N of [1, 2, Math.ceil(65 / each), Math.ceil(257 / each)])
        await agrees([y.mul(s)], [x, w, s], { N });
    }
});

test("products without elements or terms agree", async () => {
  for (const [m, n, k] of [
    [0, 5, 3],
    [5, 0, 3],
    [5, 3, 0],
  ] as const) {
    const { a, b, y } = product(m, n, k, false, false);
    await agrees([y.add(1)], [a, b]);
  }
});

test("prologues and epilogues with several results agree", async () => {
  for (const [m, n, k] of [
    [33, 9, 31],
    [64, 64, 64],
    [7, 130, 3],
  ] as const) {
    const [a, b] = [input("a", "f32", [m, k]), input("b", "f32", [k, n])];
    const bias = input("bias", "f32", [n]);
    const [row, other] = [input("row", "f32", [m, 1]), input("other", "f32", [m, n])];
    const y = dotGeneral(a.mul(2).relu(), b.add(1), { lhsContract: [1], rhsContract: [0] }).add(
      bias,
    );
    await agrees([y.relu(), y.mul(other), y.sub(row)], [a, b, bias, row, other]);
  }
});

test("integers agree", async () => {
  for (const [m, n, k] of [
    [33, 9, 31],
    [4, 8, 300],
  ] as const) {
    const [a, b] = [input("a", "i32", [m, k]), input("b", "i32", [k, n])];
    await agrees([dotGeneral(a, b, { lhsContract: [1], rhsContract: [0] })], [a, b]);
  }
});

test("doubles agree", async () => {
  const [a, b] = [input("a", "f64", [9, 31]), input("b", "f64", [31, 33])];
  await agrees([dotGeneral(a, b, { lhsContract: [1], rhsContract: [0] })], [a, b]);
});

test("a layer, its gradients and the sums for its bias agree", async () => {
  for (const [batch, inside, out] of [
    [33, 9, 31],
    [8, 64, 16],
    [1, 5, 4],
    [300, 7, 130],
    [300, 5, 267],
  ] as const) {
    const [x, w] = [input("x", "f32", [batch, inside]), input("w", "f32", [inside, out])];
    const [bias, g] = [input("bias", "f32", [out]), input("g", "f32", [batch, out])];
    const y = dotGeneral(x, w, { lhsContract: [1], rhsContract: [0] }).add(bias);
    const loss = y.mul(g).sum();
    await agrees([y, ...grad(loss, [x, w, bias])], [x, w, bias, g]);
  }
});

interface Case {
  readonly x: readonly number[];
  readonly w: readonly number[];
  readonly options?: Parameters<typeof convolution>[2];
}

const convolutions: readonly Case[] = [
  { x: [2, 3, 8, 8], w: [5, 3, 3, 3], options: { padding: 1 } },
  { x: [2, 3, 7, 9], w: [4, 3, 3, 3] },
  { x: [1, 16, 14, 14], w: [9, 16, 3, 3], options: { padding: 1 } },
  { x: [2, 4, 9, 9], w: [8, 4, 3, 3], options: { padding: 1, stride: 2 } },
  { x: [2, 4, 12, 12], w: [3, 4, 3, 3], options: { padding: 2, dilation: 2 } },
  { x: [2, 8, 6, 6], w: [8, 8, 1, 1] },
  { x: [2, 8, 7, 7], w: [8, 1, 3, 3], options: { padding: 1, groups: 8 } },
  { x: [1, 3, 18, 21], w: [3, 1, 3, 5], options: { padding: [1, 2], groups: 3, stride: 2 } },
  { x: [2, 2, 20], w: [4, 1, 7], options: { groups: 2, dilation: 2 } },
  { x: [1, 6, 8, 20], w: [4, 3, 5, 5], options: { padding: 2, groups: 2, stride: 2 } },
  { x: [3, 2, 5, 5], w: [2, 2, 5, 5] },
  { x: [2, 3, 40], w: [4, 3, 5], options: { padding: 2 } },
  { x: [1, 2, 4, 5, 6], w: [3, 2, 2, 3, 2], options: { padding: 1 } },
];

for (const { x: xs, w: ws, options } of convolutions)
  test(`a convolution of [${xs}] by [${ws}] and its gradients agree, ${JSON.stringify(options ?? {})}`, async () => {
    const [x, w] = [input("x", "f32", xs), input("w", "f32", ws)];
    const y = convolution(x.relu(), w, options);
    const g = input("g", "f32", y.shape);
    const bias = input("bias", "f32", [ws[0]!, ...xs.slice(2).map(() => 1)]);
    const out = y.add(bias);
    await agrees([out.relu(), ...grad(out.mul(g).sum(), [x, w, bias])], [x, w, bias, g]);
  });

test("convolutions over a symbolic batch agree", async () => {
  for (const N of [1, 3]) {
    const [x, w] = [input("x", "f32", ["N", 3, 8, 8]), input("w", "f32", [4, 3, 3, 3])];
    const y = convolution(x, w, { padding: 1 });
    await agrees([y, ...grad(y.mul(y).sum(), [w])], [x, w], { N });
  }
});

const fractions = (t: Tensor): Value => {
  const value = feed(t, {});
  return { ...value, data: value.data.map(() => Math.fround(next() / 32768 - 0.5)) };
};

const results = async (outputs: readonly Tensor[], feeds: Map<Tensor, Value>, on = device) => {
  const program: Program = {
    inputs: [...feeds.keys()],
    outputs: outputs.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
  return (await runProgram(program, feeds, {}, on, { target: "wasm" })).values;
};

test("long sums lose no more than a few dozen roundings", async () => {
  const k = 20000;
  for (const [m, n] of [
    [1, 8],
    [5, 9],
  ] as const) {
    const { a, b, y } = product(m, n, k, false, false);
    const feeds = new Map([a, b].map((t) => [t, fractions(t)]));
    const [got] = await results([y], feeds);
    const [x, w] = [feeds.get(a)!.data, feeds.get(b)!.data];
    for (let i = 0; i < m * n; i++) {
      let [sum, size] = [0, 0];
      for (let j = 0; j < k; j++) {
        const term = x[Math.floor(i / n) * k + j]! * w[j * n + (i % n)]!;
        sum += term;
        size += Math.abs(term);
      }
      assert.ok(Math.abs(got!.data[i]! - sum) <= 64 * 2 ** -24 * size, `${got!.data[i]}, ${sum}`);
    }
  }
});

test("results are the same bits on one thread and on three", async () => {
  const [x, w] = [input("x", "f32", [5, 3, 18, 18]), input("w", "f32", [9, 3, 3, 3])];
  const y = convolution(x, w, { padding: 1 }).tanh();
  const outputs = [y, ...grad(y.mul(y).sum(), [x, w])];
  const feeds = new Map([x, w].map((t) => [t, fractions(t)]));
  const values = await Promise.all(
    [1, 3].map(async (threads) => {
      const on = guardedWasmDevice({ threads, relaxed: false });
      const found = await results(outputs, feeds, on);
      on.destroy();
      return found;
    }),
  );
  values[0]!.forEach((v, i) => {
    assert.ok(sameValue(v, values[1]![i]!), `result ${i}`);
  });
});

test("the device is closed", () => device.destroy());

test.run();
