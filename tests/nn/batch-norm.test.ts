/**
 * Batch normalisation against PyTorch over three training steps and one in evaluation.
 */
import { dim, GraphError, input, makeValue, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkLayer, close, fixture, type LayerCase, type Named, Session } from "./fixture.ts";

interface BatchNormCase {
  readonly state: Named;
  readonly steps: readonly (LayerCase & { readonly after: Named })[];
  readonly eval: LayerCase;
}
const cases = fixture<Record<string, BatchNormCase>>("batch-norm");

const layers: Record<string, () => nn.Layer> = {
  batchNorm2d: () => new nn.BatchNorm2d(2),
  batchNorm1d: () => new nn.BatchNorm1d(3),
  "batchNorm1d sequence": () => new nn.BatchNorm1d(2, { momentum: 0.3, affine: false }),
};

for (const [name, c] of Object.entries(cases))
  test(`${name} moves its running statistics as PyTorch does, and uses them afterwards`, () => {
    const layer = layers[name]!();
    const session = new Session().load(layer, c.state);
    for (const step of c.steps) {
      checkLayer(layer, step, session, 2e-6);
      session.check(layer, step.after);
    }
    layer.eval();
    checkLayer(layer, c.eval, session);
  });

test("batch normalisation counts a symbolic batch when it runs", () => {
  const layer = new nn.BatchNorm1d(1, { momentum: 1 });
  const x = input("x", "f32", [dim("N"), 1]);
  const { value, updates } = trace(() => layer.forward(x));
  const session = new Session();
  session.run([value], updates, new Map([[x, makeValue("f32", [4, 1], [1, 2, 3, 6])]]));
  close("mean", session.valueOf(layer.runningMean!), { shape: [1], data: [3] });
  close("var", session.valueOf(layer.runningVar!), { shape: [1], data: [14 / 3] });
});

test("batch normalisation in evaluation assigns nothing", () => {
  const layer = new nn.BatchNorm1d(2).eval();
  assert.is(trace(() => layer.forward(input("x", "f32", [3, 2]))).updates.size, 0);
});

test("batch normalisation refuses a momentum over 1", () => {
  assert.throws(
    () => new nn.BatchNorm1d(2, { momentum: 2 }),
    (e: unknown) =>
      e instanceof GraphError &&
      e.message === "batchNorm: momentum must be from 0 to 1, got 2\n  give a number of that range",
  );
});

test.run();
