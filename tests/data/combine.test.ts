/** Data sets made of others: what a sample of each is, in which order, under which name, and what is refused. */
import {
  concat,
  type Dataset,
  filter,
  fromArrays,
  type Items,
  itemsOf,
  kFold,
  map,
  shuffleBuffer,
  skip,
  stratifiedSplit,
  take,
  window,
  zip,
} from "@kiln-ml/data";
import { ArtifactError, GraphError, ShapeError } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const numbers = (...list: number[]) => fromArrays([Int32Array.from(list)] as const, [[]]);
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

async function all<S>(items: Items<S>): Promise<S[]> {
  const samples: S[] = [];
  for (let i = 0; i < items.length; i++) samples.push(await items.get(i));
  return samples;
}

async function listOf(set: Dataset<readonly [Int32Array]>): Promise<number[]> {
  return [...(await set.gather(upTo(set.length)))[0]];
}

test("map, zip and window make samples when they are asked for, and no others", async () => {
  const asked: number[] = [];
  const source: Items<number> = { length: 6, get: (i) => 10 * (asked[asked.push(i) - 1] ?? 0) };
  const doubled = map(source, (x, i) => x + i);
  const pairs = zip(doubled, numbers(5, 6, 7, 8, 9, 10));
  const windows = window(pairs, { size: 2, stride: 2 });
  assert.equal(asked, []);
  assert.is(windows.length, 3);
  assert.equal(await windows.get(1), [
    [22, [Int32Array.of(7)]],
    [33, [Int32Array.of(8)]],
  ]);
  assert.equal(asked, [2, 3]);
});

test("what is asynchronous in a source is awaited in what is made of it", async () => {
  const source: Items<number> = { length: 3, get: async (i) => i };
  assert.equal(await all(map(source, async (x) => x + 1)), [1, 2, 3]);
  assert.equal(await all(zip(source, itemsOf(["a", "b", "c"]))), [
    [0, "a"],
    [1, "b"],
    [2, "c"],
  ]);
  assert.equal(await all(window(source, { size: 2 })), [
    [0, 1],
    [1, 2],
  ]);
  assert.equal(await all(await filter(source, async (x) => x !== 1)), [0, 2]);
  assert.equal(await all(concat(source, itemsOf([9]))), [0, 1, 2, 9]);
});

test("take, skip, filter and concat keep a data set a data set", async () => {
  const set = concat(numbers(0, 1, 2), numbers(3), numbers(4, 5));
  assert.equal(await listOf(set), [0, 1, 2, 3, 4, 5]);
  assert.equal([...(await set.gather([5, 0, 3, 5]))[0]], [5, 0, 3, 5]);
  assert.equal(await listOf(take(set, 2)), [0, 1]);
  assert.equal(await listOf(skip(set, 4)), [4, 5]);
  assert.equal(await listOf(take(set, 99)), [0, 1, 2, 3, 4, 5]);
  assert.is(skip(set, 99).length, 0);
  assert.equal(await listOf(await filter(set, ([x]) => x[0]! % 2 === 0)), [0, 2, 4]);
});

test("windows that do not fit are none", () => {
  assert.is(window(itemsOf([1, 2]), { size: 3 }).length, 0);
  assert.is(window(itemsOf([1, 2, 3, 4, 5]), { size: 2, stride: 2 }).length, 2);
});

test("a shuffle buffer gives every sample once, none far before its place", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(40),
      fc.integer({ min: 1, max: 10 }),
      fc.nat(9),
      async (n, buffer, seed) => {
        const order: number[] = [];
        for await (const x of shuffleBuffer(upTo(n), { buffer, seed })) order.push(x);
        assert.equal(
          [...order].sort((a, b) => a - b),
          upTo(n),
        );
        for (const [at, x] of order.entries()) assert.ok(x <= at + buffer);
        const again: number[] = [];
        for await (const x of shuffleBuffer(upTo(n), { buffer, seed })) again.push(x);
        assert.equal(again, order);
      },
    ),
    { numRuns: runs(50) },
  );
});

const namedItems: Items<number> = { length: 3, get: (i) => i, name: (i) => `a.csv: row ${i + 2}` };

test("names of samples come through all that is made of a source", () => {
  const name = (s: { name?(i: number): string }, i: number) => s.name?.(i);
  const second = "a.csv: row 3";
  assert.is(
    name(
      map(namedItems, (x) => x),
      1,
    ),
    second,
  );
  assert.is(name(skip(namedItems, 1), 0), second);
  assert.is(name(window(namedItems, { size: 2 }), 1), second);
  assert.is(name(zip(itemsOf([1, 2, 3]), namedItems), 1), second);
  assert.is(name(concat(itemsOf([7]), namedItems), 2), second);
  assert.is(name(concat(itemsOf([7]), namedItems), 0), "sample 0 of source 0");
  assert.is(name(kFold(namedItems, 3, { seed: 1 })[0]!.test, 0)?.slice(0, 10), "a.csv: row");
});

test("an error of a function names the sample once, and stays an ArtifactError", async () => {
  const broken = map(namedItems, (x) => {
    if (x === 1) throw new ArtifactError("no header");
    return x;
  });
  const message = "map: sample 1 (a.csv: row 3): no header";
  assert.throws(
    () => broken.get(1),
    (e: unknown) => e instanceof ArtifactError && e.message === message,
  );
  assert.throws(
    () => map(broken, (x) => x).get(1),
    (e: unknown) => e instanceof ArtifactError && e.message === message,
  );
  let caught: unknown;
  await filter(
    map(namedItems, async () => Promise.reject("gone")),
    () => true,
  ).catch((e) => {
    caught = e;
  });
  assert.instance(caught, GraphError);
  assert.is((caught as Error).message, "map: sample 0 (a.csv: row 2): gone");
});

test("every sample is in the test part of one fold, and in the training part of the others", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 6 }),
      fc.array(fc.constantFrom("a", "b", "c"), { minLength: 6, maxLength: 40 }),
      fc.nat(99),
      async (k, labels, seed) => {
        const set = numbers(...upTo(labels.length));
        const folds = kFold(set, k, { seed, stratify: labels });
        const tests = await Promise.all(folds.map(({ test: part }) => listOf(part)));
        assert.equal(
          tests.flat().sort((a, b) => a - b),
          upTo(labels.length),
        );
        for (const [f, { train }] of folds.entries())
          assert.equal(
            [...(await listOf(train)), ...tests[f]!].sort((a, b) => a - b),
            upTo(labels.length),
          );
        for (const label of ["a", "b", "c"]) {
          const counts = tests.map((part) => part.filter((i) => labels[i] === label).length);
          assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${label}: ${counts}`);
        }
        const sizes = tests.map((part) => part.length);
        assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
      },
    ),
    { numRuns: runs(40) },
  );
});

test("all of a group are in one fold", async () => {
  const groups = [1, 1, 2, 2, 2, 3, 4, 5, 5, 6];
  for (const { test: part, train } of kFold(numbers(...upTo(10)), 3, { groups, seed: 2 })) {
    const inTest = new Set((await listOf(part)).map((i) => groups[i]));
    assert.ok((await listOf(train)).every((i) => !inTest.has(groups[i])));
    assert.ok(part.length >= 3 && part.length <= 4);
  }
});

test("a stratified split keeps the shares of labels, and loses none", async () => {
  const labels = upTo(100).map((i) => (i < 80 ? "many" : "few"));
  const parts = stratifiedSplit(numbers(...upTo(100)), [0.5, 0.3, 0.2], labels, 4);
  const lists = await Promise.all(parts.map(listOf));
  assert.equal(
    lists.map((list) => list.filter((i) => i >= 80).length),
    [10, 6, 4],
  );
  assert.equal(
    lists.flat().sort((a, b) => a - b),
    upTo(100),
  );
});

test("what cannot be is refused, with both values", () => {
  const refused = (
    call: () => unknown,
    Kind: typeof ShapeError | typeof GraphError,
    text: string,
  ) => assert.throws(call, (e: unknown) => e instanceof Kind && e.message === text);
  const three = numbers(1, 2, 3);
  refused(
    () => zip(three, itemsOf([1])),
    ShapeError,
    "zip: sources differ in samples: 3, 1\n  take as many of each",
  );
  refused(
    () => concat(three as Dataset, fromArrays([Int32Array.of(1, 2)], [[2]])),
    ShapeError,
    "concat: samples differ: data set 0 has [], data set 1 has [2]",
  );
  refused(
    () => window(three, { size: 0 }),
    GraphError,
    "window: size must be an integer of 1 or more, got 0",
  );
  refused(() => take(three, -1), GraphError, "take: count must be an integer of 0 or more, got -1");
  refused(() => map(three, 3 as never), GraphError, "map: needs a function of a sample, got 3");
  refused(() => kFold(three, 1), GraphError, "kFold: needs an integer of 2 folds or more, got 1");
  refused(() => kFold(three, 4), GraphError, "kFold: 4 folds of 3 samples");
  refused(
    () => kFold(three, 3, { groups: [1, 1, 2] }),
    GraphError,
    "kFold: 3 folds of 2 groups\n  ask for fewer folds",
  );
  refused(
    () => kFold(three, 2, { stratify: [1] }),
    ShapeError,
    "kFold: stratify has 1 labels for 3 samples",
  );
  refused(
    () => stratifiedSplit(three, [0.9, 0.9], [1, 1, 1]),
    ShapeError,
    "stratifiedSplit: fractions must be positive and sum to at most 1, got [0.9,0.9]",
  );
});

test.run();
