/**
 * Sequential in both habits, and layers that learn their sizes.
 */
import { dim, GraphError, input, ShapeError } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

test("layers are named by position and applied in order", () => {
  const net = new nn.Sequential(new nn.Linear(4, 3), (x) => x.relu(), new nn.Linear(3, 2));
  assert.equal([...net.state().keys()], ["0.weight", "0.bias", "2.weight", "2.bias"]);
  assert.equal(net.forward(input("x", "f32", [5, 4])).shape, [5, 2]);
});

test("a list is as good as arguments", () => {
  assert.is(new nn.Sequential([new nn.ReLU(), new nn.Tanh()]).layers.length, 2);
});

test("Dense takes its input size from an Input", () => {
  const net = new nn.Sequential()
    .add(new nn.Input([28, 28]))
    .add(new nn.Flatten())
    .add(new nn.Dense(16, { activation: "relu" }))
    .add(new nn.Dense(10));
  assert.equal(net.outputShape, [10]);
  assert.equal(net.weights["1.weight"]!.shape, [16, 784]);
  const n = dim("N");
  assert.equal(net.forward(input("x", "f32", [n, 28, 28])).shape, [n, 10]);
});

test("Dense without an Input is built by the first forward", () => {
  const net = new nn.Sequential(new nn.Dense(3));
  assert.throws(
    () => net.parameters(),
    (e: unknown) =>
      e instanceof GraphError &&
      e.message ===
        "0: the layer is not built, the size of its input is unknown\n  call forward or nn.build(net, [shape]) first, or give the size to the constructor, or an Input to the Sequential",
  );
  net.forward(input("x", "f32", [2, 7]));
  assert.equal(net.weights["0.weight"]!.shape, [3, 7]);
});

test("a layer that does not fit is refused when it is added", () => {
  const net = new nn.Sequential(new nn.Input([5]));
  assert.throws(
    () => net.add(new nn.Linear(4, 2)),
    (e: unknown) =>
      e instanceof ShapeError &&
      e.message ===
        "linear: inputs differ: layer has 4, input is [2,5] (in 0)\n  make the layer for what the input has there, or transpose the input",
  );
});

test("an Input must come first", () => {
  assert.throws(() => new nn.Sequential(new nn.ReLU(), new nn.Input([2])), /Input is entry 1/);
});

test.run();
