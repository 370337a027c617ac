/**
 * Cells against the layers of the same weights, which are checked against PyTorch; the other GRU against its formula; resizing as a layer.
 */
import { evaluate, grad, input, interpolate, makeValue, type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

const wave = (shape: readonly number[], by = 1): Tensor =>
  tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) =>
      Math.sin(1.3 * i + by),
    ),
    { shape },
  );

const near = (a: Tensor, b: Tensor, what: string): void => {
  const [x, y] = evaluate([a, b]);
  assert.equal(x!.shape, y!.shape, what);
  for (const [i, v] of x!.data.entries())
    assert.ok(
      Math.abs(v - y!.data[i]!) < 1e-6,
      `${what}: element ${i} is ${v}, want ${y!.data[i]}`,
    );
};

const x = wave([2, 3, 4]);
const at = (t: number): Tensor => x.get(":", t);

test("cells, step by step, give what the layers of their weights give", () => {
  const pairs = [
    [new nn.RNN(4, 5), new nn.RNNCell(4, 5)],
    [new nn.GRU(4, 5), new nn.GRUCell(4, 5)],
    [new nn.GRU(4, 5, { resetAfter: false }), new nn.GRUCell(4, 5, { resetAfter: false })],
  ] as const;
  for (const [layer, cell] of pairs) {
    const own = Object.entries(layer.weights).map(
      ([name, t]) => [name.replace("forwards.0.", ""), t] as const,
    );
    for (const [name, t] of own) (cell as unknown as Record<string, Tensor>)[name] = t;
    let h: Tensor | undefined;
    for (const t of [0, 1, 2]) h = cell.forward(at(t), h);
    near(h!, layer.forward(x).state[0]!.get(0), cell.constructor.name);
  }
});

test("an LSTM cell carries h and c", () => {
  const [layer, cell] = [new nn.LSTM(4, 5), new nn.LSTMCell(4, 5)];
  for (const [name, t] of Object.entries(layer.weights))
    (cell as unknown as Record<string, Tensor>)[name.replace("forwards.0.", "")] = t;
  let state: nn.LstmState | undefined;
  for (const t of [0, 1, 2]) state = cell.forward(at(t), state);
  const { state: want } = layer.forward(x);
  near(state!.h, want[0]!.get(0), "h");
  near(state!.c, want[1]!.get(0), "c");
});

test("a GRU whose reset gate stands before the product is that of the paper", () => {
  const cell = new nn.GRUCell(1, 1, { resetAfter: false, bias: false });
  const [wr, wz, wn] = [0.5, -0.25, 0.75];
  const [ur, uz, un] = [0.3, 0.6, -0.9];
  const own = cell as unknown as Record<string, Tensor>;
  own.weightInput = tensor([[wr], [wz], [wn]]);
  own.weightHidden = tensor([[ur], [uz], [un]]);
  const [v, h] = [0.8, -0.4];
  const sigmoid = (t: number) => 1 / (1 + Math.exp(-t));
  const [r, z] = [sigmoid(wr * v + ur * h), sigmoid(wz * v + uz * h)];
  const n = Math.tanh(wn * v + un * (r * h));
  near(cell.forward(tensor([[v]]), tensor([[h]])), tensor([[(1 - z) * n + z * h]]), "h");
});

test("cells refuse a state that does not fit", () => {
  assert.throws(
    () => new nn.LSTMCell(4, 5).forward(at(0), { h: wave([2, 4]), c: wave([2, 5]) }),
    (e: Error) =>
      e.message ===
      "lstmCell: state must be [2,5], got [2,4]\n  pass what the cell returned, or leave it out for zeros",
  );
});

test("Upsample is interpolate, with its gradient", () => {
  const image = input("x", "f32", [1, 2, 3, 3]);
  const y = new nn.Upsample({ scale: 2, mode: "linear" }).forward(image);
  const given = wave([1, 2, 3, 3]);
  const options = { scale: 2, mode: "linear" } as const;
  near(new nn.Upsample(options).forward(given), interpolate(given, options), "upsample");
  const [g] = grad(y.sum(), [image]);
  const value = makeValue("f32", [1, 2, 3, 3], new Array(18).fill(1));
  const [total] = evaluate([g!.sum()], { inputs: new Map([[image, value]]) });
  assert.ok(Math.abs(total!.data[0]! - 72) < 1e-4);
});

test.run();
