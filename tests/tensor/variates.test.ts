/** Draws of other distributions: their moments and frequencies, the same numbers on js and wasm, and what is no draw. */
import { compile, DtypeError, GraphError, grad, random, type Tensor, tensor, zeros } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const n = 6000;

const drawn = async (of: (key: Tensor) => Tensor, seed = 3, target: "js" | "wasm" = "wasm") => {
  const f = compile(() => of(random.key(seed)), { target });
  return Array.from(await (await f()).data(), Number);
};

/** Mean and variance within five deviations of their own. */
function moments(what: string, x: readonly number[], mean: number, variance: number): void {
  const m = x.reduce((a, b) => a + b, 0) / x.length;
  const v = x.reduce((a, b) => a + (b - m) ** 2, 0) / x.length;
  assert.ok(
    Math.abs(m - mean) <= 5 * Math.sqrt(variance / x.length),
    `${what}: mean ${m}, want ${mean}`,
  );
  assert.ok(
    Math.abs(v - variance) <= 0.15 * variance + 1e-9,
    `${what}: variance ${v}, want ${variance}`,
  );
}

const euler = 0.5772156649;

const distributions: Record<
  string,
  readonly [of: (k: Tensor) => Tensor, mean: number, variance: number]
> = {
  exponential: [(k) => random.exponential(k, [n], 2), 0.5, 0.25],
  gumbel: [(k) => random.gumbel(k, [n]), euler, Math.PI ** 2 / 6],
  "gamma of 0.5": [(k) => random.gamma(k, [n], 0.5), 0.5, 0.5],
  "gamma of 1": [(k) => random.gamma(k, [n], 1), 1, 1],
  "gamma of 7": [(k) => random.gamma(k, [n], 7), 7, 7],
  beta: [(k) => random.beta(k, [n], 2, 3), 0.4, 0.04],
  "poisson of 0": [(k) => random.poisson(k, [n], 0), 0, 0],
  "poisson of 3.5": [(k) => random.poisson(k, [n], 3.5), 3.5, 3.5],
  "poisson of 9.9": [(k) => random.poisson(k, [n], 9.9), 9.9, 9.9],
  "poisson of 10": [(k) => random.poisson(k, [n], 10), 10, 10],
  "poisson of 250": [(k) => random.poisson(k, [n], 250), 250, 250],
};

for (const [name, [of, mean, variance]] of Object.entries(distributions))
  test(`${name}: mean and variance, and a third moment of one side`, async () => {
    const x = await drawn(of);
    assert.ok(x.every(Number.isFinite));
    moments(name, x, mean, variance);
  });

test("frequencies of poisson are its probabilities on both sides of 10", async () => {
  for (const rate of [2, 12]) {
    const x = await drawn((k) => random.poisson(k, [n], rate), 9);
    let p = Math.exp(-rate);
    for (let k = 0; k < 25; k++) {
      const seen = x.filter((v) => v === k).length / n;
      assert.ok(
        Math.abs(seen - p) <= 5 * Math.sqrt((p + 1e-4) / n),
        `${rate}: ${k} is ${seen}, want ${p}`,
      );
      p *= rate / (k + 1);
    }
  }
});

test("shapes of a distribution stretch to that of the result", async () => {
  const x = await drawn((k) => random.gamma(k, [n, 2], tensor([1, 9])));
  moments(
    "first",
    x.filter((_, i) => i % 2 === 0),
    1,
    1,
  );
  moments(
    "second",
    x.filter((_, i) => i % 2 === 1),
    9,
    9,
  );
});

test("js and wasm draw alike", async () => {
  for (const of of [
    (k: Tensor) => random.gamma(k, [50], 2),
    (k: Tensor) =>
      random.poisson(k, [50], tensor(Array.from({ length: 50 }, (_, i) => (i % 2 ? 3 : 30)))),
    (k: Tensor) => random.exponential(k, [50]),
    (k: Tensor) => random.permutation(k, 50),
    (k: Tensor) => random.choice(k, zeros([50]), 50),
  ]) {
    const [js, wasm] = [await drawn(of, 1, "js"), await drawn(of, 1, "wasm")];
    for (const [i, v] of js.entries())
      assert.ok(Math.abs(v - wasm[i]!) <= 1e-4 * (1 + Math.abs(v)), `${i}: ${v} and ${wasm[i]}`);
  }
});

test("a permutation has each number once, and every order is as likely", async () => {
  const x = await drawn((k) => random.permutation(k, 300));
  assert.equal(
    [...x].sort((a, b) => a - b),
    x.map((_, i) => i),
  );
  assert.not.equal(
    x,
    x.map((_, i) => i),
  );
  const f = compile((k: Tensor) => random.permutation(k, 3), { target: "js" });
  const seen = new Map<string, number>();
  for (let s = 0; s < 240; s++) {
    const order = (await (await f(new Uint32Array([s, 5]))).data()).join();
    seen.set(order, (seen.get(order) ?? 0) + 1);
  }
  assert.is(seen.size, 6);
  for (const [order, count] of seen) assert.ok(count > 18 && count < 66, `${order}: ${count}`);
});

test("a choice gives different places, by their odds", async () => {
  const odds = tensor([0.5, 0.25, 0.25]).log();
  const f = compile((k: Tensor) => random.choice(k, odds, 2), { target: "js" });
  let first = 0;
  for (let s = 0; s < 200; s++) {
    const [a, b] = await (await f(new Uint32Array([7, s]))).data();
    assert.not.equal(a, b);
    if (a === 0) first++;
  }
  assert.ok(Math.abs(first / 200 - 0.5) < 0.16, `${first}`);
});

test("gumbelSoftmax sums to 1, and hard ones are one 1 with the gradient of the soft weights", async () => {
  const logits = tensor([
    [1, 2, 0],
    [0, 0, 3],
  ]);
  const soft = await drawn((k) => random.gumbelSoftmax(k, logits, { tau: 0.7 }).sum(-1));
  assert.ok(soft.every((v) => Math.abs(v - 1) < 1e-5));
  const hard = await drawn((k) => random.gumbelSoftmax(k, logits, { hard: true }));
  assert.equal(hard.map((v) => Math.round(v * 1e6) / 1e6).filter((v) => v === 1).length, 2);
  const slope = (hardly: boolean) =>
    drawn((k) => {
      const y = random.gumbelSoftmax(k, logits, { hard: hardly });
      return grad(y.mul(tensor([1, 5, 2])).sum(), [logits])[0]!;
    });
  const [a, b] = [await slope(true), await slope(false)];
  for (const [i, v] of a.entries()) assert.ok(Math.abs(v - b[i]!) < 1e-5);
});

test("what is no key, and a temperature of 0, are refused", () => {
  const message = (run: () => unknown, kind: typeof GraphError | typeof DtypeError): string => {
    try {
      run();
    } catch (error) {
      assert.instance(error, kind);
      return (error as Error).message;
    }
    return assert.unreachable() as never;
  };
  assert.is(
    message(() => random.gamma(tensor([1, 2]), [3], 1), DtypeError),
    "gamma: the key is f32[2], not u32[2]\n  make one with random.key(seed)",
  );
  assert.is(
    message(() => random.gumbelSoftmax(random.key(0), zeros([3]), { tau: 0 }), GraphError),
    "gumbelSoftmax: tau must be above 0, got 0\n  leave it out for 1",
  );
});

test.run();
