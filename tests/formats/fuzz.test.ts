/** A slice of `npm run fuzz`: every reader reads or refuses what is damaged, in bounded time and memory. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readers } from "../fuzz/readers.ts";
import { fuzzReader, headOf, rowOf, totalOf } from "../fuzz/tally.ts";
import { runs } from "../support/setup.ts";

/** The same inputs at each run, so that a failure is the change's. */
const seed = 4;
const each = 200;

for (const reader of readers)
  test(`${reader.name} reads or refuses whatever comes`, async () => {
    const tally = await fuzzReader(reader, seed, runs(each));
    const { fault } = tally;
    assert.not(fault, fault && `input ${fault.index}, ${fault.kind}: ${fault.what}`);
    assert.is(tally.accepted + tally.refused, runs(each));
  });

test("a reader that throws what is not ours is found, and told by the number of its input", async () => {
  const read = (bytes: Uint8Array) => {
    if (bytes.length % 3 === 0) throw new RangeError("out of range");
  };
  const tally = await fuzzReader(
    { name: "bad", read, files: () => [new Uint8Array(90)], refusal: /./ },
    seed,
    1000,
  );
  assert.match(tally.fault?.what ?? "", /^RangeError: out of range/);
  const again = await fuzzReader(
    { name: "bad", read, files: () => [new Uint8Array(90)], refusal: /./ },
    seed,
    1,
    tally.fault?.index,
  );
  assert.is(again.fault?.index, tally.fault?.index);
  assert.match(`${headOf()}\n${rowOf(totalOf([tally, tally]))}`, /^reader .*\ntotal /);
});

test("a reader that takes too much, or names no place, is found", async () => {
  const kept: Uint8Array[] = [];
  // More than what the engine may collect meanwhile.
  const greedy = () => void kept.push(new Uint8Array(2 ** 30));
  const files = () => [new Uint8Array(9)];
  const tally = await fuzzReader({ name: "greedy", read: greedy, files, refusal: /./ }, seed, 1);
  assert.match(tally.fault?.what ?? "", /^allocated \d+ bytes/);
});

test.run();
