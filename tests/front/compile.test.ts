/** Functions of tensors as programs: what they take, what they return, what they share. */
import { compile, GraphError, nn, optim, param, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { labels, Net, rejection, rows } from "./net.ts";

test("arguments may be tensors, numbers, lists, typed arrays and shaped arrays, in any tree", async () => {
  const f = compile(
    (a: Tensor, { b, more }: { b: Tensor; more: Tensor[] }) => a.add(b).mul(more[0]!).sub(more[1]!),
    { target: "js" },
  );
  const y = await f(tensor([1, 2]), {
    b: Float32Array.of(3, 4),
    more: [2, { data: Float32Array.of(1, 1), shape: [2] }],
  });
  assert.equal([...(await y.data())], [7, 11]);
});

test("results keep their tree, and what is no tensor in it", async () => {
  const f = compile((x: Tensor) => ({ sum: x.sum(), parts: [x, x.mul(2)], name: "f", n: 3 }));
  const { sum, parts, name, n } = await f([1, 2, 3]);
  assert.is(await sum.item(), 6);
  assert.equal([...(await parts[1]!.data())], [2, 4, 6]);
  assert.equal([...(await parts[0]!.data())], [1, 2, 3]);
  assert.is(name, "f");
  assert.is(n, 3);
});

test("a function without tensors in its result runs for its assignments", async () => {
  const count = param(0, { name: "count", trainable: false });
  const { assign } = await import("kiln-ml");
  const tick = compile(() => {
    assign(count, count.add(1));
  });
  await tick();
  await tick();
  assert.is(await count.item(), 2);
});

test("a result feeds the next call and further graphs", async () => {
  const double = compile((x: Tensor) => x.mul(2));
  const once = await double([1, 2]);
  const twice = await double(once);
  assert.equal([...(await twice.data())], [4, 8]);
  assert.equal([...(await twice.add(once).data())], [6, 12]);
  assert.is(double.compiles, 1);
});

test("tensors that the function closes over are uploaded once and may be lazy", async () => {
  const table = tensor([10, 20, 30]);
  const lazy = table.add(1);
  const f = compile((x: Tensor) => x.add(lazy));
  assert.equal([...(await (await f([1, 2, 3])).data())], [12, 23, 34]);
});

test("a parameter that is returned after an assignment has the new value", async () => {
  const { assign } = await import("kiln-ml");
  const w = param([1, 2], { name: "w" });
  const f = compile((x: Tensor) => {
    const before = w.mul(1);
    assign(w, w.add(x));
    return { before, after: w };
  });
  const { before, after } = await f([10, 20]);
  assert.equal([...(await before.data())], [1, 2]);
  assert.equal([...(await after.data())], [11, 22]);
  await f([10, 20]);
  // The result of the first run is a copy.
  assert.equal([...(await after.data())], [11, 22]);
  assert.equal([...(await w.data())], [21, 42]);
});

test("a training step and a prediction share parameters", async () => {
  const net = new Net();
  const opt = new optim.SGD(net.parameters(), { lr: 0.5 });
  const step = compile((x: Tensor, y: Tensor) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    opt.step(loss);
    return loss;
  });
  const predict = compile((x: Tensor) => net.forward(x));
  const before = await (await predict(rows(3))).data();
  const first = await (await step(rows(3), labels(3))).item();
  for (let i = 0; i < 20; i++) await step(rows(3), labels(3));
  const after = await (await predict(rows(3))).data();
  assert.ok(before.some((v, i) => Math.abs(v - after[i]!) > 1e-3));
  const last = await (await step(rows(3), labels(3))).item();
  assert.ok(last < first / 2, `${last} after ${first}`);
  assert.is(step.compiles, 1);
  assert.is(predict.compiles, 1);
});

test("calls without await run in the order they were made", async () => {
  const { assign } = await import("kiln-ml");
  const w = param(1, { name: "w" });
  const f = compile((x: Tensor) => {
    assign(w, w.mul(2).add(x));
    return w;
  });
  const results = await Promise.all([f(0), f(1), f(0)]);
  assert.equal(await Promise.all(results.map((t) => t.item())), [2, 5, 10]);
});

test("a read sees the value at its place in the order", async () => {
  const { assign } = await import("kiln-ml");
  const w = param(1, { name: "w" });
  const grow = compile(() => assign(w, w.add(1)));
  await grow();
  const reads = [w.item(), grow(), w.data(), grow(), w.item()] as const;
  const [a, , b, , c] = await Promise.all(reads);
  assert.equal([a, ...b, c], [2, 3, 4]);
});

test("initial values that are equal graphs give arrays of their own", async () => {
  const { assign, zeros } = await import("kiln-ml");
  const a = param(zeros([2]), { name: "a" });
  const b = param(zeros([2]), { name: "b" });
  await compile(() => assign(a, a.add(b).add(1)))();
  assert.equal([...(await a.data())], [1, 1]);
  assert.equal([...(await b.data())], [0, 0]);
});

test("declared inputs give typed arrays their shape and convert integers", async () => {
  const f = compile((x: Tensor, i: Tensor) => x.sum(1).add(i.convert("f32")), {
    inputs: [["N", 2], { shape: ["N"], dtype: "i32" }],
  });
  const y = await f(Float32Array.of(1, 2, 3, 4), Uint8Array.of(10, 20));
  assert.equal([...(await y.data())], [13, 27]);
  assert.equal([...(await (await f([[1, 1]], [5])).data())], [7]);
  assert.is(f.compiles, 1);
});

test("fusion and rounding are options", async () => {
  const f = (x: Tensor) => x.add(1).mul(2).exp();
  const fused = await compile(f, { name: "fused" }).artifact({ inputs: [[4]] });
  const apart = await compile(f, { fusion: false, rounding: "each-op" }).artifact({
    inputs: [[4]],
  });
  assert.is(fused.plan.steps.length, 1);
  assert.is(apart.plan.steps.length, 3);
  assert.is(fused.name, "fused");
});

test("a function that returns a promise is refused", async () => {
  const f = compile(async (x: Tensor) => x.add(1));
  const error = await rejection(f([1]));
  assert.instance(error, GraphError);
  assert.is(
    error.message,
    "compile: the function returns a promise, it must return tensors\n  await data before the call, not in the function",
  );
});

test("profile runs once and times every kernel", async () => {
  const { assign } = await import("kiln-ml");
  const w = param(1, { name: "w" });
  const f = compile((x: Tensor) => {
    assign(w, w.add(1));
    return x.exp().sum();
  });
  const timings = await f.profile([1, 2, 3]);
  assert.ok(timings.length >= 1);
  assert.is(await w.item(), 2);
});

test.run();
