/**
 * Random numbers: the cipher against published vectors, the distributions by moments, the keys by their
 * independence.
 */
import { evaluate, random, randomBits, type Tensor, threefry2x32 } from "@kiln-ml/ir";
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

test("integers and coins have their odds", () => {
  const dice = numbersOf(random.randint(random.key(9), [n], 1, 7));
  for (let face = 1; face <= 6; face++)
    assert.ok(Math.abs(dice.filter((x) => x === face).length / n - 1 / 6) < 0.03);
  const coins = numbersOf(random.bernoulli(random.key(9), 0.3, [n]));
  assert.ok(Math.abs(mean(coins) - 0.3) < 0.03);
});

test.run();
