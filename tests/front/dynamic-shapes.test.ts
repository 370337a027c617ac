/** Automatic dynamic shapes: how often functions compile, and for what. */
import { compile, nn, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fits, ShapeHistory } from "../../packages/kiln/src/compile/shapes.ts";
import { labels, Net, rows } from "./net.ts";

test("a second batch size compiles once more, and then no other does", async () => {
  const net = new Net();
  const f = compile((x: Tensor, y: Tensor) => nn.crossEntropy(net.forward(x), y));
  const counts: number[] = [];
  for (const n of [6, 6, 4, 5, 9, 1, 6, 3]) {
    await f(rows(n), labels(n));
    counts.push(f.compiles);
  }
  assert.equal(counts, [1, 1, 2, 2, 2, 2, 2, 2]);
});

test("a symbolic program gives what a specialised one gives", async () => {
  const net = new Net();
  const dynamic = compile((x: Tensor) => net.forward(x).softmax());
  await dynamic(rows(2));
  await dynamic(rows(3));
  const fixed = compile((x: Tensor) => net.forward(x).softmax());
  assert.equal(
    [...(await (await dynamic(rows(5))).data())],
    [...(await (await fixed(rows(5))).data())],
  );
  assert.is(dynamic.compiles, 2);
});

test("axes that change together share a symbol", async () => {
  const f = compile((x: Tensor, y: Tensor) => x.add(y));
  await f([1, 2], [3, 4]);
  await f([1, 2, 3], [4, 5, 6]);
  assert.equal([...(await (await f([1], [2])).data())], [3]);
  assert.is(f.compiles, 2);
  const artifact = await f.artifact();
  assert.equal(
    artifact.signature.dims.map((d) => d.name),
    ["N0"],
  );
});

test("axes that were equal by chance get symbols of their own once they differ", async () => {
  const f = compile((x: Tensor, y: Tensor) => x.sum().add(y.sum()));
  await f([1, 2], [3, 4]);
  await f([1, 2, 3], [4, 5, 6]);
  assert.is(await (await f([1], [2, 3])).item(), 6);
  assert.is(f.compiles, 3);
  await f([1, 2, 3, 4, 5], [1]);
  assert.is(f.compiles, 3);
});

test("another rank or dtype is another program", async () => {
  const f = compile((x: Tensor) => x.add(x));
  await f(1);
  await f([1]);
  await f(Int32Array.of(1));
  assert.is(f.compiles, 3);
});

test("a function that cannot be symbolic is compiled for each size", async () => {
  const f = compile((x: Tensor) => x.reshape([3, -1]).sum(0));
  assert.equal([...(await (await f([1, 2, 3])).data())], [6]);
  assert.equal([...(await (await f([1, 2, 3, 4, 5, 6])).data())], [9, 12]);
  assert.equal([...(await (await f([1, 2, 3])).data())], [6]);
  assert.is(f.compiles, 2);
});

test("empty arguments get programs of their own and spoil no pattern", async () => {
  const f = compile((x: Tensor) => x.add(1).sum());
  assert.is(await (await f([1, 2])).item(), 5);
  assert.is(await (await f([])).item(), 0);
  assert.is(await (await f([1])).item(), 2);
  assert.is(await (await f([])).item(), 0);
  assert.is(await (await f([1, 2, 3])).item(), 9);
  assert.is(f.compiles, 3);
});

test("a pattern covers all calls of its history", () => {
  const history = new ShapeHistory();
  assert.equal(history.patternFor([8, 4, 8]), [8, 4, 8]);
  const second = history.patternFor([6, 4, 6]);
  assert.equal(second, ["N0", 4, "N0"]);
  assert.ok(fits(second, [8, 4, 8]));
  assert.not(fits(second, [8, 4, 7]));
  assert.not(fits(second, [0, 4, 0]));
  assert.equal(history.patternFor([6, 4, 5]), ["N0", 4, "N1"]);
});

test.run();
