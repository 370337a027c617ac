/**
 * Decoders token by token beside caches give what they give at once; positions and masks against their formulas in double precision.
 */
import {
  evaluate,
  initialValueOf,
  input,
  makeValue,
  type Tensor,
  tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

const wave = (...shape: number[]): Value => {
  const size = shape.reduce((a, b) => a * b);
  return makeValue(
    "f32",
    shape,
    Array.from({ length: size }, (_, i) => Math.sin(3.7 * (i + 1))),
  );
};

function valuesOf(
  net: nn.Module | undefined,
  y: Tensor,
  feeds: Map<Tensor, Value>,
  dims = {},
): number[] {
  const inputs = new Map(feeds);
  for (const p of net?.state().values() ?? []) inputs.set(p, evaluate([initialValueOf(p)])[0]!);
  return [...evaluate([y], { inputs, dims })[0]!.data].map(Number);
}

const near = (got: readonly number[], want: readonly number[]): void => {
  assert.is(got.length, want.length);
  got.forEach((v, i) => {
    assert.ok(Math.abs(v - want[i]!) < 1e-5, `${i}: ${v}, want ${want[i]}`);
  });
};

for (const kvHeads of [2, 1])
  test(`a decoder with ${kvHeads} heads of keys goes on where its caches end`, () => {
    const net = new nn.TransformerDecoder(2, 4, 2, { hidden: 6, dropout: 0, kvHeads });
    const [x, memory] = [input("x", "f32", [2, 5, 4]), input("m", "f32", [2, 3, 4])];
    const feeds = new Map([
      [x, wave(2, 5, 4)],
      [memory, wave(2, 3, 4)],
    ]);
    const whole = valuesOf(net, trace(() => net.forward(x, memory)).value, feeds);
    const parts = trace(() => {
      const first = net.step(x.sliceAxis(1, 0, 2), memory);
      const second = net.step(x.sliceAxis(1, 2, 3), memory, first.caches);
      const third = net.step(x.sliceAxis(1, 3, 5), memory, second.caches);
      return [first.y, second.y, third.y].map((y) => valuesOf(net, y, feeds));
    }).value;
    const at = (from: number, to: number) =>
      [0, 1].flatMap((b) => whole.slice(4 * (5 * b + from), 4 * (5 * b + to)));
    near(parts[0]!, at(0, 2));
    near(parts[1]!, at(2, 3));
    near(parts[2]!, at(3, 5));
  });

test("an offset moves positions", () => {
  const x = input("x", "f32", [5, 4]);
  const feeds = new Map([[x, wave(5, 4)]]);
  for (const layer of [new nn.RotaryEncoding(4), new nn.PositionalEncoding(4)])
    near(
      valuesOf(undefined, layer.forward(x.sliceAxis(0, 2, 5), 2), feeds),
      valuesOf(undefined, layer.forward(x), feeds).slice(8),
    );
});

test("masks and biases are their formulas", () => {
  const read = (t: Tensor) => valuesOf(undefined, t, new Map());
  assert.equal(read(nn.causalMask(2, 3)), [1, 1, 0, 1, 1, 1]);
  assert.equal(read(nn.paddingMask(tensor([1, 3], { dtype: "i32" }), 3)), [1, 0, 0, 1, 1, 1]);
  const want = [0, 1].flatMap((h) =>
    [0, 1].flatMap((t) => [0, 1, 2].map((s) => -(2 ** (-4 * (h + 1))) * (t + 1 - s))),
  );
  near(read(nn.alibi(2, 2, 3)), want);
});

test("dropout of attention draws in training alone", () => {
  const net = new nn.MultiHeadAttention(4, 2, { dropout: 0.5, keyWidth: 3, valueWidth: 5 });
  const x = input("x", "f32", [1, 3, 4]);
  const [key, value] = [input("k", "f32", [1, 6, 3]), input("v", "f32", [1, 6, 5])];
  const feeds = new Map([
    [x, wave(1, 3, 4)],
    [key, wave(1, 6, 3)],
    [value, wave(1, 6, 5)],
  ]);
  const run = () => valuesOf(net, trace(() => net.forward(x, { key, value })).value, feeds);
  const drawn = run();
  net.eval();
  const still = run();
  assert.ok(drawn.some((v, i) => Math.abs(v - still[i]!) > 1e-3));
});

test.run();
