/**
 * Modules: names, counts, modes, freezing, loading and printing.
 */
import { GraphError, param, type Tensor, tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

class Block extends nn.Module {
  readonly fc = new nn.Linear(3, 3);
  readonly norm = new nn.BatchNorm1d(3);
  override forward(x: Tensor): Tensor {
    return this.norm.forward(this.fc.forward(x)).relu();
  }
}

class Net extends nn.Module {
  readonly blocks = [new Block(), new Block()];
  readonly heads = { main: new nn.Linear(3, 2, { bias: false }) };
  readonly scale = param(tensor([1]));
  override forward(x: Tensor): Tensor {
    const y = this.blocks.reduce((t, block) => block.forward(t), x);
    return this.heads.main.forward(y).mul(this.scale);
  }
}

const trainable = [
  "scale",
  "blocks.0.fc.weight",
  "blocks.0.fc.bias",
  "blocks.0.norm.weight",
  "blocks.0.norm.bias",
  "blocks.1.fc.weight",
  "blocks.1.fc.bias",
  "blocks.1.norm.weight",
  "blocks.1.norm.bias",
  "heads.main.weight",
];

test("parameters are named by their path through fields, arrays and records", () => {
  const net = new Net();
  assert.equal([...net.namedParameters().keys()], trainable);
  assert.equal(
    net.parameters().map((p) => p.attrs.name),
    trainable,
  );
});

test("a walk from further down does not shorten a name", () => {
  const net = new Net();
  net.parameters();
  assert.equal([...net.blocks[0]!.namedParameters().keys()][0], "fc.weight");
  assert.is(net.blocks[0]!.fc.weight.attrs.name, "blocks.0.fc.weight");
});

test("state holds buffers too, and parameters do not", () => {
  const net = new Net();
  const buffers = [0, 1].flatMap((i) =>
    ["runningMean", "runningVar"].map((name) => `blocks.${i}.norm.${name}`),
  );
  assert.equal([...net.buffers().keys()], buffers);
  assert.equal(new Set(net.state().keys()), new Set([...trainable, ...buffers]));
  assert.is(net.weights.scale, net.scale);
});

test("a shared parameter is listed once, under its first name", () => {
  class Tied extends nn.Module {
    readonly embedding = new nn.Embedding(4, 2);
    readonly out = { weight: this.embedding.weight };
    override forward(x: Tensor): Tensor {
      return this.embedding.forward(x).matmul(this.out.weight.transpose([1, 0]));
    }
  }
  const names = [...new Tied().state().keys()];
  assert.is(names.length, 1);
});

test("a module that refers back to its parent is walked and printed", () => {
  const child = new Block() as Block & { parent?: nn.Module };
  const net = new nn.Sequential(child);
  child.parent = net;
  assert.is(net.parameters().length, 4);
  assert.match(String(net), /parent: \(above\)/);
});

test("eval and train reach every module", () => {
  const net = new Net().eval();
  assert.ok(net.map((m) => m.training).every((on) => !on));
  assert.ok(
    net
      .train()
      .map((m) => m.training)
      .every(Boolean),
  );
});

test("frozen parameters leave the list to train and stay in the state", () => {
  const net = new Net();
  net.blocks[0]!.freeze();
  assert.is(net.parameters().length, trainable.length - 4);
  assert.is(net.state().size, trainable.length + 4);
  net.unfreeze();
  assert.is(net.parameters().length, trainable.length);
});

test("load assigns by name and refuses names that differ", () => {
  const layer = new nn.Linear(1, 1);
  const values = { weight: tensor([[2]]), bias: tensor([3]) };
  const { updates } = trace(() => layer.load(values));
  assert.is(updates.get(layer.weight), values.weight);
  assert.throws(
    () => layer.load({ weight: values.weight, biass: values.bias }),
    (e: unknown) =>
      e instanceof GraphError &&
      e.message === "load: names differ: missing [bias], unknown [biass]",
  );
});

test("printing shows the tree with shapes and counts", () => {
  const net = new nn.Sequential(
    new nn.Conv2d(1, 4, 3, { padding: 1, stride: 2 }),
    new nn.BatchNorm2d(4, { affine: false }),
    new nn.ReLU(),
    new nn.Flatten(),
    new nn.Linear(784, 10),
  );
  net.layers[0]!.freeze();
  assert.is(
    String(net),
    `Sequential (7,890 parameters)
  0: Conv2d 1 → 4, 3×3 stride 2×2 padding 1×1 (40 parameters)
    weight f32[4,1,3,3] frozen
    bias f32[4] frozen
  1: BatchNorm2d 4 (0 parameters)
    runningMean f32[4] buffer
    runningVar f32[4] buffer
  2: ReLU (0 parameters)
  3: Flatten (0 parameters)
  4: Linear 784 → 10 (7,850 parameters)
    weight f32[10,784]
    bias f32[10]`,
  );
});

test.run();
