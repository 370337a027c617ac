/**
 * Compiled functions whose modules are set to train or to evaluate between calls: each call means what the function would
 * define at that moment, and each way is compiled once.
 */

import fc from "fast-check";
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

class Net extends nn.Module {
  fc = new nn.Linear(3, 4);
  norm = new nn.BatchNorm1d(4);
  drop = new nn.Dropout(0.5);
  override forward(x: Tensor): Tensor {
    return this.drop.forward(this.norm.forward(this.fc.forward(x)));
  }
}
const rows = (n: number) => ({
  data: Float32Array.from({ length: 3 * n }, (_, i) => Math.sin(i * 1.3)),
  shape: [n, 3],
});

test("eval() and train() reach functions that were compiled before", async () => {
  for (const inputs of [undefined, [["N", 3]]]) {
    nn.seed(1);
    const net = new Net();
    const f = compile(
      (x: Tensor) => net.forward(x),
      inputs ? { inputs: inputs as [string, number][] } : {},
    );
    const [a, b] = [await (await f(rows(4))).data(), await (await f(rows(4))).data()];
    assert.not.equal(a, b, "dropout draws anew");
    const mean = await net.norm.runningMean!.data();
    net.eval();
    const [c, d] = [await (await f(rows(4))).data(), await (await f(rows(4))).data()];
    assert.equal(c, d);
    assert.equal(await net.norm.runningMean!.data(), mean);
    assert.is(f.compiles, 2);
    net.train();
    await f(rows(4));
    assert.not.equal(await net.norm.runningMean!.data(), mean);
    assert.is(f.compiles, 2);
  }
});

test("a part of a model may be set alone", async () => {
  const net = new Net();
  const f = compile((x: Tensor) => net.forward(x));
  await f(rows(2));
  const mean = await net.norm.runningMean!.data();
  net.norm.eval();
  assert.not.equal(await (await f(rows(2))).data(), await (await f(rows(2))).data());
  assert.equal(await net.norm.runningMean!.data(), mean);
});

test("whatever the order of modes and extents, a call gives what a function compiled for it gives", async () => {
  const call = fc.record({ training: fc.boolean(), rows: fc.integer({ min: 2, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 6 }), async (calls) => {
      const make = () => {
        nn.seed(7);
        return new Net();
      };
      const [kept, fresh] = [make(), make()];
      const f = compile((x: Tensor) => kept.forward(x), { target: "js" });
      for (const { training, rows: n } of calls) {
        kept.train(training);
        fresh.train(training);
        const once = compile((x: Tensor) => fresh.forward(x), { target: "js" });
        assert.equal(await (await f(rows(n))).data(), await (await once(rows(n))).data());
      }
      assert.ok(f.compiles <= 6, `${f.compiles} programs`);
    }),
    { numRuns: runs(8) },
  );
});

test("a mode that the function sets itself is its own affair", async () => {
  const net = new Net();
  const f = compile((x: Tensor) => {
    net.eval();
    return net.forward(x);
  });
  for (let i = 0; i < 3; i++) {
    net.train();
    await f(rows(2));
  }
  assert.is(f.compiles, 1);
});

test("what asks for no mode is not compiled again", async () => {
  const net = new nn.Sequential([new nn.Linear(3, 2), new nn.ReLU()]);
  const opt = new optim.SGD(net.parameters(), { lr: 0.1 });
  const step = compile((x: Tensor) => {
    const loss = net.forward(x).square().mean();
    opt.step(loss);
    return loss;
  });
  for (let i = 0; i < 3; i++) {
    net.train(i % 2 === 0);
    await step(rows(2));
  }
  assert.is(step.compiles, 1);
});

test("an artifact of a function that was called is that of its mode now", async () => {
  const net = new Net();
  const f = compile((x: Tensor) => net.forward(x), { target: "js" });
  await f(rows(2));
  net.eval();
  const { signature } = await f.artifact();
  assert.ok(signature.states.every((s) => !s.written));
  assert.equal(
    signature.inputs.map((i) => i.shape),
    [[2, 3]],
  );
});

test.run();
