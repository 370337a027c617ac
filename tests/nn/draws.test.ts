/**
 * Layers that draw in training, by what must hold of any draw; and bags of words by offsets, against loops in double precision.
 */
import { evaluate, initialValueOf, type Tensor, tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

const valuesOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data].map(Number);
const ones = (...shape: number[]): Tensor =>
  tensor(new Float32Array(shape.reduce((a, b) => a * b)).fill(1), { shape });
const drawn = (layer: nn.Layer, x: Tensor): number[] =>
  valuesOf(trace(() => layer.forward(x)).value);

test("spatial dropout keeps or drops whole channels", () => {
  for (const [layer, x] of [
    [new nn.Dropout1d(0.5, { seed: 1 }), ones(8, 8, 4)],
    [new nn.Dropout2d(0.5, { seed: 1 }), ones(8, 8, 2, 2)],
    [new nn.Dropout3d(0.5, { seed: 1 }), ones(8, 8, 2, 2, 1)],
  ] as const) {
    const y = drawn(layer, x);
    const channels = Array.from({ length: 64 }, (_, i) => y.slice(4 * i, 4 * i + 4));
    for (const c of channels) assert.ok(c.every((v) => v === c[0] && (v === 0 || v === 2)));
    const kept = channels.filter((c) => c[0] === 2).length;
    assert.ok(kept > 16 && kept < 48, `${kept} of 64`);
  }
});

test("alpha dropout keeps mean and variance", () => {
  const x = tensor(Float32Array.from({ length: 20000 }, (_, i) => (i % 2 ? 1 : -1)));
  const y = drawn(new nn.AlphaDropout(0.3, { seed: 2 }), x);
  const mean = y.reduce((a, b) => a + b) / y.length;
  const variance = y.reduce((a, b) => a + (b - mean) ** 2, 0) / y.length;
  assert.ok(Math.abs(mean) < 0.03, `mean ${mean}`);
  assert.ok(Math.abs(variance - 1) < 0.05, `variance ${variance}`);
});

test("drawn slopes and noise have their range and deviation", () => {
  const slopes = drawn(new nn.RReLU(0.1, 0.3, { seed: 3 }), ones(2000).neg()).map((v) => -v);
  assert.ok(slopes.every((s) => s >= 0.1 && s <= 0.3));
  assert.ok(Math.abs(slopes.reduce((a, b) => a + b) / 2000 - 0.2) < 0.01);
  const noise = drawn(new nn.GaussianNoise(0.5, { seed: 4 }), ones(4000)).map((v) => v - 1);
  const std = Math.sqrt(noise.reduce((a, b) => a + b * b, 0) / 4000);
  assert.ok(Math.abs(std - 0.5) < 0.03, `deviation ${std}`);
});

test("a bag by offsets is the mean, sum or maximum of its rows, 0 if it is empty", () => {
  const indices = [3, 1, 1, 0, 4, 2];
  const offsets = [0, 2, 2, 5];
  for (const mode of ["mean", "sum", "max"] as const)
    for (const paddingIdx of [undefined, 1]) {
      const bag = new nn.EmbeddingBag(5, 2, {
        mode,
        ...(paddingIdx === undefined ? {} : { paddingIdx }),
      });
      const table = valuesOf(initialValueOf(bag.weight));
      const given = { offsets: tensor(offsets, { dtype: "i32" }) };
      const y = bag.forward(tensor(indices, { dtype: "i32" }), given);
      const feeds = new Map([[bag.weight, evaluate([initialValueOf(bag.weight)])[0]!]]);
      const got = [...evaluate([y], { inputs: feeds })[0]!.data].map(Number);
      const want = offsets.flatMap((from, b) => {
        const rows = indices.slice(from, offsets[b + 1]).filter((i) => i !== paddingIdx);
        return [0, 1].map((j) => {
          const column = rows.map((i) => table[2 * i + j]!);
          if (!column.length) return 0;
          if (mode === "max") return Math.max(...column);
          return column.reduce((a, v) => a + v, 0) / (mode === "mean" ? column.length : 1);
        });
      });
      got.forEach((v, i) => {
        assert.ok(Math.abs(v - want[i]!) < 1e-6, `${mode} ${paddingIdx}: ${got}, want ${want}`);
      });
    }
});

test.run();
