/** Whole models, exported and run elsewhere: layers, attention, convolutions, recurrences, branches and loops. */
import {
  concat,
  cond,
  constant,
  convert,
  input,
  iota,
  less,
  makeValue,
  param,
  scan,
  split,
  sum,
  type Tensor,
  take,
  tensor,
  whileLoop,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import { agrees, exportTest, feed, imported } from "./export-run.ts";

nn.seed(1);

exportTest("a multilayer perceptron with normalisation", async (engine) => {
  const model = new nn.Sequential(
    new nn.Linear(6, 16),
    new nn.ReLU(),
    new nn.BatchNorm1d(16),
    new nn.Linear(16, 8),
    new nn.GELU(),
    new nn.Dropout(0.5),
    new nn.Linear(8, 3),
  ).eval();
  const x = input("x", "f32", ["N", 6]);
  await agrees(engine, [model.forward(x).softmax(-1)], new Map([feed(x, [5, 6])]));
});

exportTest("a convolutional network", async (engine) => {
  const model = new nn.Sequential(
    new nn.Conv2d(1, 4, 3, { padding: 1 }),
    new nn.BatchNorm2d(4),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Conv2d(4, 8, 3, { stride: 2 }),
    new nn.SiLU(),
    new nn.AvgPool2d(2),
    new nn.Flatten(),
    new nn.Linear(8, 10),
  ).eval();
  const x = input("x", "f32", ["N", 1, 10, 10]);
  await agrees(engine, [model.forward(x)], new Map([feed(x, [2, 1, 10, 10])]));
});

exportTest("a transformer block on sequences of any length", async (engine) => {
  const [width, heads] = [8, 2];
  const attention = new nn.MultiHeadAttention(width, heads);
  const [norm1, norm2] = [new nn.LayerNorm(width), new nn.LayerNorm(width)];
  const mlp = new nn.Sequential(new nn.Linear(width, 16), new nn.GELU(), new nn.Linear(16, width));
  const embedding = new nn.Embedding(11, width);
  const tokens = input("tokens", "i32", ["B", "T"]);
  const x = embedding.forward(tokens);
  const h = x.add(attention.forward(norm1.forward(x), { causal: true }));
  const y = h.add(mlp.forward(norm2.forward(h)));
  await agrees(engine, [y], new Map([feed(tokens, [2, 5], [0, 11])]));
});

/** One step of an LSTM whose gates are i, f, g, o. */
function lstmStep(x: Tensor, h: Tensor, c: Tensor, w: Tensor, u: Tensor, b: Tensor) {
  const gates = x.matmul(w).add(h.matmul(u)).add(b);
  const [i, f, g, o] = split(gates, 4, 1) as [Tensor, Tensor, Tensor, Tensor];
  const cell = f.sigmoid().mul(c).add(i.sigmoid().mul(g.tanh()));
  return { h: o.sigmoid().mul(cell.tanh()), c: cell };
}

const [features, hidden] = [3, 4];
const w = param(nn.init.normal(0, 0.5)([features, 4 * hidden]), {
  name: "w",
  shape: [features, 4 * hidden],
});
const u = param(nn.init.normal(0, 0.5)([hidden, 4 * hidden]), {
  name: "u",
  shape: [hidden, 4 * hidden],
});
const b = param(nn.init.normal(0, 0.5)([4 * hidden]), { name: "b" });

exportTest("an LSTM, step by step", async (engine) => {
  const x = input("x", "f32", [2, 5, features]);
  let [h, c] = [tensor([0]).broadcastTo([2, hidden]), tensor([0]).broadcastTo([2, hidden])];
  const all: Tensor[] = [];
  for (let t = 0; t < 5; t++) {
    ({ h, c } = lstmStep(take(x, t, 1), h, c, w, u, b));
    all.push(h.expandDims(1));
  }
  await agrees(engine, [concat(all, 1), c], new Map([feed(x, [2, 5, features])]));
});

for (const reverse of [false, true])
  exportTest(`an LSTM as a scan${reverse ? " from the end" : ""}`, async (engine) => {
    const x = input("x", "f32", ["T", 2, features]);
    const zero = tensor([0]).broadcastTo([2, hidden]);
    const { carry, ys } = scan(
      [zero, zero],
      [x],
      ([h, c], [xt]) => {
        const next = lstmStep(xt!, h!, c!, w, u, b);
        return { carry: [next.h, next.c], ys: [next.h] };
      },
      { reverse },
    );
    await agrees(engine, [...carry, ...ys], new Map([feed(x, [6, 2, features])]));
  });

exportTest("a branch", async (engine) => {
  const x = input("x", "f32", ["N"]);
  for (const positive of [1, -1]) {
    const branches = cond(
      sum(x).mul(positive).greater(0),
      () => [x.mul(2), x],
      () => [x.sub(1), x.mul(x)],
    );
    await agrees(engine, branches, new Map([feed(x, [4])]));
  }
});

exportTest("a loop that ends by its values, and one that is cut short", async (engine) => {
  const x = input("x", "f32", [3]);
  const limit = input("limit", "f32", []);
  for (const options of [{}, { maxTrips: 5 }]) {
    const results = whileLoop(
      [x, constant(0, "i32")],
      (v) => less(sum(v), limit),
      (v, n) => [v.mul(1.5).add(1), n.add(1)],
      options,
    );
    const feeds = new Map([feed(x, [3]), [limit, makeValue("f32", [], [100])] as const]);
    await agrees(engine, results, feeds);
  }
});

exportTest("a scan in a branch in a loop", async (engine) => {
  const x = input("x", "f32", ["N", 2]);
  const totals = (v: Tensor) =>
    scan([constant(0)], [v], ([s], [row]) => {
      const next = s!.add(sum(row!));
      return { carry: [next], ys: [next.add(convert(iota([1], 0), "f32").reshape([]))] };
    });
  const results = whileLoop(
    [x, constant(0, "i32")],
    (_, n) => n.less(3),
    (v, n) => [
      cond(
        n.equal(1),
        () => [v.add(totals(v).ys[0]!.expandDims(1))],
        () => [v.mul(0.5)],
      )[0]!,
      n.add(1),
    ],
  );
  await agrees(engine, [results[0]!], new Map([feed(x, [3, 2])]));
});

exportTest("one model for the oldest opset and a newer one", async (engine) => {
  const model = new nn.Sequential(new nn.Conv2d(1, 2, 3), new nn.MaxPool2d(2), new nn.Flatten());
  const x = input("x", "f32", ["N", 1, 6, 6]);
  const y = model.forward(x).softmax(-1);
  for (const opset of [18, 23])
    await agrees(engine, [y, y.greater(0.1)], new Map([feed(x, [2, 1, 6, 6])]), { opset });
});

test("half and double precision: imported again", async () => {
  for (const dtype of ["f16", "bf16", "f64"] as const) {
    const x = input("x", dtype, ["N", 4]);
    const w = param(nn.init.normal()([4, 3]), { name: "w", dtype, shape: [4, 3] });
    const y = x.matmul(w).add(0.5).softmax(-1);
    await agrees(imported, [y, y.max(1)], new Map([feed(x, [3, 4])]), { tolerance: 0.01 });
  }
});

test.run();
