/**
 * Activations against PyTorch: values and gradients, at 0 and far from it too.
 */
import { grad, input, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { asValue, close, fixture, type Packed, Session, tensorOf } from "./fixture.ts";

interface ActivationCase {
  readonly x?: Packed;
  readonly y: Packed;
  readonly weights?: Packed;
  readonly dx: Packed;
}
const { x: common, ...cases } = fixture<{ x: Packed } & Record<string, ActivationCase>>(
  "activations",
);

const layers: Record<string, nn.Layer> = {
  relu: new nn.ReLU(),
  leakyRelu: new nn.LeakyReLU(0.1),
  elu: new nn.ELU(),
  selu: new nn.SELU(),
  celu: new nn.CELU(),
  gelu: new nn.GELU(),
  geluTanh: new nn.GELU("tanh"),
  silu: new nn.SiLU(),
  mish: new nn.Mish(),
  sigmoid: new nn.Sigmoid(),
  tanh: new nn.Tanh(),
  softplus: new nn.Softplus(),
  softsign: new nn.Softsign(),
  hardSigmoid: new nn.HardSigmoid(),
  hardSwish: new nn.HardSwish(),
  hardTanh: new nn.HardTanh(),
  relu6: new nn.ReLU6(),
  logSigmoid: new nn.LogSigmoid(),
  softmax: new nn.Softmax(),
  logSoftmax: new nn.LogSoftmax(),
};

for (const [name, c] of Object.entries(cases) as [string, ActivationCase][])
  test(`${name} agrees with PyTorch`, () => {
    const given = c.x ?? common;
    const x = input("x", "f32", given.shape);
    const weighted = (y: Tensor): Tensor => (c.weights ? y.mul(tensorOf(c.weights)) : y);
    const { value } = trace(() => {
      const y = layers[name]!.forward(x);
      return [y, ...grad(weighted(y).sum(), [x])];
    });
    const [y, dx] = new Session().run(value, new Map(), new Map([[x, asValue(given)]]));
    close("y", y!, c.y);
    close("dx", dx!, c.dx, 2e-6);
  });

test("an unknown activation is refused with the known names", () => {
  assert.throws(
    () => new nn.Dense(2, { activation: "rellu" as "relu" }),
    /unknown name "rellu"\n {2}known: linear, relu/,
  );
});

test.run();
