/**
 * Initialisers: determinism, bounds and moments. The moments are of fixed seeds, so nothing here flickers.
 */
import { evaluate, initialValueOf } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

const { init } = nn;
const mean = (x: ArrayLike<number>): number => Array.from(x).reduce((a, b) => a + b, 0) / x.length;
const deviation = (x: ArrayLike<number>): number => {
  const m = mean(x);
  return Math.sqrt(mean(Array.from(x, (v) => (v - m) ** 2)));
};
const largest = (x: ArrayLike<number>): number => Math.max(...Array.from(x, Math.abs));
const near = (x: number, expected: number, share = 0.05): void =>
  assert.ok(Math.abs(x - expected) <= share * expected, `${x} is not near ${expected}`);

test("one seed gives one sequence, another gives another", () => {
  const draw = (n: number): number[] => {
    nn.seed(n);
    const layer = new nn.Linear(3, 2);
    return [...evaluate([initialValueOf(layer.weight)])[0]!.data];
  };
  assert.equal(draw(1), draw(1));
  assert.not.equal(draw(1), draw(2));
  assert.not.equal(draw(2 ** 40), draw(0));
});

test("two layers of one seed differ", () => {
  nn.seed(3);
  const [a, b] = [new nn.Linear(3, 2), new nn.Linear(3, 2)];
  const [x, y] = evaluate([initialValueOf(a.weight), initialValueOf(b.weight)]);
  assert.not.equal([...x!.data], [...y!.data]);
});

const shape = [40, 10, 5];
// Fan in 50, fan out 200. Bounds and deviations as the papers have them.
const uniforms: [string, nn.Initializer, number][] = [
  ["defaultWeight", init.defaultWeight, 1 / Math.sqrt(50)],
  ["defaultBias", init.defaultBias(shape), 1 / Math.sqrt(50)],
  ["kaimingUniform", init.kaimingUniform(), Math.sqrt(6 / 50)],
  ["xavierUniform", init.xavierUniform(), Math.sqrt(6 / 250)],
  ["uniform", init.uniform(-0.5, 0.5), 0.5],
];
const normals: [string, nn.Initializer, number][] = [
  ["kaimingNormal", init.kaimingNormal(), Math.sqrt(2 / 50)],
  ["xavierNormal", init.xavierNormal(), Math.sqrt(2 / 250)],
  ["normal", init.normal(0, 3), 3],
];

for (const [name, draw, bound] of uniforms)
  test(`${name} is even within its bound`, () => {
    nn.seed(7);
    const x = draw(shape);
    assert.ok(largest(x) <= bound);
    near(largest(x), bound);
    near(deviation(x), bound / Math.sqrt(3));
  });

for (const [name, draw, std] of normals)
  test(`${name} has its deviation and a mean of 0`, () => {
    nn.seed(8);
    const x = draw(shape);
    near(deviation(x), std);
    assert.ok(Math.abs(mean(x)) < 0.1 * std);
    assert.ok(largest(x) > 2.5 * std);
  });

test("truncatedNormal stays within two deviations", () => {
  nn.seed(9);
  const x = init.truncatedNormal(0, 2)(shape);
  assert.ok(largest(x) <= 4);
  assert.ok(largest(x) > 3.8);
});

for (const [rows, columns] of [
  [3, 5],
  [5, 3],
] as const)
  test(`orthogonal [${rows},${columns}] has an orthonormal short side`, () => {
    const x = init.orthogonal()([rows, columns]);
    const at = (i: number, k: number): number =>
      rows <= columns ? x[i * columns + k]! : x[k * columns + i]!;
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 3; j++) {
        const dot = [0, 1, 2, 3, 4].reduce((sum, k) => sum + at(i, k) * at(j, k), 0);
        assert.ok(Math.abs(dot - (i === j ? 1 : 0)) < 1e-6);
      }
  });

test("a fan of a vector is refused", () => {
  assert.throws(() => init.xavierNormal()([3]), /init: a fan needs rank 2 or more, shape is \[3\]/);
});

test.run();
