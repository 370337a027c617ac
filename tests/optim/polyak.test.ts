/** Averages of models: against plain numbers, inside a training step, and what they refuse. */
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

class Net extends nn.Module {
  fc = new nn.Linear(2, 3);
  norm = new nn.BatchNorm1d(3);
  drop = new nn.Dropout(0.1);
  override forward(x: Tensor): Tensor {
    return this.drop.forward(this.norm.forward(this.fc.forward(x)));
  }
}
const values = async (net: nn.Module) =>
  Promise.all([...net.state().values()].map(async (t) => [...(await t.data())]));

test("a target follows what a step has just assigned", async () => {
  nn.seed(1);
  const [net, target] = [new Net(), new Net()];
  const opt = new optim.SGD(net.parameters(), { lr: 0.5 });
  const step = compile((x: Tensor) => {
    const loss = net.forward(x).square().mean();
    opt.step(loss);
    optim.polyak(target, net, 0.25);
    return loss;
  });
  for (let i = 0; i < 3; i++) {
    const before = await values(target);
    await step([
      [1, 2],
      [3, -1],
      [0.5, i],
    ]);
    const [now, source] = [await values(target), await values(net)];
    const names = [...net.state().keys()];
    for (const [k, name] of names.entries())
      for (const [j, v] of now[k]!.entries()) {
        const want =
          name === "drop.key" ? source[k]![j]! : before[k]![j]! * 0.75 + source[k]![j]! * 0.25;
        assert.ok(Math.abs(v - want) < 1e-6, `${name}[${j}]: ${v}, want ${want}`);
      }
  }
});

test("rate 1 copies, bit for bit; a rate may be a tensor", async () => {
  const [net, target] = [new Net(), new Net()];
  await compile(() => optim.polyak(target, net, 1))();
  assert.equal(await values(target), await values(net));
  const other = new Net();
  const move = compile((rate: Tensor) => optim.polyak(target, other, rate));
  await move(0);
  assert.equal(await values(target).then((v) => v.slice(0, 4)), (await values(net)).slice(0, 4));
});

test("other models and rates out of range are refused", () => {
  const refused = (run: () => unknown, message: string) =>
    assert.throws(run, (e: Error) => e.message === message);
  refused(
    () => optim.polyak(new nn.Linear(2, 3), new nn.Linear(2, 3, { bias: false }), 0.5),
    "polyak: only one of source and target has [bias]",
  );
  refused(
    () => optim.polyak(new nn.Linear(2, 3), new nn.Linear(2, 3), 1.5),
    "polyak: rate must be in [0, 1], got 1.5",
  );
});

test.run();
