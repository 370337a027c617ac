/**
 * Losses against PyTorch: values and gradients.
 */
import { DtypeError, grad, input, ShapeError, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { asValue, close, fixture, type Packed, Session, tensorOf } from "./fixture.ts";

interface LossCase {
  readonly x: Packed;
  readonly target: Packed;
  readonly y: Packed;
  readonly dx: Packed;
  readonly weight?: Packed;
}
const cases = fixture<Record<string, LossCase>>("losses");
type Loss = (x: Tensor, t: Tensor, weight: Tensor) => Tensor;

const none = { reduction: "none" } as const;
const sum = { reduction: "sum" } as const;
const all = { labelSmoothing: 0.2, ignoreIndex: -100 };
const losses: Record<string, Loss> = {
  "crossEntropy mean": (x, t) => nn.crossEntropy(x, t),
  "crossEntropy sum": (x, t) => nn.crossEntropy(x, t, sum),
  "crossEntropy none": (x, t) => nn.crossEntropy(x, t, none),
  "crossEntropy smoothing": (x, t) => nn.crossEntropy(x, t, { labelSmoothing: 0.1 }),
  "crossEntropy ignore": (x, t) => nn.crossEntropy(x, t, { ignoreIndex: -100 }),
  "crossEntropy weight": (x, t, weight) => nn.crossEntropy(x, t, { weight }),
  "crossEntropy all": (x, t, weight) => nn.crossEntropy(x, t, { ...all, weight }),
  "crossEntropy all none": (x, t, weight) => nn.crossEntropy(x, t, { ...all, ...none, weight }),
  "crossEntropy probabilities": (x, t) => nn.crossEntropy(x, t),
  "crossEntropy probabilities smoothing": (x, t, weight) =>
    nn.crossEntropy(x, t, { labelSmoothing: 0.1, weight }),
  "crossEntropy large": (x, t) => nn.crossEntropy(x, t),
  "crossEntropy 2d": (x, t) => nn.crossEntropy(x, t),
  nll: (x, t) => nn.nll(x, t),
  "mse mean": (x, t) => nn.mse(x, t),
  "mse sum": (x, t) => nn.mse(x, t, sum),
  "mse none": (x, t) => nn.mse(x, t, none),
  l1: (x, t) => nn.l1(x, t),
  huber: (x, t) => nn.huber(x, t, { delta: 0.7 }),
  smoothL1: (x, t) => nn.smoothL1(x, t, { beta: 0.7 }),
  "bce mean": (x, t) => nn.bce(x, t),
  "bce none": (x, t) => nn.bce(x, t, none),
  "bceWithLogits mean": (x, t) => nn.bceWithLogits(x, t),
  "bceWithLogits positive weight": (x, t, positiveWeight) =>
    nn.bceWithLogits(x, t, { positiveWeight }),
};

/** At p = 0 and 1 PyTorch's gradient of bce is a bound of its own; ours is 0 where the logarithm is bounded. */
function withoutEnds(name: string, c: LossCase, dx: Packed): Packed {
  if (!name.startsWith("bce ")) return dx;
  return { ...dx, data: dx.data.map((v, i) => (c.x.data[i] === 0 || c.x.data[i] === 1 ? 0 : v)) };
}

for (const [name, c] of Object.entries(cases))
  test(`${name} agrees with PyTorch`, () => {
    const x = input("x", "f32", c.x.shape);
    const indices = c.target.shape.length < c.x.shape.length;
    const target = tensorOf(c.target, indices ? "i32" : "f32");
    const { value } = trace(() => {
      const y = losses[name]!(x, target, c.weight ? tensorOf(c.weight) : target);
      return [y, ...grad(y.sum(), [x])];
    });
    const [y, dx] = new Session().run(value, new Map(), new Map([[x, asValue(c.x)]]));
    close("y", y!, c.y);
    const shown = { shape: dx!.shape, data: [...dx!.data] };
    close("dx", asValue(withoutEnds(name, c, shown)), withoutEnds(name, c, c.dx), 2e-6);
  });

const x = input("x", "f32", [2, 3, 5]);

test("cross-entropy names the axis that would fit", () => {
  assert.throws(
    () => nn.crossEntropy(x, input("t", "i32", [2, 3])),
    (e: unknown) =>
      e instanceof ShapeError &&
      e.message ===
        "crossEntropy: targets do not fit: input [2,3,5] with classes on axis 1 needs [2,5], got [2,3]\n  pass axis: -1 if classes are on the last axis",
  );
  assert.equal(nn.crossEntropy(x, input("t", "i32", [2, 3]), { axis: -1 }).shape, []);
});

test("losses refuse shapes that would broadcast", () => {
  assert.throws(
    () => nn.mse(input("x", "f32", [4, 1]), input("t", "f32", [4])),
    (e: unknown) =>
      e instanceof ShapeError && e.message === "mse: shapes differ: input [4,1], target [4]",
  );
});

test("cross-entropy refuses boolean targets", () => {
  assert.throws(
    () => nn.crossEntropy(x, input("t", "bool", [2, 5])),
    (e: unknown) => e instanceof DtypeError,
  );
});

test("cross-entropy against classes holds no gather", () => {
  const loss = nn.crossEntropy(x, input("t", "i32", [2, 5]));
  const ops = new Set<string>();
  const visit = (t: Tensor): void => {
    ops.add(t.op);
    t.operands.forEach(visit);
  };
  visit(loss);
  assert.not(ops.has("gather"));
});

test("accuracy counts the samples whose largest score is at their class", () => {
  const scores = tensorOf({ shape: [4, 2], data: [1, 2, 3, 3, 5, 4, 0, 1] });
  const target = tensorOf({ shape: [4], data: [1, 0, 1, 1] }, "i32");
  assert.equal([...new Session().run([nn.accuracy(scores, target)])[0]!.data], [0.75]);
});

test.run();
