/**
 * Running state and inputs that have no value: outside of a compiled function a layer in training
 * mode leaves nothing behind that a later read would have to compute; with data it moves its state
 * as ever, and a trained parameter is never left as it was in silence.
 */
import {
  ambientUpdates,
  assign,
  GraphError,
  input,
  isKept,
  param,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import { nn, optim } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** A layer of the user that keeps the mean of what it saw. */
class Seen extends nn.Module {
  readonly mean = param([0, 0], { trainable: false });
  override forward(x: Tensor): Tensor {
    const mean = x.mean([0]);
    if (isKept(mean)) assign(this.mean, mean);
    return x.sub(this.mean);
  }
}

const withState: readonly (readonly [() => nn.Layer, readonly (number | string)[]])[] = [
  [() => new nn.BatchNorm1d(2), ["N", 2]],
  [() => new nn.BatchNorm1d({ momentum: null }), [4, 2, 3]],
  [() => new nn.BatchNorm2d(2), [4, 2, 3, 3]],
  [() => new nn.BatchNorm3d(2), [4, 2, 3, 3, 3]],
  [() => new nn.InstanceNorm1d(2, { trackRunningStats: true }), [4, 2, 3]],
  [() => new nn.InstanceNorm2d(2, { trackRunningStats: true }), [4, 2, 3, 3]],
  [() => new nn.InstanceNorm3d(2, { trackRunningStats: true }), [4, 2, 3, 3, 3]],
  [() => new Seen(), [4, 2]],
];

for (const [make, shape] of withState) {
  const name = `${make().constructor.name} of ${shape}`;
  test(`${name}: nothing is left of an input without a value`, async () => {
    const net = make();
    net.forward(input("x", "f32", shape));
    assert.is(ambientUpdates().size, 0);
    const state = [...net.buffers().values()];
    for (const t of state) for (const v of [await t.toList()].flat()) assert.ok(v === 0 || v === 1);
    assert.equal(await tensor([1, 2]).mul(2).toList(), [2, 4]);
  });
  test(`${name}: data moves the state`, async () => {
    const net = make();
    const extents = shape.map((d) => (typeof d === "number" ? d : 4));
    const size = extents.reduce((a, b) => a * b, 1);
    const x = tensor(Array.from({ length: size }, (_, i) => i + 3)).reshape(extents);
    await net.forward(x).data();
    const mean = await [...net.buffers()].find(([path]) => /mean/i.test(path))![1].toList();
    for (const v of mean as number[]) assert.ok(v > 0, `${v}`);
  });
}

test("a step of an input without a value is refused where it is taken", async () => {
  const layer = new nn.Linear(2, 1);
  const opt = new optim.SGD(layer.parameters(), { lr: 0.1 });
  const loss = layer.forward(input("x", "f32", [3, 2])).sum();
  assert.throws(() => opt.step(loss), (e: unknown) => e instanceof GraphError && /reads an input/.test(e.message)); // biome-ignore format: one line
  assert.is(ambientUpdates().size, 0);
  assert.is(((await layer.weight.toList()) as unknown[]).length, 1);
});

test.run();
