/** Where a loader stands, what it begins ahead, and what its samplers and collates make of it. */
import {
  batchShapeOf,
  bucketByLength,
  DataLoader,
  type Dataset,
  fromArrays,
  itemsOf,
  type LoaderState,
  pad,
  stack,
  withReplacement,
} from "@kiln-ml/data";
import { GraphError } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const numbers = (n: number) =>
  fromArrays([Int32Array.from({ length: n }, (_, i) => i)] as const, [[]]);

/** The batches of one iteration as lists, and the state that the loop saw at each. */
async function epochOf(loader: DataLoader<readonly [Int32Array]>, most = Infinity) {
  const batches: number[][] = [];
  const states: LoaderState[] = [];
  for await (const [x] of loader) {
    batches.push([...x]);
    states.push(loader.state());
    if (batches.length === most) break;
  }
  return { batches, states };
}

test("a loader goes on at the batch where its state was taken, whatever its options", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 7 }),
      fc.nat(100),
      fc.nat(2),
      fc.nat(4),
      fc.constantFrom("order", "shuffle", "sampler", "batches"),
      async (n, batch, stop, epoch, prefetch, kind) => {
        const options = {
          prefetch,
          ...(kind === "batches"
            ? { batches: bucketByLength(Uint8Array.from({ length: n }), { batch, seed: 4 }) }
            : { batch, seed: 3 }),
          ...(kind === "shuffle" ? { shuffle: true } : {}),
          ...(kind === "sampler" ? { sampler: withReplacement(n, { seed: 5 }) } : {}),
        };
        const whole = new DataLoader(numbers(n), options);
        whole.epoch = epoch;
        const first = await epochOf(whole);
        const second = await epochOf(whole);
        const at = stop % first.states.length;
        const resumed = new DataLoader(numbers(n), options);
        resumed.load(JSON.parse(JSON.stringify(first.states[at])));
        assert.equal(resumed.state(), first.states[at]);
        assert.equal((await epochOf(resumed)).batches, first.batches.slice(at + 1));
        assert.equal((await epochOf(resumed)).batches, second.batches);
      },
    ),
    { numRuns: runs(60) },
  );
});

test("batches that are left out are not gathered", async () => {
  const asked: number[] = [];
  const set = numbers(10);
  const watched: Dataset<readonly [Int32Array]> = {
    ...set,
    gather: (indices) => {
      asked.push(indices[0]!);
      return set.gather(indices);
    },
  };
  const loader = new DataLoader(watched, { batch: 2 });
  loader.load({ epoch: 0, batch: 3, length: 5 });
  await epochOf(loader);
  assert.equal(asked, [6, 8]);
});

test("the state of a finished epoch is the next one's start, and of a broken one where it broke", async () => {
  const loader = new DataLoader(numbers(4), { batch: 2 });
  assert.equal(loader.state(), { epoch: 0, batch: 0, length: 2 });
  await epochOf(loader, 1);
  assert.equal(loader.state(), { epoch: 0, batch: 1, length: 2 });
  await epochOf(loader);
  assert.equal(loader.state(), { epoch: 2, batch: 0, length: 2 });
});

test("an epoch that is set by hand is whole", async () => {
  const loader = new DataLoader(numbers(4), { batch: 2 });
  loader.load({ epoch: 1, batch: 1, length: 2 });
  loader.epoch = 5;
  assert.is((await epochOf(loader)).batches.length, 2);
});

test("the state of another loader is refused", () => {
  const loader = new DataLoader(numbers(4), { batch: 2 });
  assert.throws(
    () => loader.load({ epoch: 0, batch: 1, length: 3 }),
    (e: unknown) =>
      e instanceof GraphError &&
      e.message ===
        "dataLoader: state is of a loader of 3 batches an epoch, this one has 2\n  load it with the same data, batch and dropLast",
  );
  assert.throws(
    () => loader.load({ epoch: 0, batch: 3, length: 2 }),
    "dataLoader: state has epoch 0 and batch 3 of 2",
  );
});

test("as many batches are begun ahead as prefetch says, and come in order", async () => {
  for (const prefetch of [0, 1, 3]) {
    let begun = 0;
    const slowFirst: Dataset<readonly [Int32Array]> = {
      ...numbers(6),
      gather: async (indices) => {
        begun++;
        // The later a batch, the sooner it is ready.
        for (let i = indices[0]!; i < 6; i++) await Promise.resolve();
        return [Int32Array.from(indices)];
      },
    };
    const seen: number[] = [];
    const ahead: number[] = [];
    for await (const [x] of new DataLoader(slowFirst, { batch: 1, prefetch })) {
      seen.push(x[0]!);
      ahead.push(begun - seen.length);
    }
    assert.equal(seen, [0, 1, 2, 3, 4, 5]);
    assert.equal(
      ahead,
      seen.map((i) => Math.min(prefetch, 5 - i)),
    );
  }
});

test("items are made a batch of by collate, whose arrays know their shapes", async () => {
  const texts = itemsOf(["a", "bcd", "ef"]);
  const codes = (samples: readonly string[]) =>
    pad({ value: -1 })(samples.map((s) => Int32Array.from(s, (c) => c.charCodeAt(0) - 97)));
  const batches: [number[], readonly number[] | undefined][] = [];
  for await (const x of new DataLoader(texts, { batch: 2, collate: codes }))
    batches.push([[...x], batchShapeOf(x)]);
  assert.equal(batches, [
    [
      [0, -1, -1, 1, 2, 3],
      [2, 3],
    ],
    [
      [4, 5],
      [1, 2],
    ],
  ]);
});

test("a data set may be collated too: its samples are tuples", async () => {
  const set = fromArrays([Float32Array.of(1, 2, 3, 4), Int32Array.of(7, 8)] as const, [[2], []]);
  const loader = new DataLoader(set, { batch: 2, collate: stack });
  for await (const [x, y] of loader) {
    assert.equal([...x, ...y], [1, 2, 3, 4, 7, 8]);
    assert.equal(batchShapeOf(x), [2, 2]);
    assert.equal(batchShapeOf(y), [2]);
  }
});

test("an error names the sample, and comes where its batch would", async () => {
  const items = {
    length: 4,
    get: (i: number) => {
      if (i === 2) throw new TypeError("no header");
      return i;
    },
    name: (i: number) => `cats/${i}.png`,
  };
  const seen: number[] = [];
  let caught: unknown;
  try {
    for await (const x of new DataLoader(items, { batch: 1, collate: stack, prefetch: 3 }))
      seen.push(x[0]!);
  } catch (error) {
    caught = error;
  }
  assert.equal(seen, [0, 1]);
  assert.instance(caught, GraphError);
  assert.is((caught as Error).message, "dataLoader: sample 2 (cats/2.png): no header");
  assert.instance((caught as Error).cause, TypeError);
});

test("options that exclude each other are refused", () => {
  const refused = (options: object, text: string) =>
    assert.throws(
      () => new DataLoader(numbers(4), options as never),
      (e: unknown) => e instanceof GraphError && e.message === text,
    );
  const sampler = withReplacement(4);
  const batches = bucketByLength([1, 2, 3, 4], { batch: 2 });
  refused(
    { batch: 2, shuffle: true, sampler },
    "dataLoader: shuffle and sampler are both given\n  leave one out: the sampler decides what shuffle would",
  );
  refused(
    { batch: 2, batches },
    "dataLoader: batch and batches are both given\n  leave one out: batches decides what batch would",
  );
  refused({}, "dataLoader: batch must be an integer of 1 or more, got undefined");
  refused(
    { batch: 1, prefetch: -1 },
    "dataLoader: prefetch must be an integer of 0 or more, got -1",
  );
  assert.throws(
    () => new DataLoader([1, 2] as never, { batch: 1 }),
    "dataLoader: needs a data set or items, got Array\n  fromArrays and itemsOf make them",
  );
});

test.run();
