/** Batches of a loader know their shapes, and a compiled function with declared inputs takes them as they are. */
import { compile, data, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const sum = compile((x: Tensor) => ({ rows: x.sum(1), all: x.sum() }), {
  inputs: [{ shape: ["n", "t"], dtype: "i32" }],
  target: "js",
});

test("a padded batch fits an input of two symbols", async () => {
  const texts = data.itemsOf([Int32Array.of(1, 2, 3), Int32Array.of(4), Int32Array.of(5, 6)]);
  const rows: number[][] = [];
  for await (const batch of new data.DataLoader(texts, { batch: 2, collate: data.pad() }))
    rows.push([...(await (await sum(batch)).rows.data())].map(Number));
  assert.equal(rows, [[6, 4], [11]]);
});

test("a batch whose shape contradicts the declared one is refused, not read as another", async () => {
  const fixed = compile((x: Tensor) => x.sum(), { inputs: [["n", 3]], target: "js" });
  const set = data.fromArrays([new Float32Array(12)], [[2]]);
  const [batch] = (await new data.DataLoader(set, { batch: 6 })[Symbol.asyncIterator]().next())
    .value as [Float32Array];
  try {
    await fixed(batch);
    assert.unreachable();
  } catch (error) {
    assert.match(
      (error as Error).message,
      /^run: input arg0 must have shape \[n,3\] = \[6,3\], got \[6,2\]\n/,
    );
  }
});

test("a batch of another rank is taken for numbers in a row", async () => {
  const flat = compile((x: Tensor) => x.sum(1), { inputs: [["n", 4]], target: "js" });
  const set = data.fromArrays([new Float32Array(8).fill(1)], [[2, 2]]);
  for await (const [x] of new data.DataLoader(set, { batch: 2 }))
    assert.equal([...(await (await flat(x)).data())], [4, 4]);
});

test.run();
