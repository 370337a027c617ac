/** Values outside `compile`: lazy reads, pending assignments, printing, and the plan cache. */
import { inspect } from "node:util";
import { assign, GraphError, grad, input, nn, optim, param, ShapeError, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { eagerCompiles } from "../../packages/kiln/src/devices/engine.ts";
import { labels, Net, rejection, rows } from "./net.ts";

test("data computes what a tensor needs", async () => {
  const x = tensor([
    [1, 2],
    [3, 4],
  ]);
  assert.equal([...(await x.matmul(x).add(1).data())], [8, 11, 16, 23]);
  assert.is(await x.sum().item(), 10);
});

test("data of a tensor that has its values copies them", async () => {
  const x = tensor([1, 2]);
  const values = await x.data();
  values[0] = 9;
  assert.equal([...(await x.data())], [1, 2]);
});

test("dtypes come as their typed arrays", async () => {
  assert.instance(await tensor([1, 2]).convert("i32").data(), Int32Array);
  assert.instance(await tensor([1, 2]).greater(1).data(), Uint8Array);
  assert.instance(await tensor(Float64Array.of(1)).add(1).data(), Float64Array);
});

test("a loop that builds on its own values compiles once", async () => {
  let x = tensor([1, 2, 3]);
  await x.mul(3).sub(1).data();
  const before = eagerCompiles();
  for (let i = 0; i < 5; i++) {
    x = x.mul(3).sub(1);
    await x.data();
  }
  assert.is(eagerCompiles(), before);
  assert.equal([...(await x.data())], [122, 365, 608]);
});

test("fresh data of the same form compile once", async () => {
  const before = eagerCompiles();
  for (let i = 0; i < 4; i++)
    assert.is((await tensor([i, 1, 2]).exp().log().sum().item()) > 0, true);
  assert.is(eagerCompiles(), before + 1);
});

test("pending assignments run with the next read, once", async () => {
  const w = param([1, 2], { name: "w" });
  assign(w, w.add(1));
  const y = w.mul(10);
  assert.equal([...(await y.data())], [20, 30]);
  assert.equal([...(await w.data())], [2, 3]);
  assert.equal([...(await w.data())], [2, 3]);
});

test("a read of one tensor runs the assignments of all", async () => {
  const w = param(1, { name: "w" });
  assign(w, w.add(5));
  await tensor([1]).add(1).data();
  assert.is(await w.item(), 6);
});

test("a value computed from a parameter is computed again after it changed", async () => {
  const w = param([1, 2], { name: "w" });
  const y = w.mul(10);
  assert.equal([...(await y.data())], [10, 20]);
  assign(w, w.add(1));
  await w.data();
  assert.equal([...(await y.data())], [20, 30]);
});

test("an eager training loop compiles its step once and learns", async () => {
  const net = new Net();
  const opt = new optim.Adam(net.parameters(), { lr: 0.05 });
  const losses: number[] = [];
  let compiles = 0;
  for (let i = 0; i < 8; i++) {
    const loss = nn.crossEntropy(net.forward(tensor(rows(6))), tensor(labels(6)));
    opt.step(loss);
    losses.push(await loss.item());
    if (i === 0) compiles = eagerCompiles();
  }
  assert.ok(losses[7]! < losses[0]!, losses.join(" "));
  assert.is(eagerCompiles(), compiles);
});

test("gradients are tensors like any other", async () => {
  const x = tensor([1, 2, 3]);
  const [g] = grad(x.mul(x).sum(), [x]);
  assert.equal([...(await g!.data())], [2, 4, 6]);
});

test("toList gives nested lists, of booleans too, and of no elements", async () => {
  const x = tensor([[1, 2], [3, 4]]); // biome-ignore format: a matrix
  assert.equal(await x.mul(0.5).toList(), [[0.5, 1], [1.5, 2]]); // biome-ignore format: a matrix
  assert.equal(await x.greater(2).toList(), [[false, false], [true, true]]); // biome-ignore format: a matrix
  assert.equal(await x.convert("f16").toList(), [[1, 2], [3, 4]]); // biome-ignore format: a matrix
  assert.is(await x.sum().toList(), 10);
  assert.equal(await tensor(new Float32Array(0), { shape: [2, 0] }).toList(), [[], []]);
  assert.is(inspect(tensor([0.1, NaN])), "Tensor f32[2] [0.1,NaN]");
});

test("inspect shows small values that are at hand, else type and origin", async () => {
  const y = tensor([1, 2]).add(0.5);
  assert.is(inspect(y), "Tensor f32[2] (add)");
  await y.data();
  assert.is(inspect(y), "Tensor f32[2] [1.5,2.5]");
  const big = tensor(new Float32Array(1000)).add(1);
  await big.data();
  assert.is(inspect(big), "Tensor f32[1000] on cpu");
  const w = param([1, 2], { name: "w" });
  assert.is(inspect(w), "Parameter w f32[2]");
  await w.data();
  assert.is(inspect({ w }), "{ w: Parameter w f32[2] [1,2] }");
});

test("item of many elements is refused", async () => {
  const error = await rejection(tensor([1, 2]).add(1).item());
  assert.instance(error, ShapeError);
  assert.is(
    error.message,
    "item: array must have one element, [2] has 2\n  read all of them with data()",
  );
});

test("a tensor that depends on an input has no value", async () => {
  const error = await rejection(input("x", "f32", [2]).add(1).data());
  assert.instance(error, GraphError);
  assert.is(error.message, "data: input x has a value only while the compiled function runs");
});

test.run();
