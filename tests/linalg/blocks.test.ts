/**
 * Factorisations in panels: of as many as there may be, of extents that they do not divide, they
 * are those of one panel; a large matrix, which is taken in panels, is put together again on wasm;
 * and a matrix that fails in a later panel fails as it does in one.
 */
import { evaluate, input, iota, linalg, makeValue, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  choleskyFactor,
  eliminated,
  panelsOf,
  substituted,
} from "../../packages/ir/src/linalg/blocks.ts";
import { runProgram } from "../support/run.ts";
import { variants, wasmDevice } from "../support/wasm.ts";
import { type Nd, sample } from "../tensor/check.ts";
import { positive, sturdy } from "./oracle.ts";

const leaf = (x: Nd): Tensor => {
  const { data } = makeValue("f64", x.shape, [...x.data]);
  return tensor([...data], { dtype: "f64" }).reshape([...x.shape]);
};

function same(what: string, got: readonly Tensor[], want: readonly Tensor[]): void {
  const values = evaluate([...got, ...want]);
  for (const [i, t] of got.entries()) {
    const [a, b] = [values[i]!, values[got.length + i]!];
    assert.equal([...a.shape], [...b.shape], `${what}, result ${i}`);
    for (const [k, w] of b.data.entries()) {
      const g = a.data[k]!;
      const near = Object.is(g, w) || Math.abs(g - w) <= 1e-10 * Math.max(1, Math.abs(w));
      assert.ok(near || (Number.isNaN(g) && Number.isNaN(w)), `${what}, ${t.dtype} ${i}: element ${k} is ${g}, want ${w}`); // biome-ignore format: one line
    }
  }
}

for (const n of [1, 4, 7])
  for (const panels of [2, 3, 7])
    test(`${n} rows in ${panels} panels have the factors of one`, () => {
      const [x, p, b] = [leaf(sturdy(2, n)), leaf(positive(2, n)), leaf(sample([2, n, 3], 3))];
      const one = eliminated(x, 1);
      const many = eliminated(x, panels);
      same("lu", [many.order, many.lower, many.upper], [one.order, one.lower, one.upper]);
      same("cholesky", [choleskyFactor(p, panels)], [choleskyFactor(p, 1)]);
      for (const upper of [false, true])
        for (const unit of [false, true])
          same(
            `substitution ${upper} ${unit}`,
            [substituted(x, b, { upper, unit }, panels)],
            [substituted(x, b, { upper, unit }, 1)],
          );
    });

test("a zero pivot, a NaN and a matrix that is not positive in a later panel come to the same", () => {
  const flat = tensor([[1, 2, 3, 4], [2, 4, 6, 8], [0, 0, 1, 1], [0, 0, 2, 2]], { dtype: "f64" }); // biome-ignore format: a matrix
  const bad = tensor([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1]], { dtype: "f64" }); // biome-ignore format: a matrix
  const [one, two] = [eliminated(flat, 1), eliminated(flat, 2)];
  same("lu", [two.lower.matmul(two.upper)], [one.lower.matmul(one.upper)]);
  same("cholesky", [choleskyFactor(bad, 2)], [choleskyFactor(bad, 1)]);
});

test("an extent that is small or a symbol is one panel", () => {
  assert.equal(
    [4, 255, 256, 1024, input("x", "f32", ["N", "N"]).shape[0]!].map(panelsOf),
    [1, 1, 2, 4, 1],
  );
});

test("256 rows in panels on wasm: the factors give the matrix, the inverse the identity", async () => {
  const n = 256;
  const values = Float32Array.from({ length: n * n }, (_, k) => {
    const [i, j] = [Math.floor(k / n), k % n];
    return Math.sin(1.7 * k) + ((i + 3) % n === j ? 8 : 0);
  });
  const x = input("x", "f32", [n, n]);
  const { p, l, u } = linalg.lu(x);
  const gram = x.matmul(x.swapAxes(-1, -2));
  const c = linalg.cholesky(gram);
  const apart = (a: Tensor, b: Tensor) => a.sub(b).abs().max();
  const inverse = linalg.inv(x).matmul(x);
  const one = iota([n, 1], 0)
    .equal(iota([1, n], 1))
    .convert("f32");
  const outputs = [
    apart(p.matmul(l.matmul(u)), x),
    apart(c.matmul(c.swapAxes(-1, -2)), gram).div(gram.max()),
    apart(inverse, one),
  ].map((value, i) => ({ name: `y${i}`, value }));
  const feeds = new Map([[x, makeValue("f32", [n, n], [...values])]]);
  const program = { inputs: [x], outputs, updates: [] };
  const device = wasmDevice(variants[0]!);
  const { values: got } = await runProgram(program, feeds, {}, device, { target: "wasm" });
  for (const v of got) assert.ok(v.data[0]! < 2e-4, String(got.map((t) => t.data[0])));
});

test.run();
