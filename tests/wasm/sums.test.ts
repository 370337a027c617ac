/**
 * Long sums in f32 on wasm: the error is that of a block of terms, however many blocks there are, along every axis and in every op
 * that adds up. The law: |sum − exact| ≤ 80·2⁻²⁴·Σ|terms| for 10⁴ terms as for 10⁵; added up one after the other, 10⁶ times 0.1 is off
 * by 160,000·2⁻²⁴.
 */
import {
  convolution,
  dotGeneral,
  gather,
  ones,
  scatter,
  type Tensor,
  tensor,
  windows,
  zeros,
} from "@kiln-ml/ir";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Values = (i: number) => number;

interface Form {
  readonly name: string;
  /** Shapes of the operands for n terms. */
  readonly shapes: (n: number) => readonly (readonly number[])[];
  /** With `rows`, the places at which rows are gathered or to which they are added. */
  readonly run: (x: readonly Tensor[], rows: Tensor, n: number) => Tensor;
  /** The terms of result `i` as pairs of factors: places in the operands. */
  readonly terms: (i: number, n: number) => Iterable<readonly number[]>;
  /** Results that are looked at, for running sums. */
  readonly results?: (n: number) => readonly number[];
  /** Compiled with a symbol for n too. */
  readonly symbolic?: readonly (readonly (number | string)[])[];
}

function* strided(count: number, start: number, step: number): Generator<readonly number[]> {
  for (let k = 0; k < count; k++) yield [start + k * step];
}
function* pairs(
  count: number,
  a: number,
  aStep: number,
  b: number,
  bStep: number,
): Generator<readonly number[]> {
  for (let k = 0; k < count; k++) yield [a + k * aStep, b + k * bStep];
}
const column = (width: number) => (i: number, n: number) => strided(n, i, width);
const scanned = (n: number, width: number): number[] =>
  [0, 1, 63, 64, 65, 4096, n >> 1, n - 1].map((row) => row * width);

// biome-ignore format: one form a paragraph
const forms: readonly Form[] = [
  { name: "all elements", shapes: (n) => [[n]], run: ([x]) => x!.sum(), terms: column(1), symbolic: [["N"]] },
  { name: "rows", shapes: (n) => [[4, n]], run: ([x]) => x!.sum([1]), terms: (i, n) => strided(n, i * n, 1), symbolic: [[4, "N"]] },
  ...[1, 3, 4, 40].map((width): Form => ({
    name: `axis 0 of [n,${width}]`, shapes: (n) => [[n, width]], run: ([x]) => x!.sum([0]), terms: column(width), symbolic: [["N", width]],
  })),
  { name: "axis 0, what is summed fused", shapes: (n) => [[n, 4]], run: ([x]) => x!.mul(2).exp().log().mul(0.5).sum([0]), terms: column(4) },
  { name: "the middle axis", shapes: (n) => [[2, n, 3]], run: ([x]) => x!.sum([1]), terms: (i, n) => strided(n, Math.floor(i / 3) * n * 3 + (i % 3), 3) },
  { name: "two axes around one", shapes: (n) => [[n / 100, 10, 10]], run: ([x]) => x!.sum([0, 2]),
    terms: function* (i, n) { for (let a = 0; a < n / 100; a++) yield* strided(10, a * 100 + i * 10, 1); } },
  { name: "a transposed matrix", shapes: (n) => [[n / 50, 50]], run: ([x]) => x!.transpose().sum(), terms: (_, n) => strided(n, 0, 1) },
  { name: "a reversed matrix", shapes: (n) => [[n, 4]], run: ([x]) => x!.reverse([0]).sum([0]), terms: column(4) },
  { name: "every other row", shapes: (n) => [[n, 4]], run: ([x], _r, n) => x!.slice([0, 0], [n, 4], [2, 1]).sum([0]), terms: (i, n) => strided(n / 2, i, 8) },
  { name: "gathered rows", shapes: (n) => [[n, 4]], run: ([x], rows) => gather(x!, [rows], [0]).sum([0]), terms: column(4) },
  { name: "gathered elements", shapes: (n) => [[n]], run: ([x], rows) => gather(x!, [rows], [0]).sum(), terms: column(1) },
  { name: "windows", shapes: (n) => [[n]], run: ([x], _r, n) => windows(x!, { size: [n / 2], stride: [n / 4] }).sum([1]), terms: (i, n) => strided(n / 2, (i * n) / 4, 1) },
  { name: "cumsum down columns", shapes: (n) => [[n, 4]], run: ([x]) => x!.cumsum(0), terms: (i) => strided(Math.floor(i / 4) + 1, i % 4, 4), results: (n) => scanned(n, 4), symbolic: [["N", 4]] },
  { name: "cumsum up columns", shapes: (n) => [[n, 4]], run: ([x]) => x!.cumsum(0, { reverse: true }), terms: (i, n) => strided(n - Math.floor(i / 4), i, 4), results: (n) => scanned(n, 4) },
  { name: "cumsum along rows", shapes: (n) => [[2, n]], run: ([x]) => x!.cumsum(1), terms: (i, n) => strided((i % n) + 1, i - (i % n), 1), results: (n) => [...scanned(n, 1), 2 * n - 1], symbolic: [[2, "N"]] },
  { name: "a long vector by itself", shapes: (n) => [[n], [n]], run: ([x, y]) => x!.matmul(y!), terms: (_, n) => pairs(n, 0, 1, 0, 1), symbolic: [["N"], ["N"]] },
  { name: "rows by a vector", shapes: (n) => [[4, n], [n]], run: ([x, y]) => x!.matmul(y!), terms: (i, n) => pairs(n, i * n, 1, 0, 1) },
  { name: "a vector by columns", shapes: (n) => [[n], [n, 4]], run: ([x, y]) => x!.matmul(y!), terms: (i, n) => pairs(n, 0, 1, i, 4) },
  { name: "columns by columns", shapes: (n) => [[n, 3], [n, 5]], run: ([x, y]) => x!.transpose().matmul(y!), terms: (i, n) => pairs(n, Math.floor(i / 5), 3, i % 5, 5), symbolic: [["N", 3], ["N", 5]] },
  { name: "a batch of products", shapes: (n) => [[2, 2, n], [2, n, 3]], run: ([x, y]) => x!.matmul(y!), terms: (i, n) => pairs(n, Math.floor(i / 3) * n, 1, Math.floor(i / 6) * n * 3 + (i % 3), 3) },
  { name: "a batch in the last axis", shapes: (n) => [[n, 4], [n, 4]], run: ([x, y]) => dotGeneral(x!, y!, { lhsBatch: [1], rhsBatch: [1], lhsContract: [0], rhsContract: [0] }), terms: (i, n) => pairs(n, i, 4, i, 4) },
  { name: "a long convolution", shapes: (n) => [[1, 1, n], [1, 1, n - 2]], run: ([x, y]) => convolution(x!, y!), terms: (i, n) => pairs(n - 2, i, 1, 0, 1) },
  { name: "scatter to one row", shapes: (n) => [[n, 2]], run: ([x], _r, n) => scatter(zeros([3, 2]), x!, [zeros([n], "i32")], [0], "add").slice([0, 0], [1, 2]), terms: column(2) },
];

const constant: Values = () => Math.fround(0.1);
const mixed: Values = (i) => Math.fround(Math.sin(i * 12.9898) * 0.5 + 0.25);

/** A permutation of the rows: 7919 is prime and divides no size here. */
const permuted = (n: number): Tensor =>
  tensor(Int32Array.from({ length: n }, (_, i) => (i * 7919) % n));

async function worstOf(form: Form, n: number, values: Values, inputs?: Form["symbolic"]) {
  const shapes = form.shapes(n);
  const data = shapes.map((s) =>
    Float32Array.from({ length: s.reduce((a, b) => a * b, 1) }, (_, i) => values(i)),
  );
  const rows = permuted(n);
  const f = compile((...x: Tensor[]) => form.run(x, rows, n), {
    target: "wasm",
    ...(inputs ? { inputs } : {}),
  } as never) as unknown as (...x: Tensor[]) => Promise<Tensor>;
  const y = await f(...shapes.map((shape, i) => tensor(data[i]!, { shape } as never)));
  const got = (await y.data()) as Float32Array;
  let worst = 0;
  for (const i of form.results?.(n) ?? got.keys()) {
    let [sum, size] = [0, 0];
    for (const places of form.terms(i, n)) {
      const term = places.reduce((p, at, k) => p * data[k]![at]!, 1);
      sum += term;
      size += Math.abs(term);
    }
    worst = Math.max(worst, (Math.abs(got[i]! - sum) / size) * 2 ** 24);
  }
  return worst;
}

for (const form of forms)
  for (const [kind, values] of Object.entries({ constant, mixed }))
    test(`${form.name}: the error of a ${kind} sum does not grow with its length`, async () => {
      for (const n of kind === "constant" ? [10000, 100000] : [100000]) {
        assert.ok((await worstOf(form, n, values)) <= 80, `n = ${n}`);
        if (form.symbolic)
          assert.ok((await worstOf(form, n, values, form.symbolic)) <= 80, `n = ${n}, a symbol`);
      }
    });

test("infinite and undefined terms make infinite and undefined sums", async () => {
  for (const [bad, wanted] of [
    [[Infinity], Infinity],
    [[-Infinity], -Infinity],
    [[Infinity, -Infinity], Number.NaN],
    [[Number.NaN], Number.NaN],
    [[3e38, 3e38], Infinity],
  ] as const)
    for (const run of [
      (x: Tensor) => x.sum([0]),
      (x: Tensor) => x.cumsum(0).slice([4999, 0], [5000, 4]),
      (x: Tensor) => x.transpose().matmul(ones([5000])),
    ]) {
      const data = new Float32Array(20000);
      for (const [k, v] of bad.entries()) data[4 * (100 + 1000 * k)] = v;
      const f = compile(run, { target: "wasm" });
      const y = (await (
        await f(tensor(data, { shape: [5000, 4] } as never))
      ).data()) as Float32Array;
      assert.equal([...y], [wanted, 0, 0, 0]);
    }
});

test.run();
