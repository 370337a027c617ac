/** A source of batches that fills one buffer again and again: fit and evaluate see each batch as it was given. */
import { nn, optim, setDefaultTarget } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { quiet } from "./samples.ts";

type Source = (reused: boolean) => AsyncIterable<readonly unknown[]>;

/** Batches of two samples of three numbers, and what they are to give. */
const batches: Source = (reused) => ({
  async *[Symbol.asyncIterator]() {
    const own = [new Float32Array(6), new Float32Array(2)] as const;
    for (let k = 0; k < 5; k++) {
      const [x, y] = reused ? own : [new Float32Array(6), new Float32Array(2)];
      for (let i = 0; i < 6; i++) x[i] = Math.sin(3 * k + i);
      for (let i = 0; i < 2; i++) y[i] = Math.cos(k + i);
      yield [
        { data: x, shape: [2, 3] },
        { data: y, shape: [2, 1] },
      ];
    }
  },
});

async function learnt(reused: boolean): Promise<unknown> {
  nn.seed(3);
  const net = new nn.Linear(3, 1);
  const source = batches(reused);
  const history = await train.fit(net, source, {
    ...quiet,
    optimizer: (params) => new optim.SGD(params, { lr: 0.1 }),
    loss: nn.mse,
    epochs: 2,
    accumulate: 2,
  });
  const logs = await train.evaluate(net, source, { loss: nn.mse });
  const { data } = await train.predict(net, source);
  return [history.values("loss"), logs, [...data], [...(await net.weight.data())]];
}

for (const target of ["js", "wasm"] as const)
  test(`what a source writes into a buffer that it gave reaches no earlier step on ${target}`, async () => {
    setDefaultTarget(target);
    assert.equal(await learnt(true), await learnt(false));
    setDefaultTarget("auto");
  });

test.run();
