/** Samplers draw what they say, the same for the same seed and epoch; collates keep every number in its place. */
import {
  batchShapeOf,
  bucketByLength,
  byGroup,
  packGraphs,
  pad,
  stack,
  stratified,
  weighted,
  withReplacement,
} from "@kiln-ml/data";
import { GraphError, ShapeError } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const sorted = (list: ArrayLike<number>): number[] => Array.from(list).sort((a, b) => a - b);
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

test("every sampler repeats itself for an epoch, and differs from one to the next", () => {
  const labels = upTo(40).map((i) => i % 3);
  const samplers = [
    withReplacement(40, { seed: 1 }),
    weighted(
      upTo(40).map((i) => i + 1),
      { seed: 1, replacement: false },
    ),
    stratified(labels, { seed: 1 }),
  ];
  for (const sampler of samplers) {
    assert.is(sampler.indices(0).length, sampler.length);
    assert.equal(sampler.indices(3), sampler.indices(3));
    assert.not.equal(sampler.indices(3), sampler.indices(4));
  }
  const batches = [
    bucketByLength(labels, { batch: 4, seed: 1 }),
    byGroup(labels, { batch: 4, seed: 1 }),
  ];
  for (const sampler of batches) {
    assert.is(sampler.batches(0).length, sampler.length);
    assert.equal(sampler.batches(3), sampler.batches(3));
    assert.not.equal(sampler.batches(3), sampler.batches(4));
    assert.equal(sorted(sampler.batches(1).flatMap((b) => Array.from(b))), upTo(40));
  }
});

test("weights are the shares of draws; a weight of 0 is never drawn", () => {
  const counts = [0, 0, 0, 0];
  const draws = weighted([1, 0, 3, 4], { count: 8000, seed: 2 }).indices(0);
  for (const i of Array.from(draws)) counts[i]!++;
  assert.is(counts[1], 0);
  // 5 standard deviations: √(8000·p·(1 − p)) is at most 45.
  for (const [i, share] of [1 / 8, 0, 3 / 8, 1 / 2].entries())
    assert.ok(Math.abs(counts[i]! - 8000 * share) < 225, `${counts}`);
});

test("without replacement no sample comes twice, and heavy ones come first more often", () => {
  let heavyFirst = 0;
  for (let epoch = 0; epoch < 1000; epoch++) {
    const sampler = weighted([1, 1, 8, 0], { replacement: false, count: 3 });
    const order = sampler.indices(epoch);
    assert.equal(sorted(order), [0, 1, 2]);
    if (order[0] === 2) heavyFirst++;
  }
  assert.ok(Math.abs(heavyFirst - 800) < 64, `${heavyFirst}`);
});

test("draws with replacement are even", () => {
  const counts = new Array<number>(10).fill(0);
  for (const i of Array.from(withReplacement(10, { count: 10_000 }).indices(0))) counts[i]!++;
  assert.ok(
    counts.every((n) => Math.abs(n - 1000) < 150),
    `${counts}`,
  );
});

test("every stretch of a stratified order has the labels in their shares", () => {
  const labels = upTo(120).map((i) => (i < 90 ? "a" : "b"));
  const order = Array.from(stratified(labels, { seed: 3 }).indices(0));
  assert.equal(sorted(order), upTo(120));
  for (let at = 0; at < 120; at += 20) {
    const few = order.slice(at, at + 20).filter((i) => i >= 90).length;
    assert.ok(few >= 4 && few <= 6, `${few}`);
  }
});

test("buckets have samples of about one length, groups samples of one group", () => {
  const lengths = upTo(200).map((i) => (i * 37) % 100);
  for (const batch of bucketByLength(lengths, { batch: 10, pool: 20 }).batches(0)) {
    const own = Array.from(batch, (i) => lengths[i]!);
    assert.ok(Math.max(...own) - Math.min(...own) <= 5);
  }
  const groups = upTo(23).map((i) => i % 4);
  for (const batch of byGroup(groups, { batch: 4 }).batches(0)) {
    assert.is(new Set(Array.from(batch, (i) => groups[i])).size, 1);
    assert.ok(batch.length <= 4);
  }
});

test("stack takes numbers, arrays and shaped arrays, in lists and records", () => {
  const shaped = (...x: number[]) => ({ data: Uint8Array.from(x), shape: [2, 1] });
  const { x, y, z } = stack([
    { x: shaped(1, 2), y: 0.5, z: Int32Array.of(7) },
    { x: shaped(3, 4), y: 1.5, z: Int32Array.of(8) },
  ]);
  assert.equal(
    [x, y, z],
    [Uint8Array.of(1, 2, 3, 4), Float32Array.of(0.5, 1.5), Int32Array.of(7, 8)],
  );
  assert.equal([x, y, z].map(batchShapeOf), [[2, 2, 1], [2], [2, 1]]);
});

test("pad puts every number where its place in the sample is", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 3 }),
      (shapes, multiple) => {
        const samples = shapes.map((shape, s) => ({
          data: Float32Array.from(
            { length: shape[0] * shape[1] * shape[2] },
            (_, i) => 100 * s + i,
          ),
          shape,
        }));
        const out = pad({ value: -1, multiple })(samples);
        const [n, a, b, c] = batchShapeOf(out)!;
        assert.is(n, shapes.length);
        assert.is(a! % multiple, 0);
        for (let s = 0; s < n!; s++)
          for (let i = 0; i < a!; i++)
            for (let j = 0; j < b!; j++)
              for (let k = 0; k < c!; k++) {
                const [p, q, r] = shapes[s]!;
                const inside = i < p && j < q && k < r;
                const expected = inside ? 100 * s + (i * q + j) * r + k : -1;
                assert.is(out[((s * a! + i) * b! + j) * c! + k], expected);
              }
      },
    ),
    { numRuns: runs(60) },
  );
});

test("packed graphs keep their edges, and each node knows its graph", () => {
  const packed = packGraphs([
    { nodes: Float32Array.of(1, 2, 3, 4), count: 2, from: [0, 1], to: [1, 0], target: 5 },
    { nodes: new Float32Array(0), count: 0, from: [], to: [] },
    { nodes: Float32Array.of(5, 6), count: 1, from: [0], to: [0], target: 6 },
  ]);
  assert.equal([...packed.nodes], [1, 2, 3, 4, 5, 6]);
  assert.equal(batchShapeOf(packed.nodes), [3, 2]);
  assert.equal([...packed.from], [0, 1, 2]);
  assert.equal([...packed.to], [1, 0, 2]);
  assert.equal([...packed.graph], [0, 0, 2]);
  assert.equal([...packed.target], [5, Number.NaN, 6]);
});

test("what cannot be drawn or joined is refused, with both values", () => {
  const refused = (
    call: () => unknown,
    Kind: typeof ShapeError | typeof GraphError,
    text: string,
  ) => assert.throws(call, (e: unknown) => e instanceof Kind && e.message === text);
  refused(
    () => weighted([1, -2]),
    GraphError,
    "weighted: weight 1 is -2, must be finite and 0 or more",
  );
  refused(() => weighted([0, 0]), GraphError, "weighted: no weight is above 0");
  refused(
    () => weighted([1, 0, 1], { replacement: false }),
    GraphError,
    "weighted: count 3 exceeds the 2 samples with a weight above 0\n  draw fewer, or with replacement",
  );
  refused(
    () => bucketByLength([1], { batch: 0 }),
    GraphError,
    "bucketByLength: batch must be an integer of 1 or more, got 0",
  );
  refused(
    () => stack([Float32Array.of(1), Float32Array.of(1, 2)]),
    ShapeError,
    "stack: sample 1 of the batch is [2], the first is [1]\n  collate with pad, or bring the samples to one shape",
  );
  refused(
    () => stack(["a"]),
    GraphError,
    'stack: a sample must be a number, an array, or a list or record of them, got "a"\n  map it to one, or give the loader a collate of your own',
  );
  refused(
    () => stack([{ x: 1 }, { x: "b" }] as never),
    GraphError,
    'stack: field x of sample 1 of the batch is "b", not a number or a typed array\n  map it to one, or give the loader a collate of your own',
  );
  refused(() => stack([]), GraphError, "stack: no samples");
  refused(
    () => packGraphs([{ nodes: Float32Array.of(1), count: 1, from: [0], to: [1] }]),
    ShapeError,
    "packGraphs: graph 0: edge 0 is at node 1, the graph has 1",
  );
});

test.run();
