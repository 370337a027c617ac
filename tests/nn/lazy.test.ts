/**
 * Layers without the size of their input: the layer of that size once they have seen one, and one
 * line of remedy before.
 */
import { dim, GraphError, input, ShapeError, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { HiddenOf } from "./adapted-layers.ts";

/** The steps of a recurrent layer, as a layer of one result. */
const yOf = (layer: nn.RNN): OneInput => new nn.Sequential(layer);

type OneInput = nn.Module & { forward(x: Tensor): Tensor };

/** The layer without and with its size, and an input. */
const pairs: Record<string, readonly [lazy: () => OneInput, own: () => OneInput, shape: number[]]> =
  {
    Linear: [() => new nn.Linear(4), () => new nn.Linear(3, 4), [2, 3]],
    "Linear without a bias": [
      () => new nn.Linear(4, { bias: false }),
      () => new nn.Linear(3, 4, { bias: false }),
      [2, 3],
    ],
    Conv1d: [() => new nn.Conv1d(4, 3), () => new nn.Conv1d(2, 4, 3), [1, 2, 5]],
    Conv2d: [
      () => new nn.Conv2d(4, [3, 1], { padding: "same", groups: 2 }),
      () => new nn.Conv2d(2, 4, [3, 1], { padding: "same", groups: 2 }),
      [1, 2, 5, 5],
    ],
    Conv3d: [() => new nn.Conv3d(4, 2), () => new nn.Conv3d(1, 4, 2), [1, 1, 3, 3, 3]],
    ConvTranspose1d: [
      () => new nn.ConvTranspose1d(4, 3),
      () => new nn.ConvTranspose1d(2, 4, 3),
      [1, 2, 5],
    ],
    ConvTranspose2d: [
      () => new nn.ConvTranspose2d(4, 3, { stride: 2 }),
      () => new nn.ConvTranspose2d(2, 4, 3, { stride: 2 }),
      [1, 2, 3, 3],
    ],
    ConvTranspose3d: [
      () => new nn.ConvTranspose3d(1, 2),
      () => new nn.ConvTranspose3d(2, 1, 2),
      [1, 2, 2, 2, 2],
    ],
    BatchNorm1d: [() => new nn.BatchNorm1d(), () => new nn.BatchNorm1d(3), [4, 3]],
    BatchNorm2d: [
      () => new nn.BatchNorm2d({ momentum: null }),
      () => new nn.BatchNorm2d(3, { momentum: null }),
      [2, 3, 2, 2],
    ],
    BatchNorm3d: [() => new nn.BatchNorm3d(), () => new nn.BatchNorm3d(2), [2, 2, 2, 2, 2]],
    InstanceNorm1d: [
      () => new nn.InstanceNorm1d({ affine: true }),
      () => new nn.InstanceNorm1d(3, { affine: true }),
      [2, 3, 4],
    ],
    LayerNorm: [() => new nn.LayerNorm(), () => new nn.LayerNorm(3), [2, 3]],
    "LayerNorm without gain": [
      () => new nn.LayerNorm({ affine: false }),
      () => new nn.LayerNorm(3, { affine: false }),
      [2, 3],
    ],
    RmsNorm: [() => new nn.RmsNorm({ eps: 1e-3 }), () => new nn.RmsNorm(3, { eps: 1e-3 }), [2, 3]],
    GroupNorm: [() => new nn.GroupNorm(2), () => new nn.GroupNorm(2, 4), [2, 4, 3]],
    RNN: [() => yOf(new nn.RNN(4)), () => yOf(new nn.RNN(3, 4)), [1, 2, 3]],
    GRU: [
      () => yOf(new nn.GRU(2, { layers: 2, bidirectional: true })),
      () => yOf(new nn.GRU(3, 2, { layers: 2, bidirectional: true })),
      [1, 2, 3],
    ],
    LSTM: [
      () => yOf(new nn.LSTM(2, { projSize: 1 })),
      () => yOf(new nn.LSTM(3, 2, { projSize: 1 })),
      [1, 2, 3],
    ],
    RNNCell: [() => new nn.RNNCell(2), () => new nn.RNNCell(3, 2), [1, 3]],
    GRUCell: [
      () => new nn.GRUCell(2, { resetAfter: false }),
      () => new nn.GRUCell(3, 2, { resetAfter: false }),
      [1, 3],
    ],
    LSTMCell: [
      () => new HiddenOf(new nn.LSTMCell(2)),
      () => new HiddenOf(new nn.LSTMCell(3, 2)),
      [1, 3],
    ],
    InstanceNorm2d: [() => new nn.InstanceNorm2d(), () => new nn.InstanceNorm2d(3), [2, 3, 2, 2]],
    InstanceNorm3d: [
      () => new nn.InstanceNorm3d({ trackRunningStats: true }),
      () => new nn.InstanceNorm3d(2, { trackRunningStats: true }),
      [2, 2, 2, 2, 2],
    ],
  };

for (const [name, [lazy, own, shape]] of Object.entries(pairs)) {
  test(`${name}: the first input makes it the layer of that size, to the bit`, async () => {
    const size = shape.reduce((a, b) => a * b, 1);
    const x = { data: Float32Array.from({ length: size }, (_, i) => Math.sin(i)), shape };
    const run = (layer: OneInput) => compile((t: Tensor) => layer.forward(t), { target: "js" });
    nn.seed(5);
    const [a, b] = [lazy(), own()];
    const want = await (await run(b)(x)).data();
    nn.seed(5);
    const got = await (await run(a)(x)).data();
    assert.equal(got, want);
    const types = (m: OneInput) =>
      [...m.state()].map(([path, t]) => `${path} ${t.dtype}${t.shape}`);
    assert.equal(types(a), types(b));
    assert.is(String(a), String(b));
  });

  test(`${name}: before that it has no parameters, and says what to do`, () => {
    const layer = lazy();
    assert.match(String(layer), /\(not built\)/);
    assert.throws(
      () => layer.parameters(),
      (e: Error) =>
        e instanceof GraphError &&
        e.message.endsWith(
          ": the layer is not built, the size of its input is unknown\n  call forward or nn.build(net, [shape]) first, or give the size to the constructor, or an Input to the Sequential",
        ),
    );
  });
}

test("build makes a network whole from the shape of its input, symbols in the batch", () => {
  const net = new nn.Sequential(
    new nn.Conv2d(8, 3),
    new nn.BatchNorm2d(),
    new nn.ReLU(),
    new nn.Flatten(),
    new nn.Linear(10),
  );
  nn.build(net, [dim("B"), 1, 6, 6]);
  assert.is(net.parameterCount, 8 * 9 + 8 + 16 + 128 * 10 + 10);
  assert.is(new optim.Adam(net.parameters(), { lr: 0.1 }).checkpoint().size > 0, true);
  assert.equal([...net.state().keys()].slice(0, 3), ["0.weight", "0.bias", "1.weight"]);
});

test("a size that is a symbol does not do", () => {
  assert.throws(
    () => new nn.Linear(4).forward(input("x", "f32", [2, "N"])),
    (e: Error) =>
      e instanceof ShapeError &&
      e.message ===
        "linear: the layer takes its size from axis -1 of [2,N], which is no number\n  give the size to the constructor",
  );
});

test("sizes and options are checked as they were", () => {
  assert.throws(() => new nn.Linear(0), /outputs must be an integer of 1 or more, got 0/);
  assert.throws(() => new nn.Linear(2, 1.5), /outputs must be an integer of 1 or more, got 1.5/);
  assert.throws(() => new nn.Conv2d(4, 3, { strides: 2 } as object), /there is no option strides/);
  assert.throws(() => new nn.BatchNorm2d({ epsilon: 1 } as object), /there is no option epsilon/);
});

test.run();
