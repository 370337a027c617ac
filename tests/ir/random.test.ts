/**
 * Random numbers: the cipher against published vectors, the distributions by moments, the keys by their
 * independence.
 */
import { evaluate, random, randomBits, type Tensor, tensor, threefry2x32 } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import "../support/setup.ts";

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data];
const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
const n = 4000;

test("threefry2x32 gives the known answers of the Random123 distribution", () => {
  const ones = 0xffffffff;
  assert.equal(threefry2x32(0, 0, 0, 0), [0x6b200159, 0x99ba4efe]);
  assert.equal(threefry2x32(ones, ones, ones, ones), [0x1cb996fc, 0xbb002be7]);
  assert.equal(
    threefry2x32(0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3),
    [0xc4923a9c, 0x483df7a0],
  );
});

test("element i is the first word of the cipher at counter i", () => {
  const key = random.key(2 ** 40 + 7);
  assert.equal(numbersOf(key), [256, 7]);
  const bits = numbersOf(randomBits(key, [2, 2]));
  assert.equal(
    bits,
    [0, 1, 2, 3].map((i) => threefry2x32(256, 7, i, 0)[0]),
  );
});

test("keys that were split or folded differ from each other and from their parent", () => {
  const key = random.key(0);
  const keys = [key, ...random.split(key, 3), random.fold(key, 0), random.fold(key, 1)];
  assert.is(new Set(keys.map((k) => String(numbersOf(k)))).size, keys.length);
});

test("a fold by a number is the fold by a tensor of it", () => {
  const key = random.key(3);
  const seven = random.fold(key, random.key(7).slice([1], [2]).reshape([]));
  assert.equal(numbersOf(seven), numbersOf(random.fold(key, 7)));
});

test("uniform numbers fill their interval evenly in every float dtype", () => {
  for (const dtype of ["f64", "f32", "f16", "bf16"] as const) {
    const xs = numbersOf(random.uniform(random.key(1), [n], { dtype }));
    assert.ok(xs.every((x) => x >= 0 && x < 1));
    assert.ok(Math.abs(mean(xs) - 0.5) < 0.02, `${dtype} ${mean(xs)}`);
    assert.ok(Math.abs(mean(xs.map((x) => x * x)) - 1 / 3) < 0.02, dtype);
  }
  const wide = numbersOf(random.uniform(random.key(1), [n], { low: -3, high: 5 }));
  assert.ok(wide.every((x) => x >= -3 && x <= 5));
  assert.ok(Math.abs(mean(wide) - 1) < 0.15);
});

test("normal numbers have the moments of a normal distribution", () => {
  const xs = numbersOf(random.normal(random.key(5), [n], { mean: 2, std: 3 })).map(
    (x) => (x - 2) / 3,
  );
  assert.ok(xs.every(Number.isFinite));
  assert.ok(Math.abs(mean(xs)) < 0.06);
  assert.ok(Math.abs(mean(xs.map((x) => x ** 2)) - 1) < 0.1);
  assert.ok(Math.abs(mean(xs.map((x) => x ** 3))) < 0.25);
  assert.ok(Math.abs(mean(xs.map((x) => x ** 4)) - 3) < 0.5);
});

test("categories are drawn with the odds of a softmax, along any axis", () => {
  const logits = tensor([Math.log(0.1), -Infinity, Math.log(0.6), Math.log(0.3)]);
  const odds = (drawn: number[]) =>
    [0, 1, 2, 3].map((c) => drawn.filter((x) => x === c).length / n);
  for (const shift of [0, 50]) {
    const rows = logits.add(shift).broadcastTo([n, 4]);
    const last = numbersOf(random.categorical(random.key(3), rows));
    const first = numbersOf(random.categorical(random.key(4), rows.transpose([1, 0]), 0));
    for (const drawn of [last, first]) {
      assert.is(drawn.length, n);
      for (const [c, p] of [0.1, 0, 0.6, 0.3].entries())
        assert.ok(Math.abs(odds(drawn)[c]! - p) < 0.03, `${c}: ${odds(drawn)}`);
      assert.is(odds(drawn)[1], 0);
    }
  }
});

test("what cannot be drawn is refused", () => {
  const key = random.key(0);
  const refused = (run: () => unknown, message: string) =>
    assert.throws(run, (e: Error) => e.message === message);
  refused(() => random.randint(key, [2], 3, 3), "randint: no integers are in [3, 3)");
  refused(() => random.randint(key, [2], 0, 2.5), "randint: no integers are in [0, 2.5)");
  refused(
    () => random.categorical(key, tensor([1, 2]), 1),
    "categorical: axis 1 is outside a tensor of rank 1\n  axes count from 0, or from the end: -1 is the last",
  );
  refused(
    () => random.categorical(key, tensor([1, 2], { dtype: "i32" })),
    "categorical: logits must be floats, got i32",
  );
});

test("integers and coins have their odds", () => {
  const dice = numbersOf(random.randint(random.key(9), [n], 1, 7));
  for (let face = 1; face <= 6; face++)
    assert.ok(Math.abs(dice.filter((x) => x === face).length / n - 1 / 6) < 0.03);
  const coins = numbersOf(random.bernoulli(random.key(9), 0.3, [n]));
  assert.ok(Math.abs(mean(coins) - 0.3) < 0.03);
});

test.run();
