/**
 * Data sets, orders, splits and the loader.
 */

import { DataLoader, type Dataset, fromArrays, permutation, split, subset } from "@kiln-ml/data";
import { GraphError, ShapeError } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const make = (n: number) =>
  fromArrays(
    [
      Float32Array.from({ length: 2 * n }, (_, i) => i),
      Int32Array.from({ length: n }, (_, i) => i),
    ] as const,
    [[2], []],
  );

async function collect(loader: DataLoader<readonly [Float32Array, Int32Array]>) {
  const batches: number[][] = [];
  for await (const [x, y] of loader) {
    assert.is(x.length, 2 * y.length);
    assert.ok(y.every((label, i) => x[2 * i] === 2 * label && x[2 * i + 1] === 2 * label + 1));
    batches.push([...y]);
  }
  return batches;
}

test("samples are gathered field by field", () => {
  const [x, y] = make(4).gather([2, 0]) as readonly [Float32Array, Int32Array];
  assert.equal([...x], [4, 5, 0, 1]);
  assert.equal([...y], [2, 0]);
  assert.instance(y, Int32Array);
});

test("fields of different lengths are refused", () => {
  assert.throws(
    () => fromArrays([new Float32Array(6), new Int32Array(2)], [[2], []]),
    (e: unknown) =>
      e instanceof ShapeError && e.message === "fromArrays: fields differ in samples: 3, 2",
  );
  assert.throws(
    () => fromArrays([new Float32Array(5)], [[2]]),
    /field 0 has 5 elements, not a multiple of a sample \[2\]/,
  );
});

test("a sample outside is refused, in a subset too", () => {
  assert.throws(() => make(3).gather([3]), /gather: sample 3 is outside a data set of 3/);
  assert.throws(() => subset(make(3), [1]).gather([1]), /sample 1 is outside a data set of 1/);
});

test("a permutation holds each index once and follows its seed", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.maxSafeNat(), (n, seed) => {
      const order = permutation(n, seed);
      assert.equal(
        [...order].sort((a, b) => a - b),
        Array.from({ length: n }, (_, i) => i),
      );
      assert.equal(order, permutation(n, seed));
    }),
    { numRuns: runs(50) },
  );
  assert.not.equal(permutation(20, 1), permutation(20, 2));
  assert.not.equal(permutation(20, 1, 0), permutation(20, 1, 1));
});

test("all orders of three come about equally often", () => {
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 3000; seed++) {
    const key = permutation(3, seed).join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  assert.is(counts.size, 6);
  assert.ok([...counts.values()].every((n) => Math.abs(n - 500) < 100));
});

test("a split is disjoint and leaves nothing out", () => {
  const parts = split(make(10), [0.7, 0.2, 0.1], 5);
  assert.equal(
    parts.map((p) => p.length),
    [7, 2, 1],
  );
  const seen = parts.flatMap((p) => {
    const all = Array.from({ length: p.length }, (_, i) => i);
    return [...(p.gather(all) as readonly [Float32Array, Int32Array])[1]];
  });
  assert.equal(
    seen.sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
});

test("fractions over 1 are refused", () => {
  assert.throws(() => split(make(4), [0.7, 0.7]), /split: fractions must be positive and sum/);
});

test("a loader gives all batches in order, the last one shorter", async () => {
  const loader = new DataLoader(make(5), { batch: 2 });
  assert.is(loader.length, 3);
  assert.equal(await collect(loader), [[0, 1], [2, 3], [4]]);
});

test("dropLast leaves the short batch out", async () => {
  assert.equal(await collect(new DataLoader(make(5), { batch: 2, dropLast: true })), [
    [0, 1],
    [2, 3],
  ]);
});

test("each epoch is shuffled anew, and the same for the same seed", async () => {
  const loader = () => new DataLoader(make(12), { batch: 5, shuffle: true, seed: 3 });
  const [a, b] = [loader(), loader()];
  const first = await collect(a);
  assert.equal(
    first.flat().sort((x, y) => x - y),
    Array.from({ length: 12 }, (_, i) => i),
  );
  assert.equal(await collect(b), first);
  assert.not.equal(await collect(a), first);
  const resumed = loader();
  resumed.epoch = 1;
  assert.equal(await collect(resumed), await collect(b));
});

test("a loader goes on within an epoch from where another one stood", async () => {
  const loader = () => new DataLoader(make(11), { batch: 2, shuffle: true, seed: 3 });
  const whole = loader();
  const epochs = [await collect(whole), await collect(whole)];
  assert.equal(whole.state(), { epoch: 1, batch: 6 });
  for (let stop = 1; stop <= 6; stop++) {
    const cut = loader();
    assert.equal(cut.state(), { epoch: 0, batch: 0 });
    let given = 0;
    for await (const _ of cut) if (++given === stop) break;
    assert.equal(cut.state(), { epoch: 0, batch: stop });
    const resumed = loader();
    resumed.load(cut.state());
    assert.equal(resumed.state(), cut.state());
    assert.equal(await collect(resumed), epochs[0]!.slice(stop));
    assert.equal(await collect(resumed), epochs[1]);
  }
  assert.throws(
    () => loader().load({ epoch: 0, batch: 7 }),
    (e: unknown) =>
      e instanceof GraphError &&
      e.message ===
        "dataLoader: there is no batch 7 of epoch 0: an epoch has 6\n  resume with the data set and the batch that the state was saved with",
  );
});

test("a loop that stops early leaves no error behind, and an error of a batch reaches the loop", async () => {
  const broken: Dataset<readonly [Float32Array, Int32Array]> = {
    ...make(6),
    gather: async (indices) => {
      if (indices[0] === 2) throw new GraphError("gather: broken");
      return make(6).gather(indices);
    },
  };
  for await (const _ of new DataLoader(broken, { batch: 2 })) break;
  let caught: unknown;
  await collect(new DataLoader(broken, { batch: 2 })).catch((e: unknown) => {
    caught = e;
  });
  assert.instance(caught, GraphError);
});

test("batches that cannot be are refused", () => {
  assert.throws(
    () => new DataLoader(make(3), { batch: 0 }),
    /batch must be an integer of 1 or more/,
  );
  assert.throws(
    () => new DataLoader(make(3), { batch: 4, dropLast: true }),
    /no batch is full: batch 4, data set 3/,
  );
});

test.run();
