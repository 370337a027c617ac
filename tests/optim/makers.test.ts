/** Optimizers by their options alone: the same as the classes, to the bit. */
import { compile, nn, optim, setDefaultTarget, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));

type Make = (params: Tensor[]) => optim.Optimizer;

/** The weights after three steps. */
async function learnt(make: Make): Promise<number[]> {
  nn.seed(3);
  const net = new nn.Linear(3, 2);
  const opt = make(net.parameters());
  const step = compile((x: Tensor) => opt.step(net.forward(x).square().sum()));
  for (let i = 0; i < 3; i++) await step([[1, 2, i]]);
  return [...(await net.weight.data())];
}

const pairs: Readonly<Record<string, readonly [Make, Make]>> = {
  sgd: [optim.sgd({ lr: 0.1, momentum: 0.9 }), (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9 })],
  adam: [optim.adam({ lr: 0.1, eps: 1e-6 }), (p) => new optim.Adam(p, { lr: 0.1, eps: 1e-6 })],
  adamW: [optim.adamW({ lr: 0.1 }), (p) => new optim.AdamW(p, { lr: 0.1 })],
  rmsProp: [optim.rmsProp({ lr: 0.1 }), (p) => new optim.RMSProp(p, { lr: 0.1 })],
};

for (const [name, [made, own]] of Object.entries(pairs))
  test(`${name}(options) makes what its class makes`, async () => {
    assert.equal(await learnt(made), await learnt(own));
  });

test("an option that there is not is refused at once", () => {
  assert.throws(
    () => optim.adamW({ lr: 0.1, weightdecay: 0.1 } as never),
    (error: Error) =>
      error.message === "adamw: there is no option weightdecay\n  did you mean weightDecay?",
  );
});

test.run();
