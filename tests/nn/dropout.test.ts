/**
 * Dropout: its rate, its own random state, and what it does in evaluation.
 */
import { grad, input, makeValue, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Session } from "./fixture.ts";

const x = input("x", "f32", [400]);
const ones = makeValue("f32", [400], new Array(400).fill(1));

function draws(layer: nn.Dropout, runs: number): number[][] {
  const { value, updates } = trace(() => layer.forward(x));
  const session = new Session();
  return Array.from({ length: runs }, () => [
    ...session.run([value], updates, new Map([[x, ones]]))[0]!.data,
  ]);
}

test("dropout keeps the mean and drops its rate", () => {
  const [y] = draws(new nn.Dropout(0.25, { seed: 1 }), 1);
  const dropped = y!.filter((v) => v === 0).length;
  assert.ok(Math.abs(dropped - 100) < 30, `${dropped} dropped`);
  assert.ok(y!.every((v) => v === 0 || v === Math.fround(1 / 0.75)));
});

test("every run draws anew, and a seed draws the same again", () => {
  const [a, b] = draws(new nn.Dropout(0.5, { seed: 2 }), 2);
  assert.not.equal(a, b);
  assert.equal([a, b], draws(new nn.Dropout(0.5, { seed: 2 }), 2));
});

test("two uses in one pass draw two masks", () => {
  const layer = new nn.Dropout(0.5, { seed: 3 });
  const { value } = trace(() => [layer.forward(x), layer.forward(x)]);
  const [a, b] = new Session().run(value, new Map(), new Map([[x, ones]]));
  assert.not.equal([...a!.data], [...b!.data]);
});

test("the gradient passes where the value passed", () => {
  const layer = new nn.Dropout(0.5, { seed: 4 });
  const { value } = trace(() => {
    const y = layer.forward(x);
    return [y, ...grad(y.sum(), [x])];
  });
  const [y, dx] = new Session().run(value, new Map(), new Map([[x, ones]]));
  assert.equal([...y!.data], [...dx!.data]);
});

test("dropout in evaluation, or of rate 0, is nothing", () => {
  assert.is(new nn.Dropout(0.5).eval().forward(x), x);
  assert.is(new nn.Dropout(0).forward(x), x);
});

test("dropout of rate 1 leaves zeros", () => {
  assert.equal(new Set(draws(new nn.Dropout(1), 1)[0]), new Set([0]));
});

test("a rate over 1 is refused", () => {
  assert.throws(() => new nn.Dropout(1.5), /dropout: rate must be from 0 to 1, got 1.5/);
});

test.run();
