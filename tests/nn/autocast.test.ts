/**
 * Mixed precision: what a scope makes of products, sums and losses, that gradients arrive in the dtype of their parameters, and
 * that nothing outside a scope, or built before it, changes.
 */
import {
  convolution,
  DtypeError,
  evaluate,
  GraphError,
  grad,
  input,
  param,
  type Tensor,
  tensor,
  topologicalOrder,
  trace,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

const x = input("x", "f32", [4, 6]);
const w = param(tensor(new Float32Array(30), { shape: [6, 5] }), { name: "w" });
const numberOf = (t: Tensor): number => evaluate([t])[0]!.data[0]!;

for (const half of ["f16", "bf16"] as const) {
  test(`${half}: products take and give halves, wherever they are written`, () => {
    const y = nn.autocast(half, () => x.matmul(w));
    assert.is(y.dtype, half);
    assert.equal(
      y.operands.map((t) => [t.op, t.dtype]),
      [
        ["convert", half],
        ["convert", half],
      ],
    );
    const images = input("images", "f32", [2, 3, 5, 5]);
    const kernel = input("kernel", "f32", [4, 3, 3, 3]);
    assert.is(nn.autocast(half, () => convolution(images, kernel)).dtype, half);
    const mixed = nn.autocast(half, () => x.convert(half).matmul(w));
    assert.is(mixed, y, "a half stays as it is");
    const linear = new nn.Linear(6, 5);
    assert.is(nn.autocast(half, () => linear.forward(x)).dtype, half);
  });

  test(`${half}: sums, exponentials and losses are f32, other ops follow their operands`, () => {
    nn.autocast(half, () => {
      const y = x.matmul(w);
      for (const t of [y.sum(), y.mean(0), y.variance(), y.softmax(), y.logSumExp(), y.cumsum(0)])
        assert.is(t.dtype, "f32");
      for (const t of [y.exp(), y.log(), y.pow(2), y.rsqrt(), y.reciprocal()])
        assert.is(t.dtype, "f32");
      for (const t of [y.relu(), y.add(y), y.mul(2), y.max(0), y.sigmoid(), y.transpose([1, 0])])
        assert.is(t.dtype, half);
      assert.is(y.add(input("r", "f32", [4, 5])).dtype, "f32");
      const target = input("t", "i32", [4]);
      assert.is(nn.crossEntropy(y, target).dtype, "f32");
      for (const loss of [nn.mse, nn.l1, nn.huber, nn.smoothL1, nn.bce, nn.bceWithLogits])
        assert.is(loss(y, y.add(1), { reduction: "none" }).dtype, "f32");
    });
  });

  test(`${half}: the gradient of an f32 parameter is f32, in the scope and out of it`, () => {
    const net = new nn.Sequential(new nn.Linear(6, 5), new nn.ReLU(), new nn.Linear(5, 3));
    const lossOf = () => nn.crossEntropy(net.forward(x), input("t", "i32", [4]));
    const loss = nn.autocast(half, lossOf);
    const outside = grad(loss, net.parameters());
    assert.ok(outside.every((g) => g.dtype === "f32"));
    // Inside, the same gradient: a scope does not reach into what is built.
    assert.equal(
      nn.autocast(half, () => grad(loss, net.parameters())),
      outside,
    );
    const plain = lossOf();
    const full = grad(plain, net.parameters());
    assert.equal(
      nn.autocast(half, () => grad(plain, net.parameters())),
      full,
    );
  });
}

test("normalisations compute in f32: squares of halves do not overflow", () => {
  const big = tensor([300, -300, 500, -400], { shape: [2, 2], dtype: "f16" });
  for (const layer of [
    new nn.LayerNorm(2),
    new nn.RmsNorm(2),
    new nn.GroupNorm(1, 2),
    new nn.BatchNorm1d(2),
  ]) {
    const { value } = trace(() => nn.autocast("f16", () => layer.forward(big)));
    assert.is(value.dtype, "f32");
    assert.ok(evaluate([value])[0]!.data.every((v) => Math.abs(v) < 2));
  }
  assert.is(
    nn.autocast("f16", () => numberOf(nn.mse(big, big.mul(0)))),
    (300 ** 2 * 2 + 500 ** 2 + 400 ** 2) / 4,
  );
});

test("recurrent layers give f32, whatever comes in and with no bias too", () => {
  for (const Layer of [nn.RNN, nn.GRU, nn.LSTM])
    for (const bias of [true, false])
      for (const dtype of ["f16", "f32"] as const)
        for (const scope of ["f16", "bf16", "f32"] as const) {
          const layer = new Layer(6, 5, { bias, layers: 2 });
          const sequence = input("sequence", dtype, [2, 3, 6]);
          const { y, state } = nn.autocast(scope, () => layer.forward(sequence));
          const again = nn.autocast(scope, () => layer.forward(sequence, { state }));
          for (const t of [y, ...state, again.y]) assert.is(t.dtype, "f32");
        }
});

test("scopes nest, end with an error too, and f32 is none", () => {
  const product = () => x.matmul(w).dtype;
  nn.autocast("f16", () => {
    assert.is(nn.autocast("bf16", product), "bf16");
    assert.is(nn.autocast("f32", product), "f32");
    assert.is(product(), "f16");
    assert.throws(() =>
      nn.autocast("bf16", () => {
        throw new Error("on the way");
      }),
    );
    assert.is(product(), "f16");
  });
  assert.is(product(), "f32");
});

test("f64 and integers are left alone, and sums of halves outside a scope", () => {
  const d = input("d", "f64", [6, 6]);
  const i = input("i", "i32", [6, 6]);
  const h = input("h", "f16", [6, 6]);
  nn.autocast("f16", () => {
    assert.is(d.matmul(d).dtype, "f64");
    assert.is(i.matmul(i).dtype, "i32");
  });
  assert.is(h.sum().dtype, "f16");
  assert.is(h.exp().dtype, "f16");
  assert.is(h.softmax().dtype, "f16");
});

test("other dtypes and promises are refused", () => {
  const fails = (
    define: () => unknown,
    kind: typeof GraphError | typeof DtypeError,
    message: string,
  ) => {
    try {
      define();
    } catch (error) {
      assert.instance(error, kind);
      assert.is((error as Error).message, message);
      return;
    }
    assert.unreachable("nothing was thrown");
  };
  fails(
    () => nn.autocast("f64" as "f32", () => 0),
    DtypeError,
    "autocast: dtype must be f16, bf16, f32, got f64",
  );
  fails(
    () => nn.autocast("f16", async () => 0),
    GraphError,
    "autocast: the function gives a promise, it must give what it built",
  );
});

test("attention takes its softmax in f32 and gives a half", () => {
  const q = input("q", "f32", [2, 8, 4]);
  const y = nn.autocast("f16", () => nn.attention(q, q, q, { causal: true }));
  assert.is(y.dtype, "f16");
  const exps = topologicalOrder([y]).filter((t) => t.op === "exp");
  assert.equal(
    exps.map((t) => t.dtype),
    ["f32"],
  );
});

test.run();
